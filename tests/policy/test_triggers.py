"""Triggers: how a text is understood, and what brings a memory up."""

from __future__ import annotations

import pytest

from memcli.errors import UsageError
from memcli.ingest.patch import read_diff
from memcli.model.anchors import FileEdit
from memcli.policy.triggers import TriggerSet, check_triggers, lost_globs, matches_topic, read_trigger
from memcli.safety.patterns import MAX_PATTERN, PatternSet
from tests.policy.test_fields import CASES


def edit(file: str, *lines: str, **more: bool) -> FileEdit:
    return FileEdit(file, file, tuple(enumerate(lines, 1)), **more)


def matched(edited: FileEdit, *memories: list[str]) -> list[tuple[int, int]]:
    return [(owner, line) for owner, line, _ in TriggerSet(memories).matches(edited)]


def test_how_a_text_is_understood() -> None:
    assert [text for text, is_path in CASES["triggers"] if read_trigger(text).is_path is not is_path] == []


def test_globs() -> None:
    assert [row for *row, fits in CASES["globs"] if bool(matched(edit(row[1], "x"), [row[0]])) is not fits] == []


def test_what_is_no_trigger_and_what_would_never_match_is_refused() -> None:
    for text in ("(", "path:a[", "", " ", "path:", "symbol:", "x" * (MAX_PATTERN + 1), "(?=a)"):
        with pytest.raises(UsageError, match=r"triggers\[1\]"):
            check_triggers(["fine", text])
    for glob in ("**/*.{js,ts}", "!src/**"):
        with pytest.raises(UsageError, match="not a path glob"):
            check_triggers([f"path:{glob}"])


def test_a_symbol_is_a_whole_word() -> None:
    lines = ["x = Token.refresh()", "Token.refresh", "MyToken.refresh()", "Token.refreshed", "Token_refresh"]
    assert matched(edit("a", *lines), ["symbol:Token.refresh"]) == [(0, 1), (0, 2)]


def test_globs_bind_the_other_triggers_of_a_memory() -> None:
    both = ["path:src", "eval", "exec"]
    assert matched(edit("src/a.py", "fine", "eval exec"), both) == [(0, 2)]
    assert matched(edit("lib/a.py", "eval"), both, ["eval"]) == [(1, 1)]


def test_a_path_alone_is_told_once() -> None:
    assert matched(FileEdit("a/b", "a/b", ((7, "x"), (9, "y"))), ["path:a"]) == [(0, 7)]
    assert matched(edit("a/b"), ["path:a"]) == [(0, 1)]
    assert matched(edit("a/b", "x", is_deleted=True), ["path:a"], ["x"], ["path:a", "x"]) == [(0, 1)]
    assert matched(FileEdit("new", "a/b"), ["path:a"], ["path:new"], ["path:other"]) == [(0, 1), (1, 1)]
    assert matched(FileEdit("new", "a/b", ((3, "x"),)), ["path:a", "x"], ["path:new", "x"]) == [(1, 3)]
    command = edit("", "git push --force")
    assert matched(command, ["path:**"], ["path:*"], ["push --force"], ["push --force", "path:**"]) == [(2, 1)]


def test_a_copy_changes_no_other_file() -> None:
    (copied,) = read_diff(b"diff --git a/src/a b/b\nsimilarity index 100%\ncopy from src/a\ncopy to b\n", "the diff")
    (moved,) = read_diff(b"diff --git a/src/a b/b\nsimilarity index 100%\nrename from src/a\nrename to b\n", "the diff")
    assert [matched(one, ["path:src"]) for one in (copied, moved)] == [[], [(0, 1)]]


def test_case_counts_unless_the_expression_says_otherwise() -> None:
    assert matched(edit("a", "EVAL"), ["eval"], ["(?i)eval"]) == [(1, 1)]


def test_what_a_hand_wrote_is_refused_and_the_rest_works() -> None:
    triggers = TriggerSet([["("], ["b", "path:a["], ["\ud800"]])
    assert triggers.refused == [(1, "path:a["), (0, "("), (2, "\ud800")]
    assert [owner for owner, _, _ in triggers.matches(edit("a", "abc"))] == [1]


def test_a_set_without_memory_is_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expressions = [f"a{n}.{{0,300}}b{n}.{{0,300}}c" for n in range(40)] + ["("]
    text = " ".join(f"a{n} b{n}" for n in range(40)) + " c"
    whole = PatternSet(expressions)
    monkeypatch.setattr("memcli.safety.patterns._MAX_SET_MEMORY", 1 << 10)
    small = PatternSet(expressions)
    assert small.matching(text) == whole.matching(text) == list(range(40))


def test_topics() -> None:
    assert matches_topic(["deploy"], "how do we deploy?")
    assert not matches_topic(["Deploy", "(", "\ud800("], "how do we deploy?")
    assert matches_topic(["de.loy"], "how do we deploy?")
    assert matches_topic(["src/**/*.py"], "what about src/a/b.py?")
    assert matches_topic(["symbol:Token.refresh"], "may I call Token.refresh?")
    assert not matches_topic(["symbol:Token.refresh"], "may I call Token.refreshed?")
    assert not matches_topic(["src/**/*.py"], "what about python?")


LOST: tuple[tuple[list[list[str]], str, list[tuple[int, str]]], ...] = (
    ([["path:a/**"]], "a/b", []),
    ([["path:a/**"]], "b/a", [(0, "path:a/**")]),
    ([["*.env", "eval", "symbol:run", "re:x/.*"]], "a.py", [(0, "*.env")]),
    ([["path:x"], ["path:y", "path:z"]], "y", [(0, "path:x"), (1, "path:z")]),
    ([["path:[", "path:"]], "a", []),
    ([], "a", []),
)


def test_lost_globs() -> None:
    assert [triggers for triggers, file, lost in LOST if lost_globs(triggers, [file]) != lost] == []
