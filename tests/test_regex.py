"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from memcli.regex import regex


def test_it_finds_what_a_compiled_one_finds() -> None:
    late, compiled = regex(r"(?P<a>x+)y?", re.IGNORECASE), re.compile(r"(?P<a>x+)y?", re.IGNORECASE)
    text = "axXyxy"
    assert [m.span() for m in late.finditer(text)] == [m.span() for m in compiled.finditer(text)]
    assert late.sub(r"<\g<a>>", text) == compiled.sub(r"<\g<a>>", text)
    assert (late.groups, late.groupindex, late.pattern) == (1, {"a": 1}, compiled.pattern)
    assert regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_it_compiles_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    known = re.compile("a")
    monkeypatch.setattr(re, "compile", lambda pattern, flags: (compiled.append(pattern), known)[1])
    late = regex("a")
    assert compiled == []
    assert late.match("a")
    assert late.match("a")
    assert compiled == ["a"]
