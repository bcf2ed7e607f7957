"""The end of a session: what is kept of it, what is proposed, and what of it is found again."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from memcli.app import session_end
from memcli.errors import LockedError, MemcliError, StoreError
from memcli.store.layout import Layout
from memcli.store.sessions import FileSessions
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


def record(run: Run, *said: tuple[str, str], title: str = "") -> str:
    name = run("session", "start", "--title", title).out.strip()
    for role, text in said or TALK:
        assert run("session", "add", name, text, "--role", role).code == 0
    return name


def ended(run: Run, name: str, *options: str) -> dict:
    result = run("session", "end", name, "--json", *options)
    assert result.code == 0, result.err
    return result.json


def listed(space: str) -> dict[str, dict]:
    file = Path(Layout(os.path.abspath(".memory")).space(space))
    return {one["path"]: one for one in json.loads(file.read_text())["objects"]} if file.exists() else {}


def test_the_end_makes_a_memory_of_the_session_its_episodes_and_facts(run: Run) -> None:
    name = record(run, title="Slow login")
    done = ended(run, name, "--outcome", "Login is fast")
    assert [one["status"] for one in done["log"]] == ["created"]
    assert {one["space"] for part in ("log", "episodes", "facts") for one in done[part]} == {"journal"}
    assert {one["status"] for one in done["promoted"]} == {"proposed"}
    log = run("get", done["log"][0]["id"], "-s", "journal", "--json").json
    assert log["kind"] == "log"
    assert log["scope"] == "session"
    assert log["raw"].startswith("Slow login (6 messages)\nOutcome: Login is fast\n")
    assert log["provenance"] == {"source": "extracted", "session": name, "messages": [1, 6]}
    said = " ".join(text for _, text in TALK)
    assert all(line.partition(": ")[2] in said for line in log["raw"].splitlines()[2:])
    episodes = [one for one in listed("journal").values() if one["kind"] == "episode"]
    assert episodes
    assert all(set(one["episode"]) >= {"title", "outcome", "valence", "significance", "turns"} for one in episodes)
    shown = run("session", "show", name, "--json").json["session"]
    assert (shown["state"], shown["outcome"]) == ("ended", "Login is fast")


def test_facts_wait_in_the_inbox_or_go_at_once(run: Run) -> None:
    ended(run, record(run))
    assert ARGON in run("inbox").out
    assert not listed("main")
    assert run("space", "policy", "main", "--set", "promote=auto").code == 0
    done = ended(run, record(run, ("user", "We decided to store prices in cents because floats lose money.")))
    assert [one["space"] for one in done["promoted"]] == ["main"]
    (fact,) = listed("main").values()
    assert (fact["kind"], fact["provenance"]["source"]) == ("decision", "extracted")


def test_the_policy_says_how_sure_a_fact_must_be(run: Run) -> None:
    name = record(run)
    assert run("space", "policy", "main", "--set", "promote_confidence=1").code == 0
    assert ended(run, name)["promoted"] == []
    assert (
        run("session", "resume", name).code == run("space", "policy", "main", "--unset", "promote_confidence").code == 0
    )
    assert [one["status"] for one in ended(run, name)["promoted"]] == ["proposed"] * len(ended(run, name)["facts"])


def test_the_same_end_again_changes_nothing(run: Run) -> None:
    name = record(run)
    first = ended(run, name)
    before = {path.name: path.read_bytes() for path in Path(".memory/spaces").iterdir()}
    again = ended(run, name)
    assert {path.name: path.read_bytes() for path in Path(".memory/spaces").iterdir()} == before
    ids = [[one["id"] for part in ("log", "episodes", "facts") for one in done[part]] for done in (first, again)]
    assert ids[0] == ids[1]


def test_what_no_longer_holds_when_a_session_goes_on_leaves_the_journal(run: Run) -> None:
    name = record(run, ("user", "We decided to use Redis for the queue because it is fast."))
    ended(run, name)
    assert any("Redis" in one["raw"] for one in listed("journal").values() if one["kind"] == "decision")
    assert run("session", "resume", name).code == 0
    run("session", "add", name, "Scratch that, we decided to use PostgreSQL for the queue instead.", "--role", "user")
    ended(run, name)
    decisions = [one["raw"] for one in listed("journal").values() if one["kind"] == "decision"]
    assert decisions
    assert not any("Redis" in text for text in decisions)


def test_what_was_interrupted_is_finished_by_the_next_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = record(run)

    def fail(*_: object, **__: object) -> None:
        raise StoreError("cannot write: the disk is full", "free some space")

    with monkeypatch.context() as patch:
        patch.setattr(session_end, "remember", fail)
        assert run("session", "end", name, "--outcome", "Fast").code == StoreError.exit_code
    assert not Path(".memory/local/spaces/journal.json").exists()
    assert run("session", "list").code == 0
    logs = [one for one in listed("journal").values() if one["kind"] == "log"]
    assert [one["raw"].splitlines()[1] for one in logs] == ["Outcome: Fast"]


def of_kind(kind: str, space: str = "journal") -> dict:
    return next(one for one in listed(space).values() if one["kind"] == kind)


def went_on(run: Run, name: str) -> None:
    """The session is resumed, goes on, and ends again."""
    assert run("session", "resume", name).code == 0
    assert run("session", "add", name, "Thanks, see you tomorrow.", "--role", "user").code == 0
    ended(run, name)


@pytest.mark.parametrize("kind", ["log", "episode", "decision"])
def test_what_was_purged_is_not_made_again(run: Run, kind: str) -> None:
    name = record(run, ("user", ARGON))
    ended(run, name)
    gone = of_kind(kind)
    assert run("forget", gone["id"], "-s", "journal", "--purge", "--now", "--yes").code == 0
    ended(run, name)
    went_on(run, name)
    assert gone["path"] not in listed("journal")
    assert gone["raw"] not in [one["raw"] for one in listed("journal").values()]


@pytest.mark.parametrize("kind", ["log", "episode", "decision"])
def test_what_was_edited_stays_as_it_is(run: Run, kind: str) -> None:
    name = record(run, ("user", ARGON))
    ended(run, name)
    before, edited = len(listed("journal")), of_kind(kind)
    assert run("edit", edited["id"], "-s", "journal", "--set", "raw=Written by hand.").code == 0
    went_on(run, name)
    assert len(listed("journal")) == before
    assert listed("journal")[edited["path"]]["raw"] == "Written by hand."


def test_a_deleted_journal_stays_empty(run: Run) -> None:
    name = record(run, ("user", ARGON))
    ended(run, name)
    assert run("space", "policy", "journal", "--set", "allow_delete=true").code == 0
    assert run("space", "delete", "journal").code == 0
    ended(run, name)
    assert not listed("journal")


@pytest.mark.parametrize("how", ["reject", "purge", "forget"])
def test_a_fact_that_is_not_wanted_is_not_offered_again(run: Run, how: str) -> None:
    name = record(run, ("user", ARGON))
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
    other = record(run, ("assistant", "Which hash?"), ("user", ARGON))
    if how != "purge":  # who says it again in another session says it anew
        ended(run, other)
    assert run("inbox", "--json").json == []
    assert [one for one in listed("main").values() if one.get("active", True)] == []


def test_what_is_retracted_is_no_longer_proposed(run: Run) -> None:
    name = record(run, ("user", "We decided to use Redis for the queue because it is fast."))
    ended(run, name)
    assert "Redis" in run("inbox").out
    assert run("session", "resume", name).code == 0
    run("session", "add", name, "Scratch that, we decided to use PostgreSQL for the queue instead.", "--role", "user")
    ended(run, name)
    assert "Redis" not in run("inbox").out


def test_an_end_that_was_killed_before_it_began_has_not_been(run: Run) -> None:
    name = record(run)
    FileSessions(Layout(".memory"), 1.0).mark_ending("main", name)
    assert run("session", "list").code == 0
    assert run("session", "show", name, "--json").json["session"]["state"] == "active"
    assert not listed("journal")


def test_what_another_process_is_ending_is_left_to_it(run: Run) -> None:
    sessions, name = FileSessions(Layout(".memory"), 1.0), record(run)
    assert run("session", "end", name).code == 0
    assert run("forget", "sessions", "-s", "journal", "-r", "--purge", "--yes").code == 0
    before = listed("journal")
    sessions.note_kept("main", name, {})
    sessions.mark_ending("main", name)
    with sessions.finishing("main"):
        assert run("session", "list").code == 0
        assert listed("journal") == before
    assert run("session", "list").code == 0
    assert len(listed("journal")) > len(before)


def test_a_damaged_session_does_not_keep_others_from_being_ended(run: Run) -> None:
    names = sorted([record(run, title="one"), record(run, title="two")])
    sessions = FileSessions(Layout(".memory"), 1.0)
    for name in names:
        assert run("session", "end", name).code == 0
    for name in names:
        sessions.mark_ending("main", name)
        sessions.note_kept("main", name, {})
    assert run("space", "policy", "journal", "--set", "allow_delete=true").code == 0
    assert run("space", "delete", "journal").code == 0
    Path(f".memory/local/sessions/main/{names[0]}.jsonl").write_bytes(b"damaged\n")
    told = run("session", "list")
    assert f"what session {names[0]} yields is not kept yet" in told.err
    assert {one["provenance"]["session"] for one in listed("journal").values()} == {names[1]}


def test_without_grace_nothing_of_a_deleted_session_is_left(run: Run) -> None:
    name = record(run)
    assert run("space", "policy", "main", "--set", "grace_days=0").code == 0
    ended(run, name)
    assert run("recall", "argon2", "--scope", "session").code == 0
    assert run("session", "delete", name, "--yes").code == 0
    words = (b"resists", b"bcrypt", b"argon2-gpus")
    files = [path for path in Path(".memory").rglob("*") if path.is_file() and "audit" not in path.parts]
    assert [path for path in files if any(word in path.read_bytes() for word in words)] == []


def test_the_vectors_of_a_deleted_session_are_erased(run: Run) -> None:
    name = record(run, ("user", ARGON))
    assert run("recall", "argon2", "--scope", "session").code == 0
    (vectors,) = Path(".memory/local/cache/sessions/cache").glob("*.vectors")
    assert vectors.read_bytes().strip(b"\0")
    assert run("session", "delete", name, "--yes").code == 0
    assert not vectors.exists() or not vectors.read_bytes().strip(b"\0")


def test_titles_with_a_login_are_no_passwords(run: Run) -> None:
    ended(run, record(run, title="Slow login"))
    assert "redacted" not in " ".join(listed("journal"))


def test_an_empty_session_ends_without_a_memory(run: Run) -> None:
    name = run("session", "start").out.strip()
    done = ended(run, name)
    assert [done[part] for part in ("log", "episodes", "facts", "promoted")] == [[], [], [], []]


def test_facts_have_names_and_are_promoted_by_them(run: Run) -> None:
    name = record(run)
    facts = run("session", "facts", name, "--json").json
    (argon,) = [one for one in facts if one["text"] == ARGON]
    assert argon["fact"] == f"{name}#5.1"
    ended(run, name)
    assert run("session", "promote", argon["fact"]).code == 0
    (fact,) = listed("main").values()
    assert (fact["raw"], fact["provenance"]["messages"]) == (ARGON, [5, 5])
    assert ARGON not in run("inbox").out
    assert run("session", "promote", f"{name}#1.1").err.count("no fact") == 1
    assert run("session", "promote", name).code == 2


def test_the_arc_is_shown(run: Run) -> None:
    name = record(run)
    told = run("session", "arc", name, "--json").json
    assert set(told) == {"id", "beginning", "middle", "end", "key_moments"}
    assert run("session", "arc", name).out.splitlines()[0].startswith(name)
    assert "Beginning" in run("session", "arc", name).out


def test_what_was_said_is_recalled_with_the_scope_of_sessions(run: Run) -> None:
    name = record(run)
    found = run("recall", "who complains about the login?", "--scope", "session", "--json").json
    assert {one["id"] for one in found["sections"]} >= {f"{name}:000001"}
    assert {one["space"] for one in found["sections"]} == {"sessions"}
    assert not run("recall", "who complains about the login?", "--json").json["sections"]
    none = run(
        "recall", "who complains about the login?", "--scope", "session", "--exclude", "turns,episodes", "--json"
    )
    assert not none.json["sections"]
    assert run("recall", "login", "--include", "chunks").code == 2
    assert run("recall", "login", "--scope", "session", "--exclude", "nonsense").code == 2


def test_chunks_are_recalled_when_they_are_asked_for(run: Run) -> None:
    said = [("user", f"We decided that step {n} of the deploy runs in region {n}.") for n in range(31)]
    name = record(run, *said)
    asked = (
        "recall",
        "which region does step 3 of the deploy run in?",
        "--scope",
        "session",
        "--limit",
        "40",
        "--json",
    )
    kinds = {one["kind"] for one in run(*asked).json["sections"]}
    assert "chunk" not in kinds
    found = run(*asked, "--include", "chunks").json["sections"]
    assert [one["id"] for one in found if one["kind"] == "chunk"] == [f"{name}:chunks:00001"]
    asked_for = run(*asked, "--kind", "chunk").json["sections"]
    assert [one["id"] for one in asked_for] == [f"{name}:chunks:00001"]


def test_chunks_are_made_anew_when_the_policy_changes_their_size(run: Run) -> None:
    name = record(run, *(("user", f"We decided that step {n} of the deploy runs in region {n}.") for n in range(31)))
    asked = (
        "recall",
        "which region does a step of the deploy run in?",
        "--scope",
        "session",
        "--kind",
        "chunk",
        "--json",
    )

    def chunks() -> list[str]:
        return sorted(one["id"] for one in run(*asked).json["sections"])

    assert chunks() == [f"{name}:chunks:00001"]
    run("space", "policy", "main", "--set", "chunk_size=4", "--set", "recent_messages=21")
    assert chunks() == [f"{name}:chunks:00001", f"{name}:chunks:00002"]
    run("space", "policy", "main", "--unset", "chunk_size", "--unset", "recent_messages")
    assert chunks() == [f"{name}:chunks:00001"]


def test_a_deleted_session_is_gone_from_all_that_was_made_of_it(run: Run) -> None:
    name = record(run)
    ended(run, name)
    assert run("recall", "argon2", "--scope", "session", "--json").json["sections"]
    assert run("session", "delete", name, "--yes").code == 0
    assert not run("recall", "argon2 accounts", "--scope", "session", "--json").json["sections"]
    run("gc", "-s", "journal")
    left = [path for path in Path(".memory").rglob("*") if path.is_file() and b"resists GPUs" in path.read_bytes()]
    assert {path.parts[1:3] for path in left} <= {("local", "trash")}


@pytest.mark.parametrize("has_store", [True, False])
def test_facts_of_a_transcript_are_shown_without_secrets(run: Run, has_store: bool) -> None:
    if has_store:
        assert run("init").code == 0
    key = "AKIA" + "Q3EGTX7ZP5RNB2WM"
    said = f"We decided to use the key {key} for uploads because the old one expired."
    Path("talk.jsonl").write_text(json.dumps({"role": "user", "content": said}))
    result = run("session", "facts", "--from", "talk.jsonl", "--json")
    assert "[REDACTED:" in result.json[0]["text"]
    assert key not in result.out + result.err


def test_facts_of_a_transcript_are_shown_and_nothing_is_stored(run: Run) -> None:
    lines = [json.dumps({"role": role, "content": text}) for role, text in TALK]
    Path("talk.jsonl").write_text("\n".join(lines))
    told = run("session", "facts", "--from", "talk.jsonl", "--json").json
    assert {"kind": "decision", "text": ARGON, "message": 5} in [
        {name: one[name] for name in ("kind", "text", "message")} for one in told
    ]
    assert all(0 < one["confidence"] <= 1 for one in told)
    assert not Path(".memory/local/sessions").exists()


def test_what_was_promoted_is_shown_instead_of_what_the_session_yielded(run: Run) -> None:
    name = record(run)
    ended(run, name)
    run("session", "promote", f"{name}#5.1")
    found = run("recall", "which hash do new accounts use?", "--json").json["sections"]
    assert [one.get("space", "main") for one in found if one["kind"] == "decision"] == ["main"]


@pytest.mark.parametrize("error", [StoreError("the disk is full"), LockedError("locked")])
def test_what_was_said_before_is_recalled_where_nothing_can_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: MemcliError
) -> None:
    name = record(run, ("user", ARGON))
    asked = ("recall", "argon2 accounts", "--scope", "session", "--json")
    before = run(*asked).json["sections"]
    assert run("session", "add", name, "The argon2 accounts are there.").code == 0

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("memcli.app.talk.remember", fail)
    told = run(*asked)
    assert (told.code, told.json["sections"]) == (0, before)
    assert f"what was said last is not searched: {error.message}" in told.err


def test_what_was_said_is_in_no_commit(run: Run) -> None:
    record(run, ("user", ARGON))
    run("remember", "Accounts are files.", "--path", "accounts")
    for step in (
        ("init", "-q"),
        ("config", "user.email", "ann@example.com"),
        ("config", "user.name", "Ann"),
        ("add", ".memory"),
        ("commit", "-qm", "Remember"),
    ):
        subprocess.run(["git", *step], check=True)
    found = run("recall", "argon2 accounts", "--scope", "session", "--rev", "HEAD", "--json").json
    assert not found["sections"]


@pytest.mark.parametrize("damage", [b"damaged\n", None])
def test_what_is_kept_to_search_sessions_is_made_anew(run: Run, damage: bytes | None) -> None:
    name = record(run, ("user", ARGON))
    asked = ("recall", "argon2 accounts", "--scope", "session", "--json")
    before = run(*asked).json["sections"]
    kept = Path(".memory/local/cache/sessions/spaces/main.json")
    kept.write_bytes(damage or kept.read_bytes().replace(b'"kind"', b'"kind', 1))
    assert run("session", "add", name, "Thanks.").code == 0
    assert before[0] in run(*asked).json["sections"]
    kept.write_bytes(b"damaged\n")
    assert run("session", "delete", name, "--yes").code == 0
    assert not kept.exists()


def test_a_journal_that_may_hold_little_keeps_what_matters_most(run: Run) -> None:
    assert run("init").code == 0
    assert run("space", "policy", "journal", "--set", "max_objects=3").code == 0
    first = ended(run, record(run))
    assert len(first["log"]) == 1
    assert len([*first["log"], *first["episodes"], *first["facts"]]) == 3
    second = ended(run, record(run, ("user", "We decided to store prices in cents because floats lose money.")))
    assert second["compacted"] > 0
    kept = listed("journal")
    assert len(kept) == 3
    assert {one["id"] for one in second["log"]} <= {one["id"] for one in kept.values()}


DATED = (
    {"role": "user", "content": "We decided to store prices in cents because floats lose money.", "timestamp": "2024-03-05T10:00:00Z"},
    {"role": "assistant", "content": "Noted.", "timestamp": "2024-03-05T10:01:00Z"},
    {"role": "user", "content": "Never log card numbers, the auditors forbid it.", "timestamp": "2024-09-07T11:00:00+02:00"},
)  # fmt: skip


def imported(run: Run) -> str:
    Path("talk.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DATED))
    (done,) = run("session", "import", "talk.jsonl", "--json").json["sessions"]
    return str(done["id"])


def dates(memories: dict[str, dict]) -> dict[str, str]:
    return {one["raw"]: one["created_at"] for one in memories.values() if one["kind"] in ("decision", "negative")}


SAID_AT = {DATED[0]["content"]: "2024-03-05T10:00:00Z", DATED[2]["content"]: "2024-09-07T09:00:00Z"}


def test_a_fact_has_the_date_of_its_message(run: Run) -> None:
    name = imported(run)
    ended(run, name)
    assert dates(listed("journal")) == SAID_AT
    assert {one["created_at"] for one in run("inbox", "--json").json} == set(SAID_AT.values())
    assert run("inbox", "accept", "--all").code == 0
    assert dates(listed("main")) == SAID_AT


def test_a_promoted_fact_has_the_date_of_its_message(run: Run) -> None:
    name = imported(run)
    facts = run("session", "facts", name, "--json").json
    names = [one["fact"] for one in facts]
    assert run("session", "promote", *names).code == 0
    assert dates(listed("main")) == SAID_AT


def test_the_later_of_two_facts_is_recalled_first(run: Run) -> None:
    said = "We decided that builds are kept for {} days."
    for days, at in ((30, "2026-01-30T00:00:00Z"), (90, "2024-01-01T00:00:00Z")):
        name = run("session", "start").out.strip()
        run("session", "add", name, said.format(days), "--role", "user", "--at", at)
        ended(run, name)
    found = run("recall", "how many days are builds kept?", "--kind", "decision", "--json").json["sections"]
    assert [one["summary_micro"] for one in found] == [said.format(days) for days in (30, 90)]


def test_a_message_without_a_date_has_that_of_the_one_before(run: Run) -> None:
    undated = [{**one, "timestamp": None} if n == 2 else one for n, one in enumerate(DATED)]
    Path("talk.jsonl").write_text("".join(json.dumps(one) + "\n" for one in undated))
    (done,) = run("session", "import", "talk.jsonl", "--json").json["sessions"]
    ended(run, done["id"])
    assert dates(listed("journal"))[DATED[2]["content"]] == "2024-03-05T10:01:00Z"


@pytest.mark.parametrize(("at", "holds"), [("2024-01-01T00:00:00Z", False), (NOW, True)])
def test_only_what_was_said_later_takes_the_place_of_what_is_known(run: Run, at: str, holds: bool) -> None:
    run("remember", "The default region is eu-west-1.", "--kind", "decision")
    name = run("session", "start").out.strip()
    new = "We decided that the default region is now us-east-1."
    run("session", "add", name, new, "--role", "user", "--at", at)
    assert run("session", "promote", f"{name}#1.1").code == 0
    (fact,) = [one for one in listed("main").values() if one["raw"] == new]
    assert [bool(link.get("holds")) for link in fact["links"]] == [holds]
