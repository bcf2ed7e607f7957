"""A mark says how long ago something was so."""

from __future__ import annotations

from pathlib import Path

from memcli.store.layout import Layout
from memcli.store.notes import Mark
from memcli.store.state import State, set_value


def test_it_is_young_for_some_time(tmp_path: Path) -> None:
    mark = Mark(State(Layout(str(tmp_path))), "x")
    assert not mark.is_younger(60, "2026-01-31T09:30:00Z")
    mark.set("2026-01-31T09:30:00Z")
    assert mark.is_younger(60, "2026-01-31T09:30:59Z")
    assert not mark.is_younger(60, "2026-01-31T09:31:00Z")
    assert not mark.is_younger(60, "2026-01-31T09:29:59Z"), "the clock was set back"


def test_what_is_damaged_or_cannot_be_written_is_none(tmp_path: Path) -> None:
    state = State(Layout(str(tmp_path)))
    with state.change() as connection:
        set_value(connection, "mark.x", "yesterday")
    assert not Mark(state, "x").is_younger(60, "2026-01-31T09:30:00Z")
    nowhere = Mark(State(Layout(str(tmp_path / "no" / ".memory"))), "x")
    nowhere.set("2026-01-31T09:30:00Z")
    assert not nowhere.is_younger(60, "2026-01-31T09:30:00Z")
