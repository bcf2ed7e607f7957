"""The inbox, end to end: what waits, what comes out of it, and what does not come again."""

from __future__ import annotations

import pytest

from tests.cli.conftest import wrong
from tests.conftest import Run


def status(run: Run, *arguments: str, stdin: str = "") -> str:
    return str(run("remember", *arguments, "--json", stdin=stdin).json["status"])


def waiting(run: Run) -> list[str]:
    return [item["path"] for item in run("inbox", "--json").json]


@pytest.fixture
def reviewed(run: Run) -> Run:
    """A space whose policy wants a review."""
    run("space", "create", "main")
    assert run("space", "policy", "main", "--set", "review=true").code == 0
    return run


def test_a_proposal_waits_and_recall_does_not_see_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(run, "We chose PostgreSQL.", "--path", "db/choice", "--propose") == "proposed"
    monkeypatch.setenv("MEMCLI_PROPOSE", "1")
    assert status(run, "Redis keeps sessions.", "--path", "db/sessions", "--yes") == "proposed"
    monkeypatch.delenv("MEMCLI_PROPOSE")
    assert status(run, "Never force-push.", "--path", "git/push", "--yes") == "created"
    assert waiting(run) == ["db/choice", "db/sessions"]
    assert "We chose" not in run("recall", "PostgreSQL").out
    assert "PostgreSQL" in run("inbox", "show", "db/choice").out
    assert run("inbox", "accept", "db/choice").code == 0
    assert waiting(run) == ["db/sessions"]
    assert "We chose" in run("recall", "PostgreSQL").out


def test_a_policy_makes_scripts_wait(reviewed: Run) -> None:
    assert status(reviewed, "From a script.") == "proposed"
    assert status(reviewed, "From a script, and meant.", "--yes") == "created"
    assert status(reviewed, "--path", "a/b", stdin="piped in") == "proposed"
    batch = '{"raw": "one"}\n{"raw": "two"}\n'
    assert reviewed("remember", "--batch", "-", "--json", stdin=batch).json["proposed"] == 2
    assert len(waiting(reviewed)) == 4


def test_what_waits_is_edited_rejected_accepted_or_erased(reviewed: Run) -> None:
    for name in "abcd":
        reviewed("remember", f"Draft {name}.", "--path", f"notes/{name}")
    assert reviewed("inbox", "edit", "notes/a", "--set", "kind=decision", "--set", "raw=The final text.").code == 0
    assert reviewed("inbox", "reject", "notes/b").out.startswith("rejected mem_")
    assert status(reviewed, "Draft b.", "--path", "notes/b") == "deduplicated"
    gone = reviewed("forget", "notes/c", "--purge", "--yes")
    assert (gone.code, gone.out.startswith("erased from the inbox mem_")) == (0, True)
    assert reviewed("forget", "notes/c", "--purge", "--now", "--yes").code == 3
    reviewed("remember", "What a person said.", "--path", "notes/d", "--yes")
    assert wrong(reviewed, [("inbox accept --all", 4, "has changed since")]) == ""
    reviewed("inbox", "reject", "notes/d")
    assert reviewed("inbox", "accept", "--all").out.startswith("created mem_")
    memory = reviewed("get", "notes/a", "--json").json
    assert (memory["kind"], memory["raw"], "proposal" in memory) == ("decision", "The final text.", False)


def test_an_empty_inbox(run: Run) -> None:
    run("init")
    for line in ("inbox", "inbox list", "inbox accept --all"):
        assert run(*line.split()).code == 0
    table = [
        ("accept", 2, ""), ("show", 2, ""), ("edit", 2, ""), ("dance", 2, ""), ("show nothing", 3, ""), ("reject nothing", 3, ""),
        ("accept x --all", 2, ""), ("list --set a=b", 2, ""),
    ]  # fmt: skip
    assert wrong(run, table, "inbox") == ""
