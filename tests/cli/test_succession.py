"""Decision records that supersede others, in whatever order they are imported."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

HEAD = "# {n}. {title}\n\n## Status\n\n{status}\n\n## Context\n\nWe need one.\n\n## Decision\n\nWe use {title}.\n"
RECORDS = {
    "0001-mysql.md": HEAD.format(n=1, title="MySQL", status="Accepted"),
    "0002-postgresql.md": HEAD.format(n=2, title="PostgreSQL", status="Accepted\n\nSupersedes 1"),
    "0003-redis.md": HEAD.format(n=3, title="Redis", status="Superseded by [Valkey](0004-valkey.md)"),
    "0004-valkey.md": HEAD.format(n=4, title="Valkey", status="Accepted"),
}


def states(run: Run) -> dict[str, tuple[str | None, bool, list[str]]]:
    """By path: what it is superseded by, whether it is active, and what it supersedes."""
    found: list[dict[str, Any]] = json.loads(Path(".memory/spaces/main.json").read_text())["objects"]
    paths = {m["id"]: m["path"].rpartition("/")[2][:4] for m in found}
    return {
        paths[m["id"]]: (
            paths.get(m.get("superseded_by") or ""),
            m.get("active", True),
            [paths[link["to"]] for link in m.get("links", []) if link["relation"] == "supersedes"],
        )
        for m in found
    }


WANTED = {
    "0001": ("0002", True, []), "0002": (None, True, ["0001"]),
    "0003": ("0004", True, []), "0004": (None, True, ["0003"]),
}  # fmt: skip


@pytest.fixture
def records(run: Run, tmp_path: Path) -> Path:
    run("init")
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    for name, text in RECORDS.items():
        (folder / name).write_text(text)
    return folder


def test_all_at_once(run: Run, records: Path) -> None:
    assert run("import", "docs/adr").code == 0
    assert states(run) == WANTED
    assert "4 unchanged" in run("import", "docs/adr").out
    assert states(run) == WANTED


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_one_after_the_other(run: Run, records: Path, order: tuple[int, ...]) -> None:
    for n in order:
        assert run("import", f"docs/adr/{sorted(RECORDS)[n]}").code == 0
    assert states(run) == WANTED
    assert run("check", "store").code == 0
    run("import", "docs/adr")
    assert states(run) == WANTED
