"""The pure parts of the inspector: pieces of texts, dates, addresses, versions, forms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.errors import NotFoundError, UsageError
from memcli.extras.serve.access import Caller
from memcli.extras.serve.inspector import pages
from memcli.extras.serve.inspector.changes import changed
from memcli.extras.serve.inspector.detail import commits, versions_of
from memcli.extras.serve.inspector.pages import ago, marked
from memcli.present.changes import ADDED, REMOVED, difference
from memcli.present.memory import readable_time
from tests.conftest import memory

NOW = "2026-06-15T12:00:00Z"


def test_how_long_ago() -> None:
    """A date is in UTC, and what is none stays as it is."""
    times = {
        "2026-06-15T12:00:00Z": "now", "2026-06-15T11:59:59Z": "1 second ago", "2026-06-15T11:58:01Z": "1 minute ago",
        "2026-06-15T10:00:00Z": "2 hours ago", "2026-06-14T12:00:00Z": "1 day ago", "2026-06-01T12:00:00Z": "2 weeks ago",
        "2026-04-15T12:00:00Z": "2 months ago", "2025-07-01T12:00:00Z": "11 months ago", "2023-06-15T12:00:00Z": "3 years ago",
        "2026-06-15T14:00:00Z": "in 2 hours", "2026-06-15T12:00:00+02:00": "2 hours ago", "<b>": "<b>",
        "2026-06-15": "2026-06-15", "": "",
    }  # fmt: skip
    assert {at: ago(at, NOW) for at in times} == times
    dates = {
        "2026-06-15T12:00:00+00:00": "2026-06-15 12:00 UTC", "0999-06-15T12:00:00Z": "0999-06-15 12:00 UTC",
        "<script>": "<script>",
    }  # fmt: skip
    assert {at: readable_time(at) for at in dates} == dates


def test_words_of_the_question_are_marked_in_all_their_forms() -> None:
    parts = marked("Tokens live; a TOKEN lives for `token.refresh`.", "how long do tokens live")
    assert [part for part, is_match in parts if is_match] == ["Tokens", "live", "TOKEN", "lives", "token.refresh"]


@settings(max_examples=10)
@given(st.text(), st.text())
def test_marks_and_differences_change_no_character(before: str, after: str) -> None:
    assert "".join(part for part, _ in marked(before, after)) == before
    pieces = difference(before, after)
    assert "".join(text for text, state in pieces if state != ADDED) == before
    assert "".join(text for text, state in pieces if state != REMOVED) == after


def test_a_difference_is_by_words_and_of_huge_texts_quick() -> None:
    pieces = difference("wait until the canary is green", "wait until the build is green")
    pairs = [(text, state) for text, state in pieces if state != "same"]
    assert pairs == [("canary", REMOVED), ("build", ADDED)]
    huge = difference("a b " * 100_000, "c d " * 100_000)
    assert [state for _, state in huge] == [REMOVED, ADDED]


def test_what_was_stored_cannot_leave_its_place_in_an_address() -> None:
    assert pages.memory("main", "a?b#c/../d e\"<'") == "/memory/main/a%3Fb%23c/../d%20e%22%3C%27"
    assert pages.memory("main", "javascript:alert(1)") == "/memory/main/javascript:alert%281%29"
    assert pages.query("/", {"q": "a&b=c", "space": ""}, page=2) == "/?q=a%26b%3Dc&page=2"
    assert pages.memory("main", "\ud800") == "/memory/main/%3F"


def test_a_caller_sees_only_the_spaces_of_the_token() -> None:
    bound, free = Caller("a", "reader", ("notes",)), Caller("b", "reader")
    assert pages.chosen(bound, "") == "notes"
    assert pages.chosen(free, "") == "main"
    with pytest.raises(NotFoundError):
        pages.checked(bound, "main")
    assert [one["space"] for one in pages.seen(bound, [{"space": "main"}, {"space": "notes"}])] == ["notes"]


MEMORY = memory(raw="text")
FORM = {"text": "text", "kind": "fact", "importance": "", "confidence": "1.0", "valid_until": ""}


def test_a_form_changes_what_is_different() -> None:
    for typed, fields in (
        ({}, {}),
        ({"text": "other\r\nline"}, {"raw": "other\nline"}),
        ({"text": "  "}, {}),
        ({"kind": "decision", "confidence": "0.5"}, {"kind": "decision", "confidence": 0.5}),
        ({"importance": "0.3"}, {"importance": 0.3}),
        ({"valid_until": "2026-12-31"}, {"valid_until": "2026-12-31"}),
    ):
        assert (typed, changed({**FORM, **typed}, MEMORY)) == (typed, fields)
    for number in ("much", "nan", "inf", "1e999"):
        with pytest.raises(UsageError, match="importance is not a number"):
            changed({**FORM, "importance": number}, MEMORY)


def test_versions_are_those_of_the_commits_and_of_now() -> None:
    first, second = (
        {"commit": name, "date": f"2026-01-0{n}T00:00:00Z", "author": "Ada", "subject": name}
        for n, name in ((1, "aa"), (2, "bb"))
    )
    found = commits({"added": first, "fields": {"raw": second, "tags": first, "kind": None}})
    assert [one.hash for one in found] == ["aa", "bb"]
    old, new, now = (memory(raw=raw, tags=tags) for raw, tags in (("one", ()), ("two", ()), ("two", ("x",))))
    versions = versions_of(list(zip(found, (old, new), strict=True)), now)
    assert [(one.commit and one.commit.hash, one.status, [view.name for view in one.fields]) for one in versions] == [
        (None, "changed", ["tags"]),
        ("bb", "changed", ["raw"]),
        ("aa", "added", []),
    ]
    assert len(versions_of(list(zip(found, (old, new), strict=True)), new)) == 2
