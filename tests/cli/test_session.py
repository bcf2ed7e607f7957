"""`memcli session`: record a conversation, read it, share it, end it, delete it, export it, import it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.cli.options import fill_bare
from memcli.cli.verb import find_verb
from memcli.errors import CorruptError
from memcli.model.conversation import Message
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


def test_a_secret_that_was_written_by_hand_is_not_shown(run: Run) -> None:
    name = start(run)
    assert "redacted" in run("session", "add", f"use {SECRET}", "--speaker", SECRET).out
    with file_of(name).open("a") as file:
        file.write(json.dumps({"number": 2, "role": "user", "text": f"use {SECRET}\u001b[2J"}) + "\n")
    for arguments in (("show", name), ("show", name, "--json"), ("export", name, "--redact")):
        out = run("session", *arguments).out
        assert ("[REDACTED:aws_key]" in out, SECRET in out, "\x1b" in out) == (True, False, False)
    assert wrong(run, [(f"export {name} --out x", 5, "1 place has some")], "session") == ""
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
    done = run("session", "add", "Hello")  # what was imported is not the current session
    assert (done.code, "or name one, such as the imported ses_" in done.err) == (3, True)
    os.mkfifo("pipe")
    assert "pipe contains no conversation" in run("session", "import", "pipe").err  # nobody waits for it
    assert wrong(run, [("session import d --format chatgpt", 2, "d is of format codex, not chatgpt")]) == ""


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


TEXT = "The staging port is 8123 while we debug."
QUESTION = "which port does staging use?"


@pytest.fixture
def session(run: Run) -> str:
    """A session, in which a memory was stored."""
    run("init")
    run("remember", "The production port is 443.", "--path", "ports/production", "--no-check")
    name = run("session", "start").out.strip()
    assert run("remember", TEXT, "--path", "ports/staging", "--scope", "session", "--no-check").code == 0
    return name


def recalls(run: Run, *options: str) -> bool:
    return "8123" in run("recall", QUESTION, *options).out


def test_it_is_recalled_until_its_session_ends_and_collected_then(run: Run, session: str, tmp_path: Path) -> None:
    assert recalls(run)
    assert recalls(run, "--scope", "session")
    assert "8123" in run("session", "context", QUESTION).out
    assert "8123" not in (tmp_path / ".memory" / "spaces" / "main.json").read_text()
    assert run("gc").out.count("session has ended") == 0
    run("session", "end", session)
    assert not recalls(run)
    assert not recalls(run, "--include-inactive")
    assert "8123" in run("get", "ports/staging").out
    assert "would purge" in run("gc", "--dry-run").out
    assert [one["why"] for one in run("gc", "--json").json["purged"]] == ["session"]
    assert run("get", "ports/staging").code == 3
    assert run("restore", "ports/staging", "-s", "journal").code == 0
    assert "443" in run("recall", "which port does production use?").out


def test_another_session_does_not_see_it(run: Run, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-02-01T09:30:00Z")
    other = run("session", "start").out.strip()
    assert not recalls(run)
    assert "8123" not in run("session", "context", QUESTION).out
    assert "8123" in run("session", "context", QUESTION, "--session", session).out
    for name, sees in ((session, True), (other, False), ("ses_none", False)):
        monkeypatch.setenv("MEMCLI_SESSION", name)
        assert recalls(run) == sees


def test_without_a_session_nothing_is_stored(run: Run) -> None:
    run("init")
    done = run("remember", TEXT, "--scope", "session")
    assert (done.code, "no session is active" in done.err) == (3, True)
    run("remember", TEXT, "--path", "a/b")
    assert run("edit", "a/b", "--set", "scope=session").code == 2
    ended = run("session", "start").out.strip()
    run("session", "end", ended)
    done = run("remember", "x y z.", "--scope", "session", "--session", ended)
    assert (done.code, "has ended" in done.err) == (4, True)
    assert run("list", "-s", "journal").out == ""


def test_the_end_of_a_session_that_another_clone_has_is_not_known(run: Run, session: str) -> None:
    run("remember", "Shared and short.", "--scope", "session", "-s", "main", "--path", "short/lived")
    run("session", "delete", session, "--yes", "--keep-memories")
    assert "short/lived" not in run("gc", "-s", "main").out
    assert "ports/staging" in run("gc").out
    assert "short/lived" not in run("recall", "shared and short").out
    assert "short/lived" in run("list").out


SAID = (
    ("user", "Lunch is at noon today."),
    ("assistant", "PostgreSQL has row-level security, which MySQL lacks."),
    ("user", "Then PostgreSQL it is; our tenants need row-level security. My key is AKIA" + "Q3EGTX7ZP5RNB2WM."),
)
CHOICE = "We chose PostgreSQL because tenants need row-level security."


def talk(run: Run) -> str:
    name = run("session", "start").out.strip()
    for role, text in SAID:
        run("session", "add", name, text, "--role", role)
    return name


def remembered(run: Run, *options: str, stdin: str | None = None) -> tuple[dict, list[dict]]:
    result = run("remember", CHOICE, "--json", *options, stdin=stdin)
    assert result.code == 0, result.err
    answer = result.json
    return answer, run("get", answer["id"], "--context", "--json").json[0]


def test_the_current_session_is_kept_most_relevant_first(run: Run) -> None:
    name = talk(run)
    answer, context = remembered(run, "--context")
    assert {(one["source"], one["role"]) for one in context} == {
        (f"{name}#{n}", role) for n, (role, _) in enumerate(SAID, 1)
    }
    assert context[-1]["source"] == f"{name}#1"
    similar = [one["similarity"] for one in context]
    assert similar == sorted(similar, reverse=True)
    assert all(0 <= value <= 1 for value in similar)
    assert 0 < answer["context_tokens"] <= 1000
    assert "AKIA" not in json.dumps(context)
    shown = run("get", answer["id"], "--context").out
    assert "row-level security, which MySQL lacks." in shown
    assert f"{name}#2" in shown


def test_each_line_of_a_batch_keeps_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    name = talk(run)
    lines = [{"raw": "Meals are eaten at twelve.", "path": "a"}, {"raw": CHOICE, "path": "b"}]
    batch = "".join(json.dumps(line) + "\n" for line in lines)
    answer = run("remember", "--batch", "-", "--context", "--json", stdin=batch).json
    assert all(one["context_tokens"] > 0 for one in answer["memories"])
    first, second = (run("get", path, "--context", "--json").json[0] for path in ("a", "b"))
    assert first[0]["source"] == f"{name}#1"
    assert second[0]["source"] == f"{name}#3"


def test_without_an_embedder_words_choose(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = talk(run)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    answer, context = remembered(run, "--context")
    assert context[0]["source"] == f"{name}#3"
    assert context[-1]["similarity"] == 0
    assert answer["context_tokens"] > 0


def test_a_pipe_is_kept_instead(run: Run) -> None:
    talk(run)
    _, context = remembered(run, "--context", stdin="We need row-level security for tenants.\n\nThe weather is fine.\n")
    assert [one["source"] for one in context] == ["stdin"]


def test_the_number_may_be_left_out_anywhere(run: Run) -> None:
    talk(run)
    assert run("remember", "--context", CHOICE).code == 0
    assert run("remember", "--context=50", CHOICE).code == 0
    assert run("remember", "--context", "0", CHOICE).code == 2
    assert fill_bare(["--", "--context"], find_verb("remember").options.FIELDS) == ["--", "--context"]
