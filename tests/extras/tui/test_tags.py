import pytest

from memcli.errors import UsageError
from memcli.extras.tui.dialog import tag_change


def test_what_is_typed_becomes_tags_to_add_and_to_take_away() -> None:
    changes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "auth web": ((), ()), "auth": ((), ("web",)), "auth web New_Tag": (("new-tag",), ()), "#auth, #web": ((), ()),
        "": ((), ("auth", "web")), "AUTH web": ((), ()), "web ops ops": (("ops",), ("auth",)),
    }  # fmt: skip
    assert {typed: tag_change({"auth": "auth", "web": "web"}, typed) for typed in changes} == changes
    with pytest.raises(UsageError, match="not a tag"):
        tag_change({}, "good !!!")
    assert not any(tag_change({"a-b": "a\x1b[5m b"}, "a-b")), "a tag that is shown otherwise than stored stays"
