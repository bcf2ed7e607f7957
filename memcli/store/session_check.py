"""Looks through the files of sessions for damage, and mends it. What a repair changes is put aside whole first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext

from memcli.codec.check import Damage
from memcli.codec.session import VERSION, decode_entry, decode_header, encode_entry, encode_header
from memcli.digests import blake2b
from memcli.errors import CorruptError, MemcliError, StoreError, UsageError
from memcli.model.conversation import Entry, Message, Session
from memcli.model.names import check_space, is_session_id
from memcli.record import Record, field, replace
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.session_file import SessionFile, short_key
from memcli.store.sessions import SUFFIX, lock_sessions

_REBUILD = "rewrite the file; the original goes to quarantine"
_NOTES = (".deleted", ".ending", ".kept", ".lock")
"""How what is noted of the sessions of a space ends."""
_Known = dict[int, bytes]


class _Examined(Record, frozen=False):
    """What was found in a file: which lines cannot be read, how many messages have wrong numbers, or a key that another
    has, and when the first was said."""

    header: str = ""
    version: int = VERSION
    bad: list[int] = field(default_factory=list)
    misnumbered: int = 0
    repeated: int = 0
    torn: int = 0
    started_at: str = ""

    @property
    def is_sound(self) -> bool:
        return not (self.header or self.bad or self.misnumbered or self.repeated or self.torn)


def check_sessions(layout: Layout, wait: float, repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Everything that is wrong with sessions, and whether it was mended. Raises LockedError, StoreError."""
    shared, private = os.path.join(layout.root, "sessions"), layout.private("sessions")
    found = [(shared, space) for space in _listed(shared)]
    found += [(private, space) for space in _listed(private) if not space.endswith(_NOTES)]
    for top, space in found:
        folder = os.path.join(top, space)
        where = os.path.join("sessions", space)
        if os.path.islink(folder) or not os.path.isdir(folder) or not _is_space(space):
            yield Damage(where, "strange", "not a folder of sessions; memcli does not read it"), False
            continue
        for file in _listed(folder):
            name = file.removesuffix(SUFFIX)
            if name != file and is_session_id(name):
                yield from _check(layout, space, name, wait, repair)
            elif not file.startswith("."):
                yield Damage(os.path.join(where, file), "strange", "not a session; memcli does not read it"), False


def _check(layout: Layout, space: str, name: str, wait: float, repair: bool) -> Iterator[tuple[Damage, bool]]:
    where = os.path.join("sessions", space, f"{name}{SUFFIX}")
    try:
        with (
            lock_sessions(layout, space, wait) if repair else nullcontext(),
            SessionFile(layout.session(space, name), where) as file,
        ):
            found = _examine(file, Session(name, space))
            mends = repair and found.version == VERSION and not found.is_sound
            if mends:
                _mend(layout, file, Session(name, space, started_at=found.started_at), found)
            yield from ((finding, mends and bool(finding.repair)) for finding in _findings(found, where))
    except (StoreError, CorruptError) as error:
        yield Damage(where, "unreadable", error.message.removeprefix(f"cannot read {where}: ")), False


def _examine(file: SessionFile, place: Session) -> _Examined:
    found, known, number, size = _Examined(), _Known(), 0, 0
    for line_number, line in file.lines():
        size += len(line)
        if line_number == 1:
            found.header, found.version = _header_problem(line, place)
            if found.version > VERSION:
                return found
            continue
        entry = _decoded(line)
        if entry is None:
            found.bad.append(line_number)
        elif isinstance(entry, Message):
            number += 1
            found.started_at = found.started_at or entry.at
            found.misnumbered += entry.number != number
            found.repeated += _is_repeated(entry, known)
    found.header = found.header or ("" if size else "it is empty")
    found.torn = file.status.st_size - size
    return found


def _findings(found: _Examined, where: str) -> Iterator[Damage]:
    if found.version > VERSION:
        told = f"written by a newer memcli (format version {found.version}); not checked further"
        yield Damage(where, "version", told)
        return
    if found.header:
        yield Damage(where, "header", f"wrong first line: {found.header}", repair=_REBUILD)
    if found.bad:
        lines = ", ".join(map(str, found.bad[:3])) + (", ..." if len(found.bad) > 3 else "")
        yield Damage(where, "damaged", f"{len(found.bad)} lines cannot be read ({lines})", repair=_REBUILD)
    if found.misnumbered:
        told = f"{found.misnumbered} messages are not numbered in order"
        yield Damage(where, "numbers", told, repair=_REBUILD)
    if found.repeated:
        yield Damage(where, "duplicate", f"{found.repeated} messages have the key of another", repair=_REBUILD)
    if found.torn:
        told = f"{found.torn} bytes of a line that was interrupted"
        yield Damage(where, "leftover", told, repair="cut them off")


def _mend(layout: Layout, file: SessionFile, place: Session, found: _Examined) -> None:
    if found.header or found.bad or found.misnumbered or found.repeated:
        aside = layout.private("quarantine")
        make_folder(aside, 0o700)
        copy = os.path.join(aside, f"{place.id}-{file.digest()[:12]}{SUFFIX}")
        write_file(copy, file.parts(file.status.st_size), 0o600)
    write_file(layout.session(place.space, place.id), _mended(file, place, found), 0o600, temporary=layout.temporary)


def _mended(file: SessionFile, place: Session, found: _Examined) -> Iterator[bytes]:
    """The file as it should be. Messages that are there twice are dropped; of others with one key the first keeps it."""
    known, number = _Known(), 0
    for line_number, line in file.lines():
        if line_number == 1:
            yield encode_header(_header(line, place)) + b"\n" if found.header else line
            continue
        entry = _decoded(line)
        if isinstance(entry, Message):
            if _is_repeated(entry, known):
                if known[short_key(entry.key)] == _digest(entry):
                    continue
                entry = replace(entry, key="")
            number += 1
            entry = replace(entry, number=number)
        if entry is not None:
            yield encode_entry(entry) + b"\n"
    if not file.status.st_size or found.torn == file.status.st_size:
        yield encode_header(place) + b"\n"


def _header(line: bytes, place: Session) -> Session:
    try:
        return replace(decode_header(line, ""), id=place.id, space=place.space)
    except CorruptError:
        return place


def _header_problem(line: bytes, place: Session) -> tuple[str, int]:
    try:
        told = decode_header(line, "")
    except CorruptError as error:
        return error.message.removeprefix(": "), VERSION
    if told.version <= VERSION and (told.id, told.space) != (place.id, place.space):
        return f"it is of session {told.id[:80]!a} of space {told.space[:80]!a}", told.version
    return "", told.version


def _decoded(line: bytes) -> Entry | None:
    try:
        return decode_entry(line, "")
    except MemcliError:
        return None


def _is_repeated(message: Message, known: _Known) -> bool:
    """Whether a message before it has its key; notes the key."""
    if not message.key:
        return False
    key = short_key(message.key)
    if key in known:
        return True
    known[key] = _digest(message)
    return False


def _digest(message: Message) -> bytes:
    return blake2b(f"{message.role}\0{message.text}".encode(), digest_size=8).digest()


def _is_space(name: str) -> bool:
    try:
        return bool(check_space(name))
    except UsageError:
        return False


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}", "check its permissions") from None
