"""A mark says how long ago something was so."""

from __future__ import annotations

from pathlib import Path

from memcli.store.mark import Mark


def test_it_is_young_for_some_time(tmp_path: Path) -> None:
    mark = Mark(str(tmp_path / "mark"))
    assert not mark.is_younger(60, "2026-01-31T09:30:00Z")
    mark.set("2026-01-31T09:30:00Z")
    assert mark.is_younger(60, "2026-01-31T09:30:59Z")
    assert not mark.is_younger(60, "2026-01-31T09:31:00Z")
    assert not mark.is_younger(60, "2026-01-31T09:29:59Z"), "the clock was set back"


def test_what_is_damaged_or_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "mark").write_bytes(b"\xff yesterday")
    assert not Mark(str(tmp_path / "mark")).is_younger(60, "2026-01-31T09:30:00Z")
    nowhere = Mark(str(tmp_path / "no" / "mark"))
    nowhere.set("2026-01-31T09:30:00Z")
    assert not nowhere.is_younger(60, "2026-01-31T09:30:00Z")
