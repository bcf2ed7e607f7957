"""The inbox, end to end: what waits, what comes out of it, and what does not come again."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_accepting_is_as_remembering(run: Run) -> None:
    given = ["Money is integer cents.", "--kind", "decision", "--tag", "money", "--path", "shop/money", "--pin"]
    run("remember", *given, "--space", "direct")
    run("remember", *given, "--space", "later", "--propose")
    run("inbox", "accept", "--all", "--space", "later")
    first, second = (run("get", "shop/money", "--space", s, "--json").json for s in ("direct", "later"))
    for name in ("id", "chunks"):
        first.pop(name, None), second.pop(name, None)
    first["metadata"].pop("space"), second["metadata"].pop("space")
    assert first == second


def test_a_policy_makes_scripts_wait(reviewed: Run) -> None:
    assert status(reviewed, "From a script.") == "proposed"
    assert status(reviewed, "From a script, and meant.", "--yes") == "created"
    assert status(reviewed, "--path", "a/b", stdin="piped in") == "proposed"
    batch = '{"raw": "one"}\n{"raw": "two"}\n'
    assert reviewed("remember", "--batch", "-", "--json", stdin=batch).json["proposed"] == 2
    assert len(waiting(reviewed)) == 4


def test_ingest_and_import_wait(reviewed: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nThe cache is Redis.\n")
    assert reviewed("ingest", "notes.md", "-s", "main", "--json").json["proposed"] == 1
    assert "proposed" not in reviewed("ingest", "notes.md", "-s", "main", "--json").json
    reviewed("remember", "Elsewhere.", "--space", "other", "--path", "x/y")
    reviewed("export", "other", "--out", "other.json")
    assert reviewed("import", "other.json", "--space", "main", "--json").json["proposed"] == 1
    assert len(waiting(reviewed)) == 2
    reviewed("inbox", "accept", "--all")
    assert len(reviewed("list", "--json").json) == 2
    assert reviewed("ingest", "notes.md", "-s", "main", "--json").json["deduplicated"] == 1


def test_what_is_rejected_does_not_come_again(reviewed: Run, tmp_path: Path) -> None:
    reviewed("remember", "A poor idea.", "--path", "ideas/poor")
    assert reviewed("inbox", "reject", "ideas/poor").code == 0
    assert waiting(reviewed) == []
    assert status(reviewed, "A poor idea.", "--path", "ideas/poor") == "deduplicated"
    assert waiting(reviewed) == []
    assert "poor idea" not in (tmp_path / ".memory" / "local" / "inbox" / "spaces" / "main.json").read_text()
    assert status(reviewed, "A better idea.", "--path", "ideas/poor") == "proposed"
    assert waiting(reviewed) == ["ideas/poor"]


@pytest.mark.parametrize("now", [(), ("--now",)])
@pytest.mark.parametrize("is_rejected", [False, True])
def test_a_purge_leaves_nothing_of_a_proposal(
    run: Run, tmp_path: Path, is_rejected: bool, now: tuple[str, ...]
) -> None:
    told = run("remember", "Zebras drink absinthe.", "--propose", "--json").json
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--propose")
    if is_rejected:
        run("inbox", "reject", told["id"])
    done = run("forget", told["id"], "--purge", "--yes", *now)
    assert (done.code, done.out) == (0, f"erased from the inbox {told['id']} {told['path']}\n")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files for word in (b"zebra", b"absinthe") if word in path.read_bytes().lower()]
    assert waiting(run) == ["db/choice"]
    assert run("forget", told["id"], "--purge", "--yes", *now).code == 3


def test_a_candidate_is_edited_before_it_is_accepted(reviewed: Run) -> None:
    reviewed("remember", "A draft.", "--path", "notes/draft")
    assert reviewed("inbox", "edit", "notes/draft", "--set", "kind=decision", "--set", "raw=The final text.").code == 0
    reviewed("inbox", "accept", "notes/draft")
    memory = reviewed("get", "notes/draft", "--json").json
    assert (memory["kind"], memory["raw"]) == ("decision", "The final text.")
    assert "proposal" not in memory


def test_a_proposal_may_update_and_supersede(reviewed: Run) -> None:
    reviewed("remember", "Sessions live in Redis.", "--path", "auth/sessions", "--yes")
    reviewed("remember", "Sessions live in cookies.", "--path", "auth/sessions")
    reviewed("remember", "Tokens.", "--path", "auth/tokens", "--supersedes", "auth/sessions")
    assert reviewed("inbox", "accept", "--all").code == 0
    memory = reviewed("get", "auth/sessions", "--json").json
    assert memory["raw"] == "Sessions live in cookies."
    assert memory["superseded_by"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["inbox"], 0), (["inbox", "list"], 0), (["inbox", "accept", "--all"], 0), (["inbox", "accept"], 2),
        (["inbox", "show"], 2), (["inbox", "edit"], 2), (["inbox", "dance"], 2), (["inbox", "show", "nothing"], 3),
        (["inbox", "reject", "nothing"], 3), (["inbox", "accept", "x", "--all"], 2), (["inbox", "list", "--set", "a=b"], 2),
    ],
    ids=str,
)  # fmt: skip
def test_an_empty_inbox(run: Run, arguments: list[str], code: int) -> None:
    run("init")
    assert run(*arguments).code == code


def test_a_proposal_overwrites_nothing_that_came_after_it(run: Run) -> None:
    run("remember", "Proposed text.", "--path", "z/z", "--propose")
    run("remember", "What a person said.", "--path", "z/z")
    refused = run("inbox", "accept", "--all")
    assert (refused.code, "has changed since" in refused.err) == (4, True)
    assert run("get", "z/z", "--field", "raw").out == "What a person said.\n"


def test_a_proposal_updates_the_memory_that_it_was_made_for(run: Run) -> None:
    run("remember", "Restart the ferry.", "--path", "ops/ferry")
    run("remember", "Drain first.", "--path", "ops/ferry", "--propose")
    assert run("inbox", "accept", "--all").code == 0
    assert run("get", "ops/ferry", "--field", "raw").out == "Drain first.\n"
    run("remember", "Drain twice.", "--path", "ops/ferry", "--propose")
    run("edit", "ops/ferry", "--set", "path=ops/old")
    run("remember", "The timetable.", "--path", "ops/ferry")
    assert run("inbox", "accept", "--all").code == 4


def test_two_proposals_at_one_path_are_both_kept(run: Run) -> None:
    for text in ("The first text.", "The second text.", "The second text."):
        run("remember", text, "--path", "z/z", "--propose")
    found = run("inbox", "--json").json
    assert sorted((item["path"], item["summary_micro"]) for item in found) == [
        ("z/z", "The first text."),
        ("z/z", "The second text."),
    ]
    ids = {item["summary_micro"]: item["id"] for item in found}
    several = run("inbox", "accept", "z/z")
    assert (several.code, all(name in several.err for name in ids.values())) == (2, True)
    both = run("inbox", "accept", "--all")
    assert (both.code, "are both proposed for 'z/z'; nothing was accepted" in both.err) == (4, True)
    assert run("inbox", "accept", ids["The first text."]).code == 0
    late = run("inbox", "accept", ids["The second text."])
    assert (late.code, "the memory at 'z/z' has changed since" in late.err) == (4, True)
    assert run("inbox", "edit", ids["The second text."], "--set", "path=z/y").code == 0
    assert run("inbox", "accept", "--all").code == 0
    assert [run("get", path, "--field", "raw").out for path in ("z/z", "z/y")] == [
        "The first text.\n",
        "The second text.\n",
    ]


def test_what_is_rejected_at_a_path_that_others_wait_for_does_not_come_again(run: Run) -> None:
    for text in ("The first text.", "The second text."):
        run("remember", text, "--path", "z/z", "--propose")
    second = next(i["id"] for i in run("inbox", "--json").json if "second" in i["summary_micro"])
    assert run("inbox", "reject", second).code == 0
    assert status(run, "The second text.", "--path", "z/z", "--propose") == "deduplicated"
    assert waiting(run) == ["z/z"]
    assert run("inbox", "reject", "z/z").code == 0
    assert status(run, "The third text.", "--path", "z/z", "--propose") == "proposed"
    assert status(run, "The first text.", "--path", "z/z", "--propose") == "deduplicated"
