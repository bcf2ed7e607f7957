"""`memcli store maintain`: what it prints, and when it runs by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.cli import background
from tests.conftest import Run
from tests.local_state import rows

OLD = ("--freeze-clock", "2025-01-01T00:00:00Z")


@pytest.fixture
def aged(run: Run) -> Run:
    """A store with a guess of a year ago and a decision."""
    run("remember", "The cache is probably slow.", "--kind", "inferred", "--path", "perf/cache", "--id", "mem_a", *OLD)
    run("remember", "We chose PostgreSQL.", "--kind", "decision", "--path", "db/choice", "--id", "mem_b", *OLD)
    return run


def test_the_plan_is_told_by_task_and_the_run_can_be_undone(aged: Run) -> None:
    told = aged("store", "maintain", "--dry-run")
    assert told.out == (
        "archive (1, 7 tokens)\n"
        "  perf/cache  worth 0.00 (importance 0.3 x confidence 0.00), 395 days old\n"
        "would change 1 memory; would reclaim 7 tokens\n"
    )
    done = aged("store", "maintain")
    run = done.out.splitlines()[-1].split()[-1].strip("`")
    assert done.out.splitlines()[-1] == f"changed 1 memory; reclaimed 7 tokens; undo with `memcli restore --run {run}`"
    assert aged("get", "mem_a", "--json").json["active"] is False
    assert f"tasks: archive; run {run}" in aged("store", "audit").out
    assert aged("restore", "--run", run).code == 0
    assert aged("get", "mem_a", "--json").json.get("version", 1) == 1
    assert aged("store", "maintain").out == "nothing to do; 1 undone or rejected before, and left until they change\n"
    assert aged("check", "store").code == 0


def test_the_policy_of_the_space_says_what_is_archived(aged: Run) -> None:
    assert aged("space", "policy", "main", "--set", "archive_days=400").code == 0
    assert aged("store", "maintain").out == "nothing to do\n"
    assert aged("space", "policy", "main", "--set", "archive_days=390", "--set", "archive_below=0.1").code == 0
    assert aged("store", "maintain").out.startswith("archive (1, ")


def test_the_plan_is_json_and_of_the_tasks_that_are_named(aged: Run) -> None:
    assert aged("store", "maintain", "--dry-run", "--only", "tags", "--only", "review").out == "nothing to do\n"
    wrong = aged("store", "maintain", "--only", "sweep")
    assert (wrong.code, wrong.out) == (2, "")
    assert "no task 'sweep' (tasks: usage, archive, decay, links, clusters, merge, tags, review)" in wrong.err
    data = aged("store", "maintain", "--dry-run", "--json").json
    (space,) = data["spaces"]
    assert (data["dry_run"], data["changed"], data["tokens"], space["space"], space["run"]) == (True, 1, 7, "main", "")
    (step,) = space["steps"]
    assert (step["task"], step["id"], step["fields"]) == (
        "archive", "mem_a", {"active": {"after": False, "before": True}},
    )  # fmt: skip
    assert aged("store", "maintain", "--json").json["spaces"][0]["run"]


def test_long_plans_are_cut_short_in_the_text_alone(run: Run) -> None:
    lines = [json.dumps({"raw": f"Guess {n}.", "kind": "inferred", "path": f"g/{n:02}"}) for n in range(25)]
    run("remember", "--batch", "-", *OLD, stdin="\n".join(lines))
    assert "  and 15 more\n" in run("store", "maintain", "--dry-run").out
    assert len(run("store", "maintain", "--dry-run", "--json").json["spaces"][0]["steps"]) == 25


def test_every_fiftieth_recall_begins_it_in_the_background(
    aged: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []
    monkeypatch.setattr(background, "start", lambda arguments, piped="": begun.append(list(arguments)))
    monkeypatch.setattr("memcli.cli.commands.recall._UPKEEP_EVERY", 2)
    aged("space", "policy", "main", "--set", "upkeep=auto")
    aged("recall", "which database?")
    aged("recall", "which database?")
    assert rows(tmp_path, "tally") == []  # the clock is frozen
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")
    monkeypatch.delenv("MEMCLI_BACKGROUND")
    for expected in (0, 1, 1):
        aged("recall", "which database?")
        assert len(begun) == expected
    assert begun[0][:3] == ["store", "maintain", "--background"]
    monkeypatch.setenv("MEMCLI_OFF", "1")
    aged("recall", "which database?")
    assert len(begun) == 1


def test_in_the_background_a_plan_is_proposed(aged: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    aged("space", "policy", "main", "--set", "upkeep=auto")
    monkeypatch.setenv("MEMCLI_OFF", "1")
    aged("store", "maintain", "--background")
    monkeypatch.delenv("MEMCLI_OFF")
    assert aged("inbox", "--json").json == []
    assert aged("store", "maintain", "--background").out == ""
    assert "Upkeep would change 1 memory of space main: archive 1." in aged("inbox", "show", "upkeep/plan").out
    assert aged("inbox", "accept", "--all").out == "updated mem_a perf/cache\n"
    assert aged("get", "mem_a", "--json").json["active"] is False


def test_what_ingest_reads_is_judged_and_read_again_without_a_change(run: Run, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Build\n\nThe build needs Node 20.\n")
    run("ingest", "guide.md")
    (memory,) = run("list", "-s", "repo", "--json").json
    run("feedback", memory["id"], "--unhelpful", "-s", "repo")
    assert run("store", "maintain", "--json", "-s", "repo").json["changed"] == 1
    before = (tmp_path / ".memory/spaces/repo.json").read_bytes()
    run("ingest", "guide.md")
    assert (tmp_path / ".memory/spaces/repo.json").read_bytes() == before
    assert run("store", "maintain").out == "nothing to do\n"
