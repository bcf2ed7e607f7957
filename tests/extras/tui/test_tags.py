import pytest

from memcli.errors import UsageError
from memcli.extras.tui.dialog import tag_change


def test_what_is_typed_becomes_tags_to_add_and_to_take_away(subtests: pytest.Subtests) -> None:
    cases = [
        ("auth web", ((), ())),
        ("auth", ((), ("web",))),
        ("auth web New_Tag", (("new-tag",), ())),
        ("#auth, #web", ((), ())),
        ("", ((), ("auth", "web"))),
        ("AUTH web", ((), ())),
        ("web ops ops", (("ops",), ("auth",))),
    ]
    for typed, change in cases:
        with subtests.test(typed=ascii(typed), change=ascii(change)):
            assert tag_change({"auth": "auth", "web": "web"}, typed) == change


def test_what_can_be_no_tag_is_refused() -> None:
    with pytest.raises(UsageError, match="not a tag"):
        tag_change({}, "good !!!")


def test_a_tag_that_is_shown_otherwise_than_stored_stays_when_nothing_is_typed() -> None:
    assert not any(tag_change({"a-b": "a\x1b[5m b"}, "a-b"))
