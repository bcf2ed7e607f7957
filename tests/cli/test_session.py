"""`memcli session`: record a conversation, read it, share it, delete it, export it, import it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from memcli.errors import CorruptError
from memcli.model.conversation import Message
from memcli.record import Record, field
from tests.cli.conftest import wrong
from tests.conftest import NOW, Result, Run

SECRET = "AKIA" + "Q3EGTX7ZP5RNB2WM"


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


def test_secrets_never_reach_the_disk(run: Run) -> None:
    name = start(run, "--title", f"the key {SECRET}")
    added = run("session", "add", f"use {SECRET}", "--speaker", SECRET)
    assert "redacted" in added.out
    assert SECRET not in file_of(name).read_text() + added.out
    assert "[REDACTED:aws_key]" in file_of(name).read_text()


def test_what_was_written_by_hand_is_not_shown_shared_or_exported(run: Run) -> None:
    name = start(run)
    with file_of(name).open("a") as file:
        file.write(json.dumps({"number": 1, "role": "user", "text": f"use {SECRET}\u001b[2J"}) + "\n")
    for arguments in (("show", name), ("show", name, "--json"), ("export", name, "--redact")):
        result = run("session", *arguments)
        assert "[REDACTED:aws_key]" in result.out
        assert SECRET not in result.out
        assert "\x1b" not in result.out
    for arguments in (("share", name), ("export", name), ("export", name, "--out", "x.jsonl")):
        refused = run("session", *arguments)
        assert (refused.code, refused.out, "1 place has some" in refused.err) == (5, "", True)
    assert not Path("x.jsonl").exists()


def test_git_sees_a_session_that_is_shared_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    subprocess.run(["git", "init", "-q", "."], check=True)
    name, other = start(run), start(run, "--title", "private")
    run("session", "add", name, "Hello")

    def seen() -> list[str]:
        done = subprocess.run(
            ["git", "status", "--short", "-uall", "--", ".memory/sessions"],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.split()[1::2]

    assert seen() == []
    assert run("session", "share", name).out == f"{name} is shared\n"
    assert seen() == [f".memory/sessions/main/{name}.jsonl"]
    assert run("session", "share", name).out == f"{name} is already shared\n"
    assert run("session", "show", name, "--json").json["session"]["shared"] is True
    assert run("session", "share", name, "--undo").out == f"{name} is private\n"
    assert seen() == []
    assert (tmp_path / ".git" / "memcli" / ".memory" / "sessions" / "main" / f"{other}.jsonl").exists()
    run("session", "share", name)
    gone = run("session", "delete", name, "--yes")
    assert f"commits that have .memory/sessions/main/{name}.jsonl keep its text" in gone.err
    assert f"{name}.jsonl" not in Path(".memory/.gitignore").read_text()


def test_deleting_a_session_takes_what_was_made_of_it(run: Run) -> None:
    name, other = start(run), start(run, "--title", "other")
    for space, session in (("main", name), ("journal", name), ("main", other)):
        path = f"{space}/{session}"
        provenance = f'provenance={{"session":"{session}"}}'
        made = run("remember", f"We use {path}.", "-s", space, "--path", path, "--set", provenance, "--yes")
        assert made.code == 0, made.err
    proposed = run("remember", "Use tabs.", "--propose", "--set", f'provenance={{"session":"{name}"}}')
    assert proposed.code == 0, proposed.err
    refused = run("session", "delete", name)
    assert refused.code == 5
    assert "and 2 memories made from it" in refused.err
    assert file_of(name).exists()
    gone = run("session", "delete", name, "--yes", "--json")
    assert [memory["path"] for memory in gone.json["memories"]] == [f"journal/{name}", f"main/{name}"]
    assert not file_of(name).exists()
    assert [memory["path"] for memory in run("list", "--json").json] == [f"main/{other}"]
    assert run("inbox", "--json").json == []
    assert run("session", "delete", other, "--yes", "--keep-memories").out == f"deleted {other}\n"
    assert len(run("list", "--json").json) == 1
    acts = [(act["action"], act["changes"][0]["id"]) for act in run("store", "audit", "--json").json]
    assert [act for act in acts if "session" in act[0]] == [
        ("start session", name), ("start session", other), ("delete session", name), ("delete session", other),
    ]  # fmt: skip
    assert run("store", "audit", "--verify").code == 0


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


class Told(Record, kw_only=True):
    """A transcript as a reader of transcripts gives it."""

    key: str
    said: tuple[Message, ...] = ()
    title: str = ""
    source: str = "codex"
    started_at: str = NOW
    cwd: str = ""
    skipped: dict[str, int] = field(default_factory=dict)
    fails: bool = False

    def messages(self) -> Iterator[Message]:
        yield from self.said
        if self.fails:
            raise CorruptError("it ends in the middle", "export it again")


class Found:
    """The transcripts of a file."""

    def __init__(self, told: list[Told]) -> None:
        self._rest = iter(told)
        self.skipped = {"damaged conversation": 2} if len(told) > 2 else {}

    def __iter__(self) -> Iterator[Told]:
        return self

    def __next__(self) -> Told:
        return next(self._rest)


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Told]]:
    """What the readers of transcripts find in each file."""
    found: dict[str, list[Told]] = {}
    from memcli.extras import transcripts

    formats, discovery = ModuleType("formats"), ModuleType("discovery")
    formats.conversations = lambda path: Found(found[path])  # type: ignore[attr-defined]
    discovery.discover = lambda home, project, environ: list(found)  # type: ignore[attr-defined]
    for module in (formats, discovery):
        monkeypatch.setitem(sys.modules, f"memcli.extras.transcripts.{module.__name__}", module)
        monkeypatch.setattr(transcripts, module.__name__, module, raising=False)
    return found


def said(*numbers: int, key: str = "m{}") -> tuple[Message, ...]:
    return tuple(Message(0, "user", f"text {n}", NOW, key=key.format(n)) for n in numbers)


def imported(run: Run, path: str, *arguments: str) -> Result:
    Path(path).touch()
    return run("session", "import", path, *arguments)


def test_a_transcript_is_imported_once_and_grows(run: Run, readers: dict[str, list[Told]]) -> None:
    readers["a"] = [Told(key="k1", said=said(1, 2, 2), title=f"the {SECRET}", skipped={"malformed line": 3})]
    first = imported(run, "a", "--json").json["sessions"][0]
    name = first.pop("id")
    assert first == {
        "status": "created", "title": "the [REDACTED:aws_key]", "source": "codex", "messages": 2, "read": 3, "added": 2,
        "skipped": {"already imported": 1, "malformed line": 3}, "redactions": {"aws_key": 1},
    }  # fmt: skip
    before = file_of(name).read_bytes()
    assert imported(run, "a").out.startswith(f"unchanged {name} (0 of 3 messages added")
    assert file_of(name).read_bytes() == before
    readers["a"] = [Told(key="k1", said=said(1, 2, 3))]
    assert imported(run, "a", "--dry-run").out.startswith(f"would be grown {name} (1 of 3")
    assert file_of(name).read_bytes() == before
    assert imported(run, "a").out.startswith(f"grown {name} (1 of 3 messages added")
    assert shown(run, name) == ["text 1", "text 2", "text 3"]
    assert run("session", "add", "Hello").code == 3  # what was imported is not the current session
    acts = [act["action"] for act in run("store", "audit", "--json").json]
    assert acts == ["import session", "import session"]


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


def test_several_conversations_of_a_file_and_several_files(run: Run, readers: dict[str, list[Told]]) -> None:
    readers["a"] = [Told(key="k1", said=said(1)), Told(key="k2", said=said(1, 2)), Told(key="k3")]
    readers["b"] = [Told(key="k4", said=said(1), fails=True)]
    readers["c"] = []
    readers["d"] = [Told(key="k5", said=said(1))]
    for name in "abcd":
        Path(name).touch()
    result = run("session", "import", "a", "b", "c", "d")
    assert result.code == 6
    assert [line.split()[0] for line in result.out.splitlines()] == ["created", "created", "empty", "created"]
    assert result.err.splitlines()[:3] == [
        "memcli: a: skipped 2 damaged conversation",
        "memcli: b: it ends in the middle (export it again)",
        "memcli: c contains no conversation (see `memcli session import --help` for the formats)",
    ]
    assert len(run("session", "list", "--json").json) == 3
    told = run("session", "import", "a", "b", "--json").json
    assert [one["status"] for one in told["sessions"]] == ["unchanged", "unchanged", "empty"]
    assert told["failed"] == [{"file": "b", "error": "it ends in the middle"}]
    readers["a"].append(Told(key="k6", said=said(1), fails=True))
    assert "stopped after 3 sessions: it ends in the middle" in run("session", "import", "a").err
    os.mkfifo("pipe")
    readers["pipe"] = []
    assert "pipe contains no conversation" in run("session", "import", "pipe").err  # nobody waits for it
    wrong = run("session", "import", "d", "--format", "chatgpt")
    assert (wrong.code, "d is of format codex, not chatgpt" in wrong.err) == (2, True)


def test_what_is_not_imported_yet_is_listed(run: Run, readers: dict[str, list[Told]]) -> None:
    readers["a"] = [Told(key="k1", said=said(1))]
    readers["b"] = [Told(key="k2", said=said(1))]
    imported(run, "a")
    assert run("session", "import", "--discover").out == "b\n"
    assert run("session", "import", "--discover", "--json").json == ["b"]
    imported(run, "b")
    assert run("session", "import", "--discover").out == ""


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
