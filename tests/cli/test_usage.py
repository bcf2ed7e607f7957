"""What commands, the Python interface and hooks note in the usage log; and that a command that only reads leaves every shared file as it is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from memcli import Memory
from memcli.cli.main import main
from memcli.cli.verb import names
from memcli.model.usage import GET, INJECT, RECALL, Use
from memcli.store import state
from memcli.store.layout import Layout
from memcli.store.notes import LocalUsage
from memcli.store.state import State
from tests.conftest import Run
from tests.git.conftest import Team
from tests.git.conftest import team as team  # noqa: PLC0414 - a fixture is taken over by its name
from tests.local_state import local_bytes, rows

TOPIC = "which database did we choose?"


@pytest.fixture(autouse=True)
def a_running_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")


@pytest.fixture
def ids(run: Run) -> list[str]:
    texts = ("We chose PostgreSQL as the database.", "Deploys need approval.")
    return [run("remember", text, "--json").json["id"] for text in texts]


def noted(folder: Path) -> list[Use]:
    return LocalUsage(State(Layout(str(folder / ".memory")))).read()


def test_recall_and_get_are_noted(run: Run, ids: list[str], tmp_path: Path) -> None:
    run("recall", TOPIC)
    run("recall", "which queue?", "--kind", "negative")
    run("get", *ids)
    first, second = noted(tmp_path)
    assert (first.act, first.space, first.ids, first.places) == (RECALL, "main", (ids[0],), (1,))
    assert (second.act, second.ids, second.topic) == (GET, tuple(ids), "")
    for option in (["--field", "raw"], ["--context"], ["--json"]):
        run("get", ids[0], *option)
    run("recall", "--topics", "-", stdin=f"{TOPIC}\nwhat needs approval?\n")
    assert [use.ids for use in noted(tmp_path)[2:]] == [(ids[0],)] * 4 + [(ids[1],)]


def test_the_python_interface_notes_too(run: Run, ids: list[str], tmp_path: Path) -> None:
    del run
    with Memory(tmp_path) as memory:
        memory.recall(TOPIC)
        memory.get(ids[1])
    assert [(use.act, use.ids) for use in noted(tmp_path)] == [(RECALL, (ids[0],)), (GET, (ids[1],))]


def test_an_injection_is_noted_once(run: Run, ids: list[str], tmp_path: Path) -> None:
    call = json.dumps({"session_id": "s", "prompt": TOPIC, "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit"})
    for _ in range(2):
        run("hook", "run", "prompt", "--agent", "claude", stdin=call)
    assert [(use.act, use.ids) for use in noted(tmp_path)] == [(INJECT, (ids[0],))]


def test_what_only_looks_is_not_noted(run: Run, ids: list[str], tmp_path: Path) -> None:
    del ids
    run("list")
    run("edit", "--set", "kind=decision", "deploys")
    (tmp_path / ".memory/tests").mkdir()
    (tmp_path / ".memory/tests/a.toml").write_text(f'[[case]]\ntopic = "{TOPIC}"\n')
    run("check", "recall")
    assert noted(tmp_path) == []


@pytest.mark.parametrize("way", ["clock", "option", "variable", "switch", "rev"])
@pytest.mark.usefixtures("ids")
def test_nothing_is_noted(way: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[str] = []
    if way == "clock":
        monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-01-31")
    elif way == "option":
        options = ["--freeze-clock", "2026-01-31"]
    elif way == "variable":
        monkeypatch.setenv("MEMCLI_OFF", "1")
    elif way == "switch":
        run("off")
    else:
        options = ["--rev", "HEAD"]
    run("recall", TOPIC, *options)
    assert rows(tmp_path, "usage") == []


def test_a_purge_erases_ids(run: Run, ids: list[str], tmp_path: Path) -> None:
    run("recall", TOPIC)
    run("forget", "--purge", "--now", "--yes", ids[0])
    assert ids[0].encode() not in local_bytes(tmp_path)


def test_a_recall_writes_the_local_state_once(
    run: Run, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    real = state._open

    def opened(path: str, wait: float) -> sqlite3.Connection:
        connection = real(path, wait)
        connection.set_trace_callback(lambda statement: begun.append(statement) if "BEGIN" in statement else None)
        return connection

    monkeypatch.setattr(state, "_open", opened)
    assert ids[0] in run("recall", TOPIC).out
    assert begun == ["BEGIN IMMEDIATE"]
    assert len(rows(tmp_path, "usage")) == 1
    assert {key.split("\t")[1] for key, *_ in rows(tmp_path, "counter")} >= {"recall"}


def test_what_is_read_without_usage_leaves_no_trace(run: Run) -> None:
    run("init")
    run("space", "policy", "--set", "gaps=true")
    run("remember", "We chose PostgreSQL.", "--path", "decisions/database")
    run("remember", "Logs are kept for 30 days.", "--path", "ops/logs")

    def usage() -> tuple[int, int, list[str]]:
        read = run("status", "--stats", "--usage", "--json").json["usage"]
        return read["read"], read["never"], [one["path"] for one in read["most"]]

    for command in (("recall", "postgresql"), ("recall", "zebra stripes"), ("get", "ops/logs")):
        assert run(*command, "--no-usage").code == 0
    assert usage() == (0, 2, [])
    assert run("feedback", "gaps", "--json").json["gaps"] == []
    for command in (("get", "ops/logs"), ("get", "ops/logs"), ("recall", "postgresql")):
        run(*command)
    assert usage() == (2, 0, ["ops/logs", "decisions/database"])
    assert "ops/logs" in run("status", "--stats", "--usage").out


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
    (team.root.parent / "db.toml").write_text('[[case]]\ntopic = "postgresql"\nmust_include = ["db/*"]\n')
    before = shared_files(team.root)
    assert "spaces/main.json" in before
    for arguments in READS:
        assert (arguments, main(arguments)) == (arguments, 0)
        assert shared_files(team.root) == before, arguments
    assert team.git("status", "--porcelain") == ""
