"""`fsck` names what is wrong with the file of a session, and mends what is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.conversation import Message, Session
from memcli.store.layout import Layout, make_root
from memcli.store.repair import check_sessions
from memcli.store.sessions import FileSessions
from tests.conftest import NOW

A = b'{"at":"2026-01-31T09:30:00Z","number":1,"role":"user","text":"a"}\n'
B = b'{"key":"k","number":2,"role":"user","text":"b"}\n'
C = b'{"key":"k","number":3,"role":"user","text":"c"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_root(str(tmp_path / ".memory"))
    layout = Layout(str(tmp_path / ".memory"))
    made = FileSessions(layout, 1).start(Session("", "main", started_at=NOW))
    return Path(layout.session("main", made.id))


def layout_of(path: Path) -> Layout:
    return Layout(str(path.parents[3]))


def check(path: Path, repair: bool = False) -> list[tuple[str, bool]]:
    return [(finding.kind, mended) for finding, mended in check_sessions(layout_of(path), 1, repair)]


@pytest.mark.parametrize(
    ("lines", "kinds", "mended"),
    [
        ([A, B], [], [A, B]),
        ([A, b'{"number":2,"ro'], ["leftover"], [A]),
        ([A, b"\xff\n", b"{}\n", B], ["damaged"], [A, B]),
        ([B, A], ["numbers"], [B.replace(b"2", b"1"), A.replace(b":1,", b":2,")]),
        ([A, B, B.replace(b"2", b"3")], ["duplicate"], [A, B]),
        ([A, B, C], ["duplicate"], [A, B, C.replace(b'"key":"k",', b"")]),
        ([A, B, B, b"x"], ["numbers", "duplicate", "leftover"], [A, B]),
        ([A, b'{"at":"","number":2,"role":"user","text":""}\n'], ["damaged"], [A]),
    ],
)
def test_damage_is_named_and_mended(path: Path, lines: list[bytes], kinds: list[str], mended: list[bytes]) -> None:
    header = path.read_bytes()
    damaged = header + b"".join(lines)
    path.write_bytes(damaged)
    assert check(path) == [(kind, False) for kind in kinds]
    assert path.read_bytes() == damaged
    assert check(path, repair=True) == [(kind, True) for kind in kinds]
    assert path.read_bytes() == header + b"".join(mended)
    assert check(path) == []
    aside = list(Path(layout_of(path).local("quarantine")).glob("*"))
    assert [file.read_bytes() for file in aside] == ([damaged] if set(kinds) - {"leftover"} else [])


@pytest.mark.parametrize(
    "first", [b"", b"not a header\n", b'{"format":"memcli/session","version":1,"id":"ses_x","space":"main"}\n', b"{}\n"]
)
def test_a_wrong_first_line_is_made_anew(path: Path, first: bytes) -> None:
    path.write_bytes(first + (A if first else b""))
    assert check(path, repair=True) == [("header", True)]
    assert check(path) == []
    session = FileSessions(layout_of(path), 1).open("main", path.stem)
    assert (session.id, session.messages) == (path.stem, 1 if first else 0)


def test_where_only_a_torn_line_is_left_the_session_is_empty(path: Path) -> None:
    path.write_bytes(b'{"format":"memc')
    assert [kind for kind, mended in check(path, repair=True) if mended] == ["header", "leftover"]
    assert FileSessions(layout_of(path), 1).open("main", path.stem).messages == 0


def test_a_newer_file_is_left_alone(path: Path) -> None:
    newer = path.read_bytes().replace(b'"version":1', b'"version":2') + b"what this version cannot read\n"
    path.write_bytes(newer)
    assert check(path, repair=True) == [("version", False)]
    assert path.read_bytes() == newer


def test_what_is_no_session_is_named_and_left(path: Path, tmp_path: Path) -> None:
    folder = path.parent
    (folder / "notes.txt").write_text("x")
    (folder / "SES_A.jsonl").write_text("x")
    (folder / ".ses_a.jsonl.tmp-1").write_text("x")
    (folder / "ses_dir.jsonl").mkdir()
    (folder / "ses_link.jsonl").symlink_to(path)
    (folder.parent / "Not a space").mkdir()
    (folder.parent / "other").symlink_to(tmp_path, target_is_directory=True)
    found = sorted(kind for kind, mended in check(path, repair=True) if not mended)
    assert found == ["strange", "strange", "strange", "strange", "unreadable", "unreadable"]
    assert FileSessions(layout_of(path), 1).ids("main") == ["ses_dir", "ses_link", path.stem]


def test_a_sound_session_of_many_messages_has_no_findings(path: Path) -> None:
    sessions = FileSessions(layout_of(path), 1)
    sessions.append("main", path.stem, lambda _: [Message(0, "user", str(n), key=f"{n}") for n in range(500)])
    assert check(path) == []
