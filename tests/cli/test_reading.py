"""A command that only reads leaves every shared file of the store as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.cli.main import main
from memcli.cli.verb import names
from tests.git.conftest import Team
from tests.git.conftest import team as team  # noqa: PLC0414 - a fixture is taken over by its name

READS = [
    ["doctor"], ["recall", "postgresql"], ["recall", "postgresql", "--json"], ["recall", "--changed", "HEAD~1"],
    ["recall", "postgresql", "--rev", "HEAD"], ["session", "context", "postgresql"], ["recall", "--under", "db"], ["get", "db/choice"], ["list"], ["list", "--tree"],
    ["browse"], ["gc", "--dry-run"], ["restore", "--list"], ["inbox"], ["trust", "--status"], ["hook", "status"],
    ["export", "--out", "-"], ["diff"], ["diff", "HEAD~1"], ["blame", "db/choice"], ["guard"], ["check", "code"], ["store", "audit"],
    ["check", "recall", "../db.toml"], ["check"], ["status"], ["help"],
    ["store", "audit", "--verify"], ["check", "secrets"], ["check", "store"], ["store", "fmt", "--check"], ["space", "list"], ["space", "show", "main"],
    ["store", "index"], ["store", "index", "rebuild"], ["store", "index", "embed"], ["status", "--stats"], ["schema", "space"],
    ["completions", "bash"], ["agent", "list"], ["off"], ["on"], ["session", "list"],
    ["feedback", "db/choice", "--helpful"], ["feedback", "gaps"], ["feedback", "gaps", "--check"], ["graph"], ["store", "maintain", "--dry-run"], ["provider", "list"], ["provider", "usage"], ["metrics"],
]  # fmt: skip
CHANGES = frozenset("init demo remember edit pin forget link ingest watch import mcp serve merge-driver".split())


def shared_files(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """The files of the store that git may track: their bytes, when they were written, and their inodes."""
    store = root / ".memory"
    files = {str(file.relative_to(store)): file for file in store.rglob("*") if file.is_file()}
    return {
        name: (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino)
        for name, file in files.items()
        if name.partition("/")[0] not in ("cache", "local", "audit")
    }


def test_every_command_is_known_to_read_or_to_change() -> None:
    """A new command belongs into READS, unless it has no form that only reads."""
    assert {arguments[0] for arguments in READS} | CHANGES == set(names())


def test_reading_changes_no_shared_file(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.remember("db/port", "PostgreSQL listens on port 5432.")
    monkeypatch.chdir(team.root)
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")  # under which nothing would be counted
    (team.root.parent / "db.toml").write_text('[[case]]\ntopic = "postgresql"\nmust_include = ["db/*"]\n')
    before = shared_files(team.root)
    assert "spaces/main.json" in before
    for arguments in READS:
        assert (arguments, main(arguments)) == (arguments, 0)
        assert shared_files(team.root) == before, arguments
    assert team.git("status", "--porcelain") == ""
