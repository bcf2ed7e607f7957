"""The files of sessions: appended, imported whole, numbered without gaps, whoever writes and whoever dies; and what is
wrong with one is named, and mended where that is safe."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memcli.errors import ConflictError, CorruptError, LockedError, NotFoundError, StoreError
from memcli.extras.check.repair import check_sessions
from memcli.model.conversation import ACTIVE, ENDED, PAUSED, Message, Session, StateChange
from memcli.record import replace
from memcli.store.atomic import read_at
from memcli.store.layout import Layout
from memcli.store.sessions import FileSessions
from tests.conftest import NOW
from tests.store.conftest import at_once, fail_to_read


@pytest.fixture
def sessions(layout: Layout) -> FileSessions:
    return FileSessions(layout, 10)


def started(sessions: FileSessions, title: str = "") -> str:
    return sessions.start(Session("", "main", title, started_at=NOW)).id


def say(sessions: FileSessions, name: str, *texts: str) -> Session:
    return sessions.append("main", name, lambda _: [Message(0, "user", text) for text in texts])


def texts(sessions: FileSessions, name: str) -> list[str]:
    found = [entry for entry in sessions.entries("main", name) if isinstance(entry, Message)]
    assert [message.number for message in found] == list(range(1, len(found) + 1))
    return [message.text for message in found]


def test_what_is_added_is_read(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions, "Slow login")
    say(sessions, name, "one", "two\nlines")
    sessions.append("main", name, lambda _: [StateChange(PAUSED, NOW)])
    assert sessions.open("main", name) == Session(name, "main", "Slow login", PAUSED, NOW, messages=2)
    assert say(sessions, name, "three").state == ACTIVE
    assert texts(sessions, name) == ["one", "two\nlines", "three"]
    sessions.append("main", name, lambda _: [StateChange(ENDED, NOW, "mended")])
    assert sessions.open("main", name).outcome == "mended"
    assert os.stat(layout.session("main", name)).st_mode & 0o777 == 0o600
    assert sessions.ids("main") == [name]
    sessions.delete("main", name)
    assert sessions.ids("main") == sessions.ids("other") == []
    with pytest.raises(NotFoundError):
        sessions.open("main", name)


def test_ids_come_from_content_and_the_lowest_number_that_is_free(sessions: FileSessions) -> None:
    first, second, other = started(sessions), started(sessions), started(sessions, "b")
    assert len({first, second, other}) == 3
    sessions.delete("main", first)
    assert started(sessions) == first
    sessions.delete("main", second)
    assert started(sessions) == second


def test_an_append_reads_only_the_end(sessions: FileSessions, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    name = started(sessions)
    say(sessions, name, *(f"Message {n} of a long conversation." for n in range(2_000)))
    read = 0

    def counted(file: int, length: int, start: int) -> bytes:
        nonlocal read
        read += length
        return read_at(file, length, start)

    monkeypatch.setattr("memcli.store.sessions.read_at", counted)
    size = os.path.getsize(layout.session("main", name))
    assert say(sessions, name, "one more").messages == 2_001
    assert read <= 1 << 12 < size
    read = 0
    assert [message.number for message in sessions.tail("main", name, 20)] == list(range(1_982, 2_002))
    assert read <= 1 << 14


def test_the_last_messages_are_found_before_any_number_of_states(sessions: FileSessions) -> None:
    name = started(sessions)
    say(sessions, name, "x" * 10_000, "y")
    for _ in range(200):
        sessions.append("main", name, lambda _: [StateChange(PAUSED, NOW), StateChange(ACTIVE, NOW)])
    assert sessions.open("main", name).messages == 2
    assert [message.text for message in sessions.tail("main", name, 1)] == ["y"]
    assert len(sessions.tail("main", name, 50)) == 2
    assert sessions.tail("main", name, 0) == []


def test_a_torn_line_is_ignored_and_cut_off(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    say(sessions, name, "one", "two")
    path = Path(layout.session("main", name))
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    for end in range(header, len(whole) + 1):
        path.write_bytes(whole[:end])
        left = whole[header:end].count(b"\n")
        assert sessions.open("main", name).messages == left
        assert len(texts(sessions, name)) == left
        assert say(sessions, name, "next").messages == left + 1
        assert texts(sessions, name)[-1] == "next"
    path.write_bytes(whole + b"\0" * 9_000)  # what a power cut may leave
    assert say(sessions, name, "next").messages == 3
    assert path.read_bytes().startswith(whole)


def test_a_full_disk_leaves_what_was_there(
    sessions: FileSessions, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = started(sessions)
    say(sessions, name, "one")
    before = Path(layout.session("main", name)).read_bytes()

    monkeypatch.setattr(os, "fsync", fail_to_read)
    with pytest.raises(StoreError, match="Input/output error"):
        say(sessions, name, "two")
    assert Path(layout.session("main", name)).read_bytes() == before


def _write(root: str, name: str, who: int, count: int) -> None:
    sessions = FileSessions(Layout(root), 60)
    for n in range(count):
        say(sessions, name, f"{who}.{n}")


def test_sixteen_processes_lose_nothing(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    at_once(_write, [(layout.root, name, who, 10) for who in range(16)])
    found = texts(sessions, name)
    assert sorted(found) == sorted(f"{who}.{n}" for who in range(16) for n in range(10))
    for who in range(16):  # each in its own order
        assert [text for text in found if text.startswith(f"{who}.")] == [f"{who}.{n}" for n in range(10)]


def _write_until_killed(root: str, name: str, who: int, acknowledged: Connection) -> None:
    sessions = FileSessions(Layout(root), 60)
    for n in count():
        say(sessions, name, f"{who}.{n} {'x' * 5_000}")
        acknowledged.send(f"{who}.{n}")


def test_whoever_is_killed_what_was_acknowledged_is_there(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    context = multiprocessing.get_context("fork" if os.name == "posix" else None)
    told: list[str] = []
    for who in range(12):
        here, there = context.Pipe(duplex=False)
        writer = context.Process(target=_write_until_killed, args=(layout.root, name, who, there))
        writer.start()
        there.close()
        told += [here.recv() for _ in range(who % 4 + 1)]
        writer.kill()  # wherever it is
        writer.join()
        with suppress(EOFError):
            while True:
                told.append(here.recv())
    found = [text.split()[0] for text in texts(sessions, name)]
    assert set(told) <= set(found)
    assert len(found) == len(set(found))
    assert len(found) <= len(told) + 12
    say(sessions, name, "the end")
    assert texts(sessions, name)[-1] == "the end"
    assert not list(check_sessions(layout, 1, repair=False))


IMPORTED = Session("", "main", "T", started_at=NOW, source="codex", key="k1")


def said(*numbers: int) -> Iterator[Message]:
    return (Message(0, "user", f"text {n}", key=f"m{n}") for n in numbers)


def take_in(
    sessions: FileSessions, messages: Iterator[Message], into: Session = IMPORTED, *, dry_run: bool = False
) -> tuple[Session, int]:
    return sessions.take_in(into, messages, lambda message: message, dry_run=dry_run)


def test_what_is_known_is_not_cleaned_again(sessions: FileSessions) -> None:
    cleaned: list[str] = []

    def clean(message: Message) -> Message:
        cleaned.append(message.key)
        return replace(message, key=message.key.replace("secret", "digest"))

    for numbers in ((1, 2), (1, 2, 3)):
        sessions.take_in(IMPORTED, said(*numbers), clean)
    assert cleaned == ["m1", "m2", "m3"]
    secret = Message(0, "user", "x", key="secret")
    assert [sessions.take_in(IMPORTED, [secret, secret], clean)[1] for _ in range(2)] == [1, 0]


def test_an_import_adds_what_is_new(sessions: FileSessions) -> None:
    assert (take_in(sessions, said())[1], sessions.ids("main")) == (0, [])
    session, added = take_in(sessions, said(1, 2, 2))
    assert (session.messages, added) == (2, 2)
    assert sessions.find_imported("main", "codex", "k1") == (session, False)
    assert sessions.find_imported("main", "codex", "k2") == (None, False)
    assert take_in(sessions, said(1, 2)) == (session, 0)
    grown, added = take_in(sessions, said(1, 2, 3), dry_run=True)
    assert (grown.id, grown.messages, added) == (session.id, 3, 1)
    assert texts(sessions, session.id) == ["text 1", "text 2"]
    say(sessions, session.id, "by hand")
    sessions.append("main", session.id, lambda _: [StateChange(ENDED, NOW)])
    assert take_in(sessions, said(1, 2, 3, 4))[1] == 2
    assert texts(sessions, session.id) == ["text 1", "text 2", "by hand", "text 3", "text 4"]
    assert sessions.open("main", session.id).state == ACTIVE


def _broken() -> Iterator[Message]:
    yield from said(*range(2_000))
    raise CorruptError("the transcript ends here")


@pytest.mark.parametrize("is_new", [True, False])
def test_of_an_import_that_fails_nothing_is_stored(sessions: FileSessions, layout: Layout, is_new: bool) -> None:
    if not is_new:
        take_in(sessions, said(1))
    before = [Path(layout.session("main", name)).read_bytes() for name in sessions.ids("main")]
    with pytest.raises(CorruptError):
        take_in(sessions, _broken())
    assert [Path(layout.session("main", name)).read_bytes() for name in sessions.ids("main")] == before
    assert not [name for _, _, names in os.walk(layout.root) for name in names if ".tmp-" in name]


def test_an_import_overwrites_nothing_that_was_added_meanwhile(sessions: FileSessions) -> None:
    session, _ = take_in(sessions, said(1))

    def meanwhile() -> Iterator[Message]:
        yield from said(2)
        say(sessions, session.id, "by hand")

    with pytest.raises(LockedError, match="written meanwhile"):
        take_in(sessions, meanwhile())
    assert texts(sessions, session.id) == ["text 1", "by hand"]


def test_two_sources_with_one_id_are_two_sessions(
    sessions: FileSessions, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcli.store import sessions as module

    monkeypatch.setattr(module, "session_id", lambda *_, number=1: f"ses_{number}")
    assert take_in(sessions, said(1))[0].id == "ses_1"
    other = Session("", "main", source="codex", key="k2")
    assert take_in(sessions, said(1), other)[0].id == "ses_2"
    assert take_in(sessions, said(1, 2), other)[0].id == "ses_2"
    assert take_in(sessions, said(1))[1] == 0


def test_what_was_exported_comes_back_and_goes_on(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    sessions.append(
        "main", name, lambda _: [Message(0, "user", "a"), StateChange(PAUSED, NOW), Message(0, "tool", "b")]
    )
    told, entries = sessions.open("main", name), list(sessions.entries("main", name))
    header = Session(name, "main", started_at=NOW)
    path = Path(layout.session("main", name))
    before = path.read_bytes()
    assert sessions.restore(header, entries) == (told, 0)
    sessions.delete("main", name)
    assert sessions.restore(header, entries) == (told, 2)
    assert path.read_bytes() == before
    more = [*entries, Message(3, "user", "c"), StateChange(ENDED, NOW)]
    after, added = sessions.restore(header, more)
    assert (after.state, after.messages, added) == (ENDED, 3, 1)
    assert sessions.restore(header, entries) == (after, 0)
    with pytest.raises(ConflictError, match="other messages"):
        sessions.restore(header, [Message(1, "user", "not a")])
    with pytest.raises(ConflictError):
        sessions.restore(Session(name, "main", "Another title", started_at=NOW), entries)


def test_a_hostile_file_is_one_error(sessions: FileSessions, layout: Layout, tmp_path: Path) -> None:
    name = started(sessions)
    path, elsewhere = Path(layout.session("main", name)), tmp_path / "elsewhere"
    header = path.read_bytes()
    elsewhere.write_bytes(header)
    odd = (b"", b"\n", b"\0" * 9_000, b"\xff" * 9_000 + b"\n", b"x" * (3 << 20), header + b"\0\n", header + b"[]\n")
    for data in (*odd, header.replace(b'"version":1', b'"version":2')):
        path.write_bytes(data)
        with pytest.raises(CorruptError, match=rf"^sessions/main/{name}\.jsonl" if data in odd else "newer memcli"):
            say(sessions, name, "a")
        assert path.read_bytes() == data
    path.unlink()
    for make, remove in (
        (path.mkdir, path.rmdir),
        (lambda: path.symlink_to(elsewhere), path.unlink),
        (lambda: os.mkfifo(path), path.unlink),
    ):
        make()
        for act in (lambda: sessions.open("main", name), lambda: say(sessions, name, "a")):
            with pytest.raises(StoreError):
                act()
        remove()
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(StoreError, match="symbolic link"):
        started(sessions)
    assert elsewhere.read_bytes() == header
    for none in ("", "ses_", "../main", "ses_../../x", "SES_A", "ses_a/b", "ses_a\0"):
        with pytest.raises(NotFoundError):
            sessions.open("main", none)


def test_a_shared_session_lies_where_git_sees_it(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    before = Path(layout.session("main", name)).read_bytes()
    sessions.share("main", name, shared=True)
    path = Path(layout.root, "sessions", "main", f"{name}.jsonl")
    assert (path.read_bytes(), sessions.is_shared("main", name), sessions.ids("main")) == (before, True, [name])
    say(sessions, name, "One more.")
    assert path.read_bytes() != before
    sessions.share("main", name, shared=True)
    sessions.share("main", name, shared=False)
    assert not sessions.is_shared("main", name)
    assert not path.exists()
    sessions.share("main", name, shared=True)
    sessions.delete("main", name)
    assert (sessions.ids("main"), path.exists()) == ([], False)


def test_lines_of_earlier_versions_hide_no_session(sessions: FileSessions, layout: Layout) -> None:
    name = started(sessions)
    Path(layout.ignore).write_text("local/\nsessions/*/*\n!sessions/main/ses_gone.jsonl\n")
    sessions.share("main", name, shared=True)
    assert Path(layout.ignore).read_text() == "local/\n"
    Path(layout.ignore).write_text("local/\nsessions/\n")
    with pytest.raises(StoreError, match="ignores all sessions"):
        sessions.share("main", started(sessions), shared=True)


A = b'{"at":"2026-01-31T09:30:00Z","number":1,"role":"user","text":"a"}\n'
B = b'{"key":"k","number":2,"role":"user","text":"b"}\n'
C = b'{"key":"k","number":3,"role":"user","text":"c"}\n'


@pytest.fixture
def path(sessions: FileSessions, layout: Layout) -> Path:
    """The file of a new session."""
    return Path(layout.session("main", started(sessions)))


def check(layout: Layout, repair: bool = False) -> list[tuple[str, bool]]:
    return [(finding.kind, mended) for finding, mended in check_sessions(layout, 1, repair)]


DAMAGED: tuple[tuple[list[bytes], str, list[bytes]], ...] = (
    ([A, B], "", [A, B]),
    ([A, b'{"number":2,"ro'], "leftover", [A]),
    ([A, b"\xff\n", b"{}\n", B], "damaged", [A, B]),
    ([B, A], "numbers", [B.replace(b"2", b"1"), A.replace(b":1,", b":2,")]),
    ([A, B, B.replace(b"2", b"3")], "duplicate", [A, B]),
    ([A, B, C], "duplicate", [A, B, C.replace(b'"key":"k",', b"")]),
    ([A, B, B, b"x"], "numbers duplicate leftover", [A, B]),
    ([A, b'{"at":"","number":2,"role":"user","text":""}\n'], "damaged", [A]),
)


@pytest.mark.parametrize(("lines", "kinds", "mended"), DAMAGED)
def test_damage_is_named_and_mended(
    layout: Layout, path: Path, lines: list[bytes], kinds: str, mended: list[bytes]
) -> None:
    header = path.read_bytes()
    damaged = header + b"".join(lines)
    path.write_bytes(damaged)
    assert check(layout) == [(kind, False) for kind in kinds.split()]
    assert path.read_bytes() == damaged
    assert check(layout, repair=True) == [(kind, True) for kind in kinds.split()]
    assert path.read_bytes() == header + b"".join(mended)
    assert check(layout) == []
    aside = list(Path(layout.local("quarantine")).glob("*"))
    assert [file.read_bytes() for file in aside] == ([damaged] if set(kinds.split()) - {"leftover"} else [])


def test_a_wrong_first_line_is_made_anew(sessions: FileSessions, layout: Layout, path: Path) -> None:
    wrong = b'{"format":"memcli/session","version":1,"id":"ses_x","space":"main"}\n'
    for first in (b"", b"not a header\n", wrong, b"{}\n", b'{"format":"memc'):
        is_torn = first[-1:] == b"c"
        path.write_bytes(first + (A if first and not is_torn else b""))
        found = [kind for kind, mended in check(layout, repair=True) if mended]
        assert (found, check(layout)) == (["header", "leftover"] if is_torn else ["header"], [])
        session = sessions.open("main", path.stem)
        assert (session.id, session.messages) == (path.stem, 1 if first and not is_torn else 0)


def test_a_newer_file_is_left_alone(layout: Layout, path: Path) -> None:
    newer = path.read_bytes().replace(b'"version":1', b'"version":2') + b"what this version cannot read\n"
    path.write_bytes(newer)
    assert check(layout, repair=True) == [("version", False)]
    assert path.read_bytes() == newer


def test_what_is_no_session_is_named_and_left(
    sessions: FileSessions, layout: Layout, path: Path, tmp_path: Path
) -> None:
    folder = path.parent
    for name in ("notes.txt", "SES_A.jsonl", ".ses_a.jsonl.tmp-1"):
        (folder / name).write_text("x")
    (folder / "ses_dir.jsonl").mkdir()
    (folder / "ses_link.jsonl").symlink_to(path)
    (folder.parent / "Not a space").mkdir()
    (folder.parent / "other").symlink_to(tmp_path, target_is_directory=True)
    found = sorted(kind for kind, mended in check(layout, repair=True) if not mended)
    assert found == ["strange"] * 4 + ["unreadable"] * 2
    assert sessions.ids("main") == ["ses_dir", "ses_link", path.stem]
