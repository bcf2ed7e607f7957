"""`text`: what is read on a terminal."""

from __future__ import annotations

import sys

import pytest

from memcli.record import replace
from memcli.render.as_text import render
from tests.render.test_section import section


def bundle_of(*sections, **fields):  # type: ignore[no-untyped-def]
    from memcli.model.recall import Bundle, Query
    from tests.conftest import NOW

    return Bundle(space="main", query=Query(topic="retries", now=NOW), sections=sections, **fields)


def test_an_entry_is_its_path_its_facts_and_its_passage() -> None:
    told = render(bundle_of(replace(section(passage="Retry twice.\nThen stop."), heading="Guide"), matched=3))
    head, *rest = told.split("\n")
    assert head.startswith("1. ")
    assert "mem_" in head
    assert rest[:3] == ["  Guide:", "  Retry twice.", "  Then stop."]
    assert rest[-2] == "2 more match (use --limit)"
    assert render(bundle_of(reason="no_match", size=7)).startswith(
        "Nothing relevant to 'retries' (no_match; 7 memories"
    )
    assert "\x1b" not in render(bundle_of(replace(section(passage="a\x1b[31mred"), heading="\x1b[2J")))


def test_a_terminal_gets_its_width_and_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    bundle = bundle_of(section(passage="word " * 30 + "\n    code = 1"))
    told = render(bundle)
    assert "\x1b[1m1. " in told
    assert all(len(line) <= 40 for line in told.split("\n")[1:])
    assert "      code = 1" in told
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render(bundle)
