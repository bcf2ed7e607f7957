"""What has become of anchored code, by content alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.code import anchors as anchoring
from memcli.code.anchors import Anchor, CodeLines, is_inside, make, make_each, parse, read, renewed
from memcli.errors import NotFoundError, UsageError
from memcli.model.anchors import FRESH, GONE, MOVED, STALE, Checked

CODE = "a = 1\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
lines = st.lists(st.sampled_from(["a", "b", "    c", "", "}", "é\t"]), min_size=1, max_size=12)


def state(anchor: Anchor, text: str | None) -> Checked:
    return anchoring.state(anchor, None if text is None else CodeLines(text))


def anchor(text: str = CODE, **given: object) -> Anchor:
    made = read(make({"file": "a.py", **given}, text))
    assert made is not None
    return made


WRITTEN = {
    "src/a.py": {"file": "src/a.py"},
    "src/a.py:10-42": {"file": "src/a.py", "lines": [10, 42]},
    "src/a.py:7": {"file": "src/a.py", "lines": [7, 7]},
    "src/a.py::Token.refresh": {"file": "src/a.py", "symbol": "Token.refresh"},
    "a.cc::auth::Token": {"file": "a.cc", "symbol": "auth::Token"},
    "odd:name:3-4": {"file": "odd:name", "lines": [3, 4]},
    "a.py:x-y": {"file": "a.py:x-y"},
    "": {"file": ""},
}


def test_how_an_anchor_is_written() -> None:
    assert {text: parse(text) for text in WRITTEN} == WRITTEN


def test_what_is_no_anchor_and_no_range_of_lines() -> None:
    none = (None, 3, "a.py", [], {}, {"file": 3}, {"file": ""}, {"file": "a", "symbol": 3}, {"file": "a", "hash": None})
    assert [stored for stored in none if read(stored) is not None] == []
    for lines in (3, [], [1], [0, 1], [2, 1], [True, 2], ["1", "2"], [1.0, 2.0], [1, 2, 3], {}):
        assert read({"file": "a", "lines": lines}) == Anchor("a")
        with pytest.raises(UsageError, match="not a range of lines"):
            make({"file": "a.py", "lines": lines}, CODE)


def test_where_something_may_be_anchored() -> None:
    outside = (
        "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/", "", ".git/config", "sub/.git/config", ".GIT/config", ".git./x",
        ".memory/local/key", "a\\..\\b", "a\nb", "a\0b", "x" * 1001, "~/../x",
    )  # fmt: skip
    inside = ("a", "src/a.py", ".github/x.yml", "..a", "~", "-a", "ä ö/ü")
    assert [file for file in (*outside, *inside) if is_inside(file)] == list(inside)


def test_what_is_not_there_cannot_be_anchored() -> None:
    with pytest.raises(NotFoundError, match="has 9 lines, not 10"):
        make({"file": "a.py", "lines": [3, 10]}, CODE)
    with pytest.raises(NotFoundError, match="does not define 'third'"):
        make({"file": "a.py", "symbol": "third"}, CODE)


def test_fresh() -> None:
    for fields in ({}, {"lines": [4, 5]}, {"symbol": "first"}):
        for text in (CODE, CODE.replace("\n", "  \n"), CODE.rstrip("\n")):
            assert state(anchor(**fields), text).state == FRESH
    assert anchor(symbol="first") == Anchor("a.py", (4, 5), "first", anchor(lines=[4, 5]).hash)


def test_moved() -> None:
    text = f"# new\n\n{CODE}"
    for fields in ({"lines": [4, 5]}, {"symbol": "first"}):
        now = state(anchor(**fields), text)
        assert (now.state, now.lines) == (MOVED, (6, 7))
    twice = "x\n" * 10 + "b\n" + "x\n" * 4 + "b\n" + "x\n" * 10
    assert state(anchor("x\n" * 14 + "b\n" + "x\n", lines=[15, 15]), twice).lines == (16, 16)
    assert state(anchor("x\n" * 12 + "b\n" + "x\n", lines=[13, 13]), twice).lines == (11, 11)


def test_stale() -> None:
    text = CODE.replace("return 1", "return 3")
    for fields in ({}, {"lines": [4, 5]}, {"symbol": "first"}):
        assert state(anchor(**fields), text).state == STALE
    assert state(anchor(symbol="second"), text).state == FRESH
    assert state(anchor(lines=[8, 9]), "a\n").state == STALE


def test_a_definition_that_grew_is_stale() -> None:
    text = CODE.replace("    return 1\n", "    return 1\n\n    # never reached\n    return 3\n")
    now = state(anchor(symbol="first"), text)
    assert (now.state, now.lines) == (STALE, (4, 8))
    assert state(anchor(lines=[4, 5]), text).state == FRESH


def test_gone() -> None:
    for fields in ({}, {"lines": [4, 5]}, {"symbol": "first"}):
        assert state(anchor(**fields), None).state == GONE
    assert state(anchor(symbol="first"), CODE.replace("first", "other")).state == GONE


def test_one_of_several_definitions() -> None:
    java = "class A {\n  void f(int a) {\n    x();\n  }\n\n  void f(String a) {\n    y();\n  }\n}\n"
    second = Anchor("A.java", (6, 8), "f", anchor(java, lines=[6, 8]).hash)
    now = state(second, f"\n{java}")
    assert (now.state, now.lines) == (MOVED, (7, 9))
    assert state(second, java.replace("y()", "z()")).lines == (6, 8)


def test_an_anchor_written_by_hand_knows_no_content() -> None:
    assert state(Anchor("a.py"), CODE).state == FRESH
    assert state(Anchor("a.py", (1, 2)), CODE).state == FRESH
    assert state(Anchor("a.py", (1, 200)), CODE).state == STALE
    assert state(Anchor("a.py", None, "first"), CODE).lines == (4, 5)
    assert state(Anchor("a.py", None, "none"), CODE).state == GONE


def test_the_search_for_a_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"line {n}\n" for n in range(1000))
    moved = anchor(text, lines=[1, 500])
    assert state(moved, f"\n{text}").state == MOVED
    monkeypatch.setattr(anchoring, "_MAX_SEARCHED", 100)
    assert state(moved, f"\n{text}").state == STALE
    assert state(Anchor("a", (1, 10**30), "", "sha256:0"), text).state == STALE


@given(lines, st.data())
def test_what_nobody_touched_is_fresh_and_what_is_put_above_moves_it(code: list[str], data: st.DataObject) -> None:
    text = "\n".join(["first", *code, "last"]) + "\n"
    size = len(code) + 2
    first = data.draw(st.integers(1, size))
    last = data.draw(st.integers(first, size))
    made = anchor(text, lines=[first, last])
    assert state(made, text).state == FRESH
    assert state(made, text.replace("\n", " \n")).state == FRESH
    above = data.draw(lines)
    now = state(made, "\n".join(above) + "\n" + text)
    assert now.state in (FRESH, MOVED)
    assert now.lines is not None
    assert now.lines[1] - now.lines[0] == last - first


@given(lines, lines, st.integers(-2, 30), st.integers(-2, 30), st.sampled_from(["", "a", "b.c"]))
def test_every_anchor_has_a_state_and_accepting_makes_it_fresh(
    before: list[str], after: list[str], first: int, last: int, symbol: str
) -> None:
    text = "\n".join(after)
    stored = {"file": "a.js", "lines": [first, last], "symbol": symbol, "hash": anchor("\n".join(before)).hash}
    found = read(stored)
    assert found is not None
    now = state(found, text)
    accepted = renewed(stored, now, text)
    if accepted is None:
        assert now.state == GONE or (now.lines or (0, 0))[0] > len(after) or not text.strip()
    else:
        again = read(accepted)
        assert again is not None
        assert state(again, text).state == FRESH


def test_blocks_are_anchored_without_the_empty_lines_around_them():
    code = CodeLines(CODE)
    first, second = make_each("a.py", code, [(2, 7), (8, 99)])
    assert first == make({"file": "a.py", "lines": [4, 5]}, CODE)
    assert second == make({"file": "a.py", "lines": [8, 9]}, CODE)
    assert make_each("a.py", code, [(1, 10)]) == [make({"file": "a.py"}, CODE)]
    assert make_each("a.py", code, [(2, 3), (50, 60)]) == []
