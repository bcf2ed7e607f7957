"""`memcli session`: record a conversation, read it, share it, end it, delete it, export it, import it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.errors import CorruptError
from memcli.extras.agents.records import Spool
from memcli.model.conversation import Message
from memcli.store.layout import Layout
from memcli.store.state import State
from tests.app.test_session import SECRET, Talk, said
from tests.cli.conftest import git, wrong
from tests.conftest import NOW, Run
from tests.extras.advice.test_session import ARGON, TALK


def start(run: Run, *arguments: str) -> str:
    result = run("session", "start", *arguments)
    assert result.code == 0, result.err
    return result.out.strip()


def shown(run: Run, name: str, *arguments: str) -> list[str]:
    return [message["text"] for message in run("session", "show", name, "--json", *arguments).json["messages"]]


def file_of(name: str, space: str = "main") -> Path:
    return Path(".memory/local/sessions", space, f"{name}.jsonl")


def test_a_conversation_is_recorded_and_read(run: Run) -> None:
    name = start(run, "--title", "Slow\nlogin")
    assert run("session", "add", name, "Why is it slow?").out == f"added {name} #1\n"
    assert run("session", "add", "--role", "assistant", stdin="Because of\nbcrypt.\n").code == 0
    assert run("session", "add", name, "-", "--role", "tool", "--at", "2026-01-02", stdin="pytest: 1 failed").code == 0
    Path("said.txt").write_text("From a file.")
    added = run("session", "add", "--file", "said.txt", "--speaker", "Ann", "--json")
    assert added.json == {
        "session": name, "number": 4, "role": "user", "text": "From a file.", "at": NOW, "speaker": "Ann",
        "redactions": {},
    }  # fmt: skip
    assert run("session", "show", name).out == (
        f"{name} Slow login\n"
        f"active · 4 messages · started {NOW}\n"
        f"\n#1 user {NOW}\n  Why is it slow?\n"
        f"\n#2 assistant {NOW}\n  Because of\n  bcrypt.\n"
        "\n#3 tool 2026-01-02T00:00:00Z\n  pytest: 1 failed\n"
        f"\n#4 user (Ann) {NOW}\n  From a file.\n"
    )
    assert shown(run, name[:8], "--from", "2", "--to", "3") == ["Because of\nbcrypt.", "pytest: 1 failed"]
    assert run("session", "list", "--json").json == [
        {"id": name, "space": "main", "title": "Slow login", "state": "active", "started_at": NOW, "messages": 4}
    ]
    assert run("status", "--stats", "--json").json["sessions"] == 1


def test_a_paused_session_takes_nothing_until_it_is_resumed(run: Run) -> None:
    name = start(run)
    assert run("session", "pause").out == f"paused {name}\n"
    assert run("session", "pause").out == f"{name} is already paused\n"
    refused = run("session", "add", "Hello")
    assert (refused.code, refused.err) == (
        4,
        f"memcli: session {name} is paused (`memcli session resume {name}` continues it)\n",
    )
    assert run("session", "resume").out == f"resumed {name}\n"
    assert run("session", "add", "Hello").code == 0
    assert shown(run, name) == ["Hello"]


def test_the_current_session_is_the_newest_or_that_of_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = run("session", "add", "Hello")
    assert (nothing.code, nothing.err.count("\n")) == (3, 1)
    old = start(run, "--freeze-clock", "2026-01-01")
    assert run("session", "add", "One").out == f"added {old} #1\n"
    new = start(run, "--freeze-clock", "2026-01-02")
    assert run("session", "add", "Two").out == f"added {new} #1\n"
    run("session", "pause", new)
    assert run("session", "add", "Three").out == f"added {old} #2\n"
    assert run("session", "resume").out == f"resumed {new}\n"
    assert run("session", "pause", new).code == 0
    monkeypatch.setenv("MEMCLI_SESSION", old[:9])
    assert run("session", "add", "Four").out == f"added {old} #3\n"
    monkeypatch.delenv("MEMCLI_SESSION")
    start(run, "--freeze-clock", "2026-01-03")
    start(run, "--freeze-clock", "2026-01-03", "--title", "at once")
    unclear = run("session", "add", "Five")
    assert (unclear.code, "2 sessions were started at the same time" in unclear.err) == (2, True)
    assert run("session", "show", "ses_").code == 2


REFUSED = [
    ("add ses_nothing Hello", 3, "no session 'ses_nothing'"), ("add mem_x Hello", 3, "no session 'mem_x'"),
    ("add Hello --role system", 2, "no role 'system'"), (["add", "  "], 2, "the message is empty"),
    ("add Hello --at soon", 2, "not a time"), ("add a\udcff", 2, "not valid UTF-8"),
    (f"add Hello --speaker {'x' * 501}", 2, "--speaker is longer than 500 characters"),
    ("add Hello --file x", 2, "cannot be used with --file"), ("add --file nothing.txt", 3, "no file 'nothing.txt'"),
    (f"start --title {'x' * 501}", 2, "the title is longer"), ("start --title a\udcff", 2, "not valid UTF-8"),
    ("start -s repo", 5, "holds only what was read from the repository"), ("show ../main", 3, "no session"),
    ("show --from 0", 2, "--from must be at least 1"), ("share ses_nothing", 3, "no session"),
    ("delete ses_nothing --yes", 3, "no session"), ("export ses_nothing", 3, "no session"),
    ("import", 2, "give either files or --discover"), ("import nothing.jsonl", 3, "no file 'nothing.jsonl'"),
    ("import x --format word", 2, "no format 'word'"),
]  # fmt: skip


def test_what_cannot_be_done_is_one_line(run: Run) -> None:
    start(run)
    assert wrong(run, REFUSED, "session") == ""


def test_secrets_are_neither_shown_nor_shared_nor_exported(run: Run) -> None:
    name = start(run)
    added = run("session", "add", f"use {SECRET}", "--speaker", SECRET)
    assert ("redacted" in added.out, SECRET in added.out) == (True, False)
    with file_of(name).open("a") as file:
        file.write(json.dumps({"number": 2, "role": "user", "text": f"use {SECRET}\u001b[2J"}) + "\n")
    for arguments in (("show", name), ("show", name, "--json"), ("export", name, "--redact")):
        result = run("session", *arguments)
        assert ("[REDACTED:aws_key]" in result.out, SECRET in result.out, "\x1b" in result.out) == (True, False, False)
    table = [
        (f"{verb} {name}{to}", 5, "1 place has some")
        for verb, to in (("share", ""), ("export", ""), ("export", " --out x"))
    ]
    assert wrong(run, table, "session") == ""
    assert not Path("x").exists()


def test_git_sees_a_session_that_is_shared_alone(run: Run, repository: Path) -> None:
    name, other = start(run), start(run, "--title", "private")
    run("session", "add", name, "Hello")

    def seen() -> list[str]:
        return git(repository, "status", "--short", "-uall", "--", ".memory/sessions").split()[1::2]

    assert seen() == []
    assert run("session", "share", name).out == f"{name} is shared\n"
    assert seen() == [f".memory/sessions/main/{name}.jsonl"]
    assert run("session", "share", name).out == f"{name} is already shared\n"
    assert run("session", "show", name, "--json").json["session"]["shared"] is True
    assert run("session", "share", name, "--undo").out == f"{name} is private\n"
    assert seen() == []
    assert (repository / ".git" / "memcli" / ".memory" / "sessions" / "main" / f"{other}.jsonl").exists()
    run("session", "share", name)
    gone = run("session", "delete", name, "--yes")
    assert f"commits that have .memory/sessions/main/{name}.jsonl keep its text" in gone.err
    assert f"{name}.jsonl" not in Path(".memory/.gitignore").read_text()


def test_a_session_and_what_was_made_of_it_is_deleted_by_a_yes(run: Run) -> None:
    name = start(run)
    made = ("--path", "made", "--set", f'provenance={{"session":"{name}"}}')
    assert run("remember", "We use tabs.", *made, "--yes").code == 0
    assert wrong(run, [(f"session delete {name}", 5, "and 1 memories made from it")]) == ""
    gone = run("session", "delete", name, "--yes", "--json").json
    assert ([memory["path"] for memory in gone["memories"]], file_of(name).exists()) == (["made"], False)
    assert run("session", "delete", start(run), "--yes", "--keep-memories").out.startswith("deleted ses_")


def test_an_export_comes_back_to_the_byte(run: Run) -> None:
    name = start(run, "--title", "Slow login")
    run("session", "add", "Why — is it slow?")
    run("session", "pause")
    run("session", "resume")
    run("session", "add", "Because.", "--role", "assistant")
    before = file_of(name).read_bytes()
    exported = run("session", "export", name, "--out", "out.jsonl", "--json")
    assert exported.json == {"id": name, "messages": 2, "path": "out.jsonl", "bytes": len(before)}
    assert run("session", "export", name).out.encode() == before == Path("out.jsonl").read_bytes()
    assert run("session", "import", "out.jsonl").out == (
        f"unchanged {name} (0 of 2 messages added; skipped 2 already imported)\n"
    )
    run("session", "delete", name, "--yes")
    assert (
        run("session", "import", "out.jsonl", "--dry-run").out == f"would be created {name} (2 of 2 messages added)\n"
    )
    assert not file_of(name).exists()
    assert run("session", "import", "out.jsonl").out == f"created {name} (2 of 2 messages added)\n"
    assert file_of(name).read_bytes() == before
    assert run("session", "import", "out.jsonl", "-s", "team").code == 0
    assert run("session", "list", "-s", "team", "--json").json[0]["messages"] == 2
    with Path("out.jsonl").open("a") as file:
        file.write('{"number":3,"role":"user","text":"More."}\n{"number":4,"ro')
    assert run("session", "import", "out.jsonl").out == (
        f"grown {name} (1 of 3 messages added; skipped 2 already imported, 1 incomplete last line)\n"
    )
    assert run("check", "store").code == 0


def test_a_file_of_another_program_grows(run: Run) -> None:
    lines = [json.dumps({"role": role, "content": f"Text of the {role}."}) for role in ("user", "assistant")]
    Path("talk.jsonl").write_text("\n".join([*lines, "not JSON", '{"role":"us']))
    done = run("session", "import", "talk.jsonl")
    assert done.out.startswith("created ses_")
    assert "(2 of 2 messages added; skipped 1 cut off, 1 malformed)" in done.out
    before = done.out.split()[1]
    Path("talk.jsonl").write_text("\n".join([*lines, "not JSON", '{"role":"user","content":"More."}']))
    assert run("session", "import", "talk.jsonl").out.startswith(f"grown {before} (1 of 3 messages added")
    assert shown(run, before) == ["Text of the user.", "Text of the assistant.", "More."]
    Path("talk.jsonl").write_text("")
    empty = run("session", "import", "talk.jsonl")
    assert (empty.code, empty.out, empty.err.count("\n")) == (2, "", 1)


class Cut(Talk):
    """A transcript that is not whole."""

    def messages(self) -> Iterator[Message]:
        yield from self.said
        raise CorruptError("it ends in the middle", "export it again")


def test_what_fails_of_several_files_keeps_no_other_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "a": [Talk(key="k1", said=said(1)), Talk(key="k2", said=said(1, 2)), Talk(key="k3")], "c": [], "pipe": [],
        "b": [Talk(key="k4", said=said(1)), Cut(key="k6", said=said(1))], "d": [Talk(key="k5", said=said(1))],
    }  # fmt: skip

    def read(path: str, skipped: Counter[str] | None = None) -> Iterator[Talk]:
        if path == "a" and skipped is not None:
            skipped["damaged conversation"] = 2
        yield from found[path]

    monkeypatch.setattr("memcli.extras.transcripts.intake.conversations", read)
    monkeypatch.setattr("memcli.extras.transcripts.intake.discover", lambda *_: ["a", "d"])
    for name in "abcd":
        Path(name).touch()
    run("init")
    assert run("session", "import", "--discover").out == "a\nd\n"
    result = run("session", "import", "a", "b", "c", "d")
    assert result.code == 6
    assert [line.split()[0] for line in result.out.splitlines()] == [
        "created", "created", "empty", "created", "created",
    ]  # fmt: skip
    assert result.err.splitlines()[:3] == [
        "memcli: a: skipped 2 damaged conversation",
        "memcli: b: it ends in the middle (export it again)",
        "memcli: c contains no conversation (see `memcli session import --help` for the formats)",
    ]
    assert (run("session", "import", "--discover").out, run("session", "import", "--discover", "--json").json) == (
        "",
        [],
    )
    again = run("session", "import", "a", "b", "--json").json
    assert [one["status"] for one in again["sessions"]] == ["unchanged", "unchanged", "empty", "unchanged"]
    assert again["failed"] == [{"file": "b", "error": "it ends in the middle"}]
    assert "stopped after 1 session: it ends in the middle" in run("session", "import", "b").err
    assert run("session", "import", "d", "--dry-run").out.startswith("would be unchanged ses_")
    assert run("session", "add", "Hello").code == 3  # what was imported is not the current session
    os.mkfifo("pipe")
    assert "pipe contains no conversation" in run("session", "import", "pipe").err  # nobody waits for it
    assert wrong(run, [("session import d --format chatgpt", 2, "d is of format codex, not chatgpt")]) == ""


def test_what_hooks_reported_is_taken_in_with_its_transcript(run: Run) -> None:
    run("init")
    line = {
        "type": "user", "uuid": "u1", "sessionId": "9f0c", "cwd": str(Path.cwd()),
        "timestamp": "2026-01-21T10:00:00Z",
    }  # fmt: skip
    Path("talk.jsonl").write_text(json.dumps({**line, "message": {"role": "user", "content": ARGON}}) + "\n")
    entry = {"at": "2026-01-30T10:00:00Z", "agent": "claude", "session": "9f0c", "cwd": str(Path.cwd()), "text": ""}
    for event in ("stop", "session-end"):
        path = str(Path("talk.jsonl").absolute())
        Spool(State(Layout(".memory"))).add({**entry, "event": event, "transcript": path})
    done = run("session", "sync", "--json").json
    assert [(one["status"], one["messages"], one["source"]) for one in done["imported"]] == [
        ("created", 1, "claude-code")
    ]
    assert [one["log"][0]["status"] for one in done["ended"]] == ["created"]
    assert run("session", "sync", "--json").json == {"imported": [], "ended": [], "failed": {}}


def test_a_damaged_session_is_listed_and_mended(run: Run) -> None:
    name, sound = start(run, "--freeze-clock", "2026-01-02"), start(run)
    run("session", "add", name, "One")
    path = file_of(name)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    listed = run("session", "list", "--json").json
    assert {one["id"]: "problem" in one for one in listed} == {name: True, sound: False}
    assert run("session", "show", name).code == 6
    assert run("session", "add", "Two").out == f"added {sound} #1\n"
    assert f"sessions/main/{name}.jsonl: 1 lines cannot be read (3)" in run("check", "store").out
    assert run("check", "store", "--repair").code == 0
    assert run("session", "add", name, "Two").out == f"added {name} #2\n"
    aside = Path(".memory/local/quarantine")
    (aside / f".{name}.jsonl.tmp-1").touch()
    (aside / "other").touch()
    assert len(list(aside.iterdir())) == 3
    assert run("session", "delete", name, "--yes").code == 0  # with its copies
    assert [file.name for file in aside.iterdir()] == ["other"]


def test_an_end_says_what_it_kept_and_what_waits(run: Run) -> None:
    name = start(run, "--title", "Accounts")
    for role, text in TALK:
        run("session", "add", name, text, "--role", role)
    (fact,) = [one for one in run("session", "facts", name, "--json").json if one["text"] == ARGON]
    assert fact["fact"] == f"{name}#5.1"
    assert set(run("session", "arc", name, "--json").json) == {"id", "beginning", "middle", "end", "key_moments"}
    assert run("session", "arc", name).out.startswith(name)
    ask = ("recall", "argon2 accounts", "--scope", "session", "--json")
    assert {one["space"] for one in run(*ask).json["sections"]} == {"sessions"}
    assert not run(*ask, "--exclude", "turns,episodes").json["sections"]
    assert run(*ask, "--include", "chunks").code == 0
    table = [
        ("login --include chunks", 2, "needs --scope"),
        ("login --scope session --exclude nonsense", 2, "nonsense"),
    ]
    assert wrong(run, table, "recall") == ""
    done = run("session", "end", name, "--outcome", "Login is fast", "--json").json
    assert ({one["space"] for one in done["log"]}, {one["status"] for one in done["promoted"]}) == (
        {"journal"},
        {"proposed"},
    )
    shown = run("session", "show", name, "--json").json["session"]
    assert (shown["state"], shown["outcome"]) == ("ended", "Login is fast")
    assert run("session", "promote", fact["fact"]).out.startswith("created mem_")
    assert wrong(run, [(f"promote {name}#2.1", 3, "no fact"), (f"promote {name}", 2, "")], "session") == ""
    assert run("session", "end", start(run)).code == 0


def test_what_was_said_or_yielded_is_in_no_commit_until_it_is_accepted(run: Run, repository: Path) -> None:
    name = start(run, "-s", "shop")
    run("session", "add", name, "We decided to use Shopify for payments because cards are slow.", "-s", "shop")
    assert run("session", "end", name, "-s", "shop").code == 0
    run("remember", "Accounts are files.", "--path", "accounts")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Remember")
    assert "shop" not in git(repository, "show", "HEAD").lower()
    assert not run("recall", "payments", "--scope", "session", "-s", "shop", "--rev", "HEAD", "--json").json["sections"]
    for command in (("status", "--stats", "-s", "shop"), ("space", "list"), ("doctor",)):
        assert "journal@shop" in run(*command).out
    for line in ("gc journal@shop", "store audit -s journal@shop", "store maintain -s shop"):
        assert run(*line.split()).code == 0
    assert "Shopify" not in run("recall", "which payments?", "--all-spaces").out
    assert wrong(run, [("export -s journal@shop --out x.json", 5, "")]) == ""
    assert run("inbox", "accept", "--all", "-s", "shop").code == 0
    git(repository, "add", "-A")
    assert "Shopify" in git(repository, "diff", "--cached")
    assert [one["raw"][:22] for one in json.loads(Path(".memory/spaces/shop.json").read_text())["objects"]] == [
        "We decided to use Shop"
    ]


def test_facts_of_a_transcript_are_shown_without_secrets_and_nothing_is_stored(run: Run) -> None:
    secret = ("user", f"We decided to use the key {SECRET} for uploads because the old one expired.")
    lines = [json.dumps({"role": role, "content": text}) for role, text in (*TALK, secret)]
    Path("talk.jsonl").write_text("\n".join(lines))
    for _ in range(2):
        result = run("session", "facts", "--from", "talk.jsonl", "--json")
        assert ("decision", ARGON, 5) in [(one["kind"], one["text"], one["message"]) for one in result.json]
        assert all(0 < one["confidence"] <= 1 for one in result.json)
        assert ("[REDACTED:" in result.out, SECRET in result.out + result.err) == (True, False)
        run("init")
    assert not Path(".memory/local/sessions").exists()
