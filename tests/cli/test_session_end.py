"""The end of a session: what is kept of it, what is proposed, and what of it is found again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memcli.app import session_end
from memcli.errors import StoreError
from memcli.store.layout import Layout
from memcli.store.sessions import FileSessions
from tests.cli.conftest import git
from tests.conftest import NOW, Run

TALK = (
    ("user", "The login takes 8 seconds in production, customers complain."),
    ("assistant", "I profiled it: the bcrypt cost factor is 15, that is the root cause."),
    ("user", "OK, let's lower the cost factor to 12 then. Never go below 12, the auditors require it."),
    ("assistant", "Done. I set the cost factor to 12 in auth/hash.py and login takes 400 ms now."),
    ("user", "Great, that fixed it. We decided to use argon2 for new accounts because it resists GPUs."),
    ("assistant", "Shall I also migrate the old accounts?"),
)
ARGON = "We decided to use argon2 for new accounts because it resists GPUs."
ASK_ARGON = ("recall", "argon2 accounts", "--scope", "session", "--json")


def record(run: Run, *said: str, title: str = "") -> str:
    """The name of a session in which a user said this, or with nothing, of the whole talk."""
    name = run("session", "start", "--title", title).out.strip()
    for role, text in [("user", text) for text in said] or TALK:
        assert run("session", "add", name, text, "--role", role).code == 0
    return name


def ended(run: Run, name: str, *options: str) -> dict[str, Any]:
    result = run("session", "end", name, "--json", *options)
    assert result.code == 0, result.err
    found: dict[str, Any] = result.json
    return found


def went_on(run: Run, name: str, said: str = "Thanks, see you tomorrow.") -> None:
    """The session is resumed, goes on, and ends again."""
    assert run("session", "resume", name).code == 0
    assert run("session", "add", name, said, "--role", "user").code == 0
    ended(run, name)


def listed(space: str) -> dict[str, dict[str, Any]]:
    file = Path(Layout(os.path.abspath(".memory")).space(space))
    return {one["path"]: one for one in json.loads(file.read_text())["objects"]} if file.exists() else {}


def of_kind(kind: str, space: str = "journal") -> list[dict[str, Any]]:
    return [one for one in listed(space).values() if one["kind"] == kind]


def test_the_end_makes_a_memory_of_the_session_its_episodes_and_facts(run: Run) -> None:
    name = record(run, title="Slow login")
    done = ended(run, name, "--outcome", "Login is fast")
    assert [one["status"] for one in done["log"]] == ["created"]
    assert {one["space"] for part in ("log", "episodes", "facts") for one in done[part]} == {"journal"}
    assert {one["status"] for one in done["promoted"]} == {"proposed"}
    log = run("get", done["log"][0]["id"], "-s", "journal", "--json").json
    assert (log["kind"], log["scope"]) == ("log", "session")
    assert log["raw"].startswith("Slow login (6 messages)\nOutcome: Login is fast\n")
    assert log["provenance"] == {"source": "extracted", "session": name, "messages": [1, 6]}
    said = " ".join(text for _, text in TALK)
    assert all(line.partition(": ")[2] in said for line in log["raw"].splitlines()[2:])
    episodes = of_kind("episode")
    assert episodes
    assert all(set(one["episode"]) >= {"title", "outcome", "valence", "significance", "turns"} for one in episodes)
    shown = run("session", "show", name, "--json").json["session"]
    assert (shown["state"], shown["outcome"]) == ("ended", "Login is fast")
    assert "redacted" not in " ".join(listed("journal")), "a title with a login is no password"
    empty = ended(run, run("session", "start").out.strip())
    assert [empty[part] for part in ("log", "episodes", "facts", "promoted")] == [[], [], [], []]


def test_facts_wait_in_the_inbox_or_go_at_once_by_the_policy(run: Run) -> None:
    run("init")
    assert run("space", "policy", "main", "--set", "promote_confidence=1").code == 0
    name = record(run)
    assert ended(run, name)["promoted"] == []
    assert run("space", "policy", "main", "--unset", "promote_confidence").code == 0
    went_on(run, name)
    assert ARGON in run("inbox").out
    assert not listed("main")
    assert run("space", "policy", "main", "--set", "promote=auto").code == 0
    done = ended(run, record(run, "We decided to store prices in cents because floats lose money."))
    assert [one["space"] for one in done["promoted"]] == ["main"]
    (fact,) = listed("main").values()
    assert (fact["kind"], fact["provenance"]["source"]) == ("decision", "extracted")


def test_the_same_end_again_changes_nothing(run: Run) -> None:
    name = record(run)
    first = ended(run, name)
    before = {path.name: path.read_bytes() for path in Path(".memory/local/spaces").iterdir()}
    again = ended(run, name)
    assert {path.name: path.read_bytes() for path in Path(".memory/local/spaces").iterdir()} == before
    ids = [[one["id"] for part in ("log", "episodes", "facts") for one in done[part]] for done in (first, again)]
    assert ids[0] == ids[1]


def test_what_no_longer_holds_when_a_session_goes_on_leaves_the_journal_and_the_inbox(run: Run) -> None:
    name = record(run, "We decided to use Redis for the queue because it is fast.")
    ended(run, name)
    assert "Redis" in of_kind("decision")[0]["raw"]
    assert "Redis" in run("inbox").out
    went_on(run, name, "Scratch that, we decided to use PostgreSQL for the queue instead.")
    assert of_kind("decision")
    assert not any("Redis" in one["raw"] for one in of_kind("decision"))
    assert "Redis" not in run("inbox").out


def test_what_was_interrupted_is_finished_by_the_next_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = record(run)

    def fail(*_: object, **__: object) -> None:
        raise StoreError("cannot write: the disk is full", "free some space")

    with monkeypatch.context() as patch:
        patch.setattr(session_end, "remember", fail)
        assert run("session", "end", name, "--outcome", "Fast").code == StoreError.exit_code
    assert not listed("journal")
    assert run("session", "list").code == 0
    assert [one["raw"].splitlines()[1] for one in of_kind("log")] == ["Outcome: Fast"]
    unborn = record(run)
    FileSessions(Layout(".memory"), 1.0).mark_ending("main", unborn)
    assert run("session", "list").code == 0
    assert run("session", "show", unborn, "--json").json["session"]["state"] == "active", (
        "it was killed before it began"
    )


def test_what_another_process_is_ending_or_is_damaged_is_left_alone(run: Run) -> None:
    names = sorted([record(run, title="one"), record(run, title="two")])
    sessions = FileSessions(Layout(".memory"), 1.0)
    for name in names:
        ended(run, name)
    for name in names:
        sessions.mark_ending("main", name)
        sessions.note_kept("main", name, {})
    assert run("space", "policy", "journal", "--set", "allow_delete=true").code == 0
    assert run("space", "delete", "journal").code == 0
    with sessions.finishing("main"):
        assert run("session", "list").code == 0
        assert not listed("journal")
    Path(f".memory/local/sessions/main/{names[0]}.jsonl").write_bytes(b"damaged\n")
    assert f"what session {names[0]} yields is not kept yet" in run("session", "list").err
    assert {one["provenance"]["session"] for one in listed("journal").values()} == {names[1]}


@pytest.mark.parametrize("kind", ["log", "episode", "decision"])
def test_what_was_purged_is_not_made_again_and_what_was_edited_stays(run: Run, kind: str) -> None:
    name = record(run, ARGON)
    ended(run, name)
    count, (edited, *_) = len(listed("journal")), of_kind(kind)
    assert run("edit", edited["id"], "-s", "journal", "--set", "raw=Written by hand.").code == 0
    went_on(run, name)
    assert (len(listed("journal")), listed("journal")[edited["path"]]["raw"]) == (count, "Written by hand.")
    assert run("forget", edited["id"], "-s", "journal", "--purge", "--now", "--yes").code == 0
    went_on(run, name)
    assert edited["path"] not in listed("journal")
    assert edited["raw"] not in [one["raw"] for one in listed("journal").values()]


def test_a_deleted_journal_stays_empty(run: Run) -> None:
    name = record(run, ARGON)
    ended(run, name)
    assert run("space", "policy", "journal", "--set", "allow_delete=true").code == 0
    assert run("space", "delete", "journal").code == 0
    ended(run, name)
    assert not listed("journal")


@pytest.mark.parametrize("how", ["reject", "purge", "forget"])
def test_a_fact_that_is_not_wanted_is_not_offered_again(run: Run, how: str) -> None:
    name = record(run, ARGON)
    ended(run, name)
    (one,) = run("inbox", "--json").json
    assert run("inbox", "reject" if how == "reject" else "accept", one["id"]).code == 0
    if how != "reject":
        (path,) = listed("main")
        assert run("forget", path, *(["--purge"] if how == "purge" else []), "--yes").code == 0
    ended(run, name)
    assert run("inbox", "--json").json == []
    assert run("space", "policy", "main", "--set", "promote=auto").code == 0
    went_on(run, name)
    if how != "purge":  # who says it again in another session says it anew
        ended(run, record(run, ARGON))
    assert run("inbox", "--json").json == []
    assert [one for one in listed("main").values() if one.get("active", True)] == []


@pytest.mark.parametrize("grace", ["14", "0"])
def test_a_deleted_session_is_gone_from_all_that_was_made_of_it(run: Run, grace: str) -> None:
    run("init")
    assert run("space", "policy", "main", "--set", f"grace_days={grace}").code == 0
    name = record(run)
    ended(run, name)
    assert run(*ASK_ARGON).json["sections"]
    (vectors,) = Path(".memory/local/cache/sessions/cache").glob("*.vectors")
    assert vectors.read_bytes().strip(b"\0")
    assert run("session", "delete", name, "--yes").code == 0
    assert not vectors.exists() or not vectors.read_bytes().strip(b"\0")
    assert not run(*ASK_ARGON).json["sections"]
    run("gc", "-s", "journal")
    files = [path for path in Path(".memory").rglob("*") if path.is_file() and "audit" not in path.parts]
    words = (b"resists", b"bcrypt") if grace == "0" else (b"resists GPUs",)
    left = {path.parts[1:3] for path in files for word in words if word in path.read_bytes()}
    assert left <= ({("local", "trash")} if grace == "14" else set())


def test_facts_have_names_and_are_promoted_by_them(run: Run) -> None:
    name = record(run)
    (argon,) = [one for one in run("session", "facts", name, "--json").json if one["text"] == ARGON]
    assert argon["fact"] == f"{name}#5.1"
    ended(run, name)
    assert run("session", "promote", argon["fact"]).code == 0
    (fact,) = listed("main").values()
    assert (fact["raw"], fact["provenance"]["messages"]) == (ARGON, [5, 5])
    assert ARGON not in run("inbox").out
    assert run("session", "promote", f"{name}#1.1").err.count("no fact") == 1
    assert run("session", "promote", name).code == 2
    found = run("recall", "which hash do new accounts use?", "--json").json["sections"]
    assert [one.get("space", "main") for one in found if one["kind"] == "decision"] == ["main"]


def test_the_arc_is_shown(run: Run) -> None:
    name = record(run)
    assert set(run("session", "arc", name, "--json").json) == {"id", "beginning", "middle", "end", "key_moments"}
    assert run("session", "arc", name).out.splitlines()[0].startswith(name)
    assert "Beginning" in run("session", "arc", name).out


def test_what_was_said_is_recalled_with_the_scope_of_sessions(run: Run) -> None:
    name = record(run)
    ask = ("recall", "who complains about the login?", "--json")
    found = run(*ask, "--scope", "session").json["sections"]
    assert {one["id"] for one in found} >= {f"{name}:000001"}
    assert {one["space"] for one in found} == {"sessions"}
    assert not run(*ask).json["sections"]
    assert not run(*ask, "--scope", "session", "--exclude", "turns,episodes").json["sections"]
    assert run("recall", "login", "--include", "chunks").code == 2
    assert run("recall", "login", "--scope", "session", "--exclude", "nonsense").code == 2


def test_chunks_are_recalled_when_they_are_asked_for_and_as_the_policy_cuts_them(run: Run) -> None:
    name = record(run, *(f"We decided that step {n} of the deploy runs in region {n}." for n in range(31)))
    asked = (
        "recall",
        "which region does step 3 of the deploy run in?",
        "--scope",
        "session",
        "--limit",
        "40",
        "--json",
    )

    def chunks(*options: str) -> list[str]:
        return sorted(one["id"] for one in run(*asked, *options).json["sections"] if one["kind"] == "chunk")

    assert chunks() == []
    assert chunks("--include", "chunks") == chunks("--kind", "chunk") == [f"{name}:chunks:00001"]
    run("space", "policy", "main", "--set", "chunk_size=4", "--set", "recent_messages=21")
    assert chunks("--kind", "chunk") == [f"{name}:chunks:00001", f"{name}:chunks:00002"]


def test_facts_of_a_transcript_are_shown_without_secrets_and_nothing_is_stored(run: Run) -> None:
    key = "AKIA" + "Q3EGTX7ZP5RNB2WM"
    said = ("user", f"We decided to use the key {key} for uploads because the old one expired.")
    lines = [json.dumps({"role": role, "content": text}) for role, text in (*TALK, said)]
    Path("talk.jsonl").write_text("\n".join(lines))
    for _ in range(2):
        result = run("session", "facts", "--from", "talk.jsonl", "--json")
        assert ("decision", ARGON, 5) in [(one["kind"], one["text"], one["message"]) for one in result.json]
        assert all(0 < one["confidence"] <= 1 for one in result.json)
        assert ("[REDACTED:" in result.out, key in result.out + result.err) == (True, False)
        run("init")
    assert not Path(".memory/local/sessions").exists()


def test_what_was_said_before_is_recalled_where_nothing_can_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = record(run, ARGON)
    before = run(*ASK_ARGON).json["sections"]
    assert run("session", "add", name, "The argon2 accounts are there.").code == 0

    def fail(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("memcli.app.talk.remember", fail)
    told = run(*ASK_ARGON)
    assert (told.code, told.json["sections"]) == (0, before)
    assert "what was said last is not searched: the disk is full" in told.err


def test_what_was_said_is_in_no_commit(run: Run, repository: Path) -> None:
    record(run, ARGON)
    run("remember", "Accounts are files.", "--path", "accounts")
    git(repository, "add", ".memory")
    git(repository, "commit", "-qm", "Remember")
    assert not run(*ASK_ARGON, "--rev", "HEAD").json["sections"]


def test_what_is_kept_to_search_sessions_is_made_anew(run: Run) -> None:
    name = record(run, ARGON)
    before = run(*ASK_ARGON).json["sections"]
    kept = Path(".memory/local/cache/sessions/spaces/main.json")
    for damaged in (b"damaged\n", kept.read_bytes().replace(b'"kind"', b'"kind', 1)):
        kept.write_bytes(damaged)
        assert run("session", "add", name, "Thanks.").code == 0
        assert before[0] in run(*ASK_ARGON).json["sections"]
    kept.write_bytes(b"damaged\n")
    assert run("session", "delete", name, "--yes").code == 0
    assert not kept.exists()


def test_a_journal_that_may_hold_little_keeps_what_matters_most(run: Run) -> None:
    assert run("init").code == 0
    assert run("space", "policy", "journal", "--set", "max_objects=3").code == 0
    first = ended(run, record(run))
    assert (len(first["log"]), sum(len(first[part]) for part in ("log", "episodes", "facts"))) == (1, 3)
    second = ended(run, record(run, "We decided to store prices in cents because floats lose money."))
    assert second["compacted"] > 0
    kept = listed("journal")
    assert len(kept) == 3
    assert {one["id"] for one in second["log"]} <= {one["id"] for one in kept.values()}


DATED = (
    {"role": "user", "content": "We decided to store prices in cents because floats lose money.", "timestamp": "2024-03-05T10:00:00Z"},
    {"role": "assistant", "content": "Noted.", "timestamp": "2024-03-05T10:01:00Z"},
    {"role": "user", "content": "Never log card numbers, the auditors forbid it.", "timestamp": "2024-09-07T11:00:00+02:00"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("last", "dated"), [(DATED[2]["timestamp"], "2024-09-07T09:00:00Z"), (None, "2024-03-05T10:01:00Z")]
)
def test_a_fact_has_the_date_of_its_message_or_the_one_before(run: Run, last: str | None, dated: str) -> None:
    talk = (*DATED[:2], {**DATED[2], "timestamp": last})
    Path("talk.jsonl").write_text("".join(json.dumps(one) + "\n" for one in talk))
    (done,) = run("session", "import", "talk.jsonl", "--json").json["sessions"]

    def dates(space: str) -> dict[str, str]:
        return {one["raw"]: one["created_at"] for kind in ("decision", "negative") for one in of_kind(kind, space)}

    wanted = {DATED[0]["content"]: "2024-03-05T10:00:00Z", DATED[2]["content"]: dated}
    names = [one["fact"] for one in run("session", "facts", done["id"], "--json").json]
    assert run("session", "promote", names[0]).code == 0
    ended(run, done["id"])
    assert dates("journal") == wanted
    assert run("inbox", "accept", "--all").code == 0
    assert dates("main") == wanted


@pytest.mark.parametrize(("at", "holds"), [("2024-01-01T00:00:00Z", False), (NOW, True)])
def test_only_what_was_said_later_takes_the_place_of_what_is_known(run: Run, at: str, holds: bool) -> None:
    run("remember", "The default region is eu-west-1.", "--kind", "decision")
    name = run("session", "start").out.strip()
    new = "We decided that the default region is now us-east-1."
    run("session", "add", name, new, "--role", "user", "--at", at)
    assert run("session", "promote", f"{name}#1.1").code == 0
    (fact,) = [one for one in listed("main").values() if one["raw"] == new]
    assert [bool(link.get("holds")) for link in fact["links"]] == [holds]
