"""Checks the files of a store for damage, and repairs them.

Before a repair changes more than the layout of a file, the original is copied to the quarantine, a folder of the private
state.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress

import orjson

from memcli.codec.bundle import read_export
from memcli.codec.run import decode_run
from memcli.codec.session import VERSION, decode_entry, decode_header, encode_entry, encode_header
from memcli.codec.space import check_writable, decode_space, encode_space, of_memory, spans
from memcli.digests import blake2b
from memcli.errors import CorruptError, MemcliError, StoreError, UsageError
from memcli.extras.check.soundness import check_chain, examine
from memcli.model.conversation import Entry, Message, Session
from memcli.model.findings import Damage
from memcli.model.names import check_space, is_session_id
from memcli.record import Record, field, replace
from memcli.safety.secrets.redact_memory import redacted_file
from memcli.store.absent import absent
from memcli.store.atomic import fingerprint_of, listed, make_folder, move_file, read_regular, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.lock import WAIT_SECONDS, HeldLock, locked
from memcli.store.pending import leftovers, pending
from memcli.store.place import PrivatePlace
from memcli.store.sessions import SUFFIX, FileSessions, SessionFile, short_key
from memcli.store.snapshot import FileSnapshot

_ID = re.compile(of_memory("id") + rb'("[^\n]*"),?\n')
_MAX_BYTES = 1 << 32


def check_store(layout: Layout, fold: Callable[[str], object], repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Yields all damage in the store, each with whether it was repaired.

    `fold(space)` applies the requests of the space's journal and finishes its interrupted writes. Raises LockedError,
    StoreError.
    """
    names, strange = _space_names(layout)
    yield from ((finding, False) for finding in strange)
    for entry in PrivatePlace(layout).tracked():
        message = "tracked by git, so memcli ignores it (untrack it with `git rm --cached`)"
        yield Damage(entry.path, "strange", message), False
    for name, command in absent(layout.root).items():
        message = f"tracked by git, but missing from this work tree (`{command}` brings it back)"
        yield Damage(os.path.join("spaces", f"{name}.json" if name else ""), "absent", message), False
    yield from _leftovers(layout, repair)
    # Only links to other spaces need ids: a store with one space is read once.
    known = {name: _ids(layout, name) for name in names} if len(names) > 1 else {}
    acting, erasing = pending(layout)
    for name in sorted({*names, *acting, *erasing}):
        found = check_space_file(layout, name, known, repair)
        yield from found
        left = []
        journal = listed(layout.beside(name, os.path.join("journal", name)))
        if waiting := sum(file.endswith((".request", ".taken")) for file in journal):
            message = f"{waiting} writers were killed before their changes were stored"
            left.append(Damage(f"local/journal/{name}", "leftover", message, repair="store them now"))
        if name in acting:
            message = "a command was killed before its changes were recorded in the audit log"
            left.append(Damage(f"local/{name}.acts", "leftover", message, repair="add them to the log"))
        if name in erasing:
            message = "a command was ended before it had erased all that it deleted"
            left.append(Damage(f"local/{name}.erasing", "leftover", message, repair="finish the erasure"))
        # A write rewrites the file, so it waits until all damage of the file is repaired.
        mends = repair and all(mended or not finding.is_damage for finding, mended in found)
        if left and mends:
            fold(name)
        yield from ((finding, mends) for finding in left)
    yield from check_sessions(layout, WAIT_SECONDS, repair)
    yield from ((finding, False) for finding in _records(layout))


def check_space_file(
    layout: Layout, name: str, known: Mapping[str, frozenset[str]], repair: bool
) -> list[tuple[Damage, bool]]:
    """The damage in the file of one space, each with whether it was repaired. A repair is one write under the space's lock.

    `known` has the ids in each space of the store, for links between spaces. Raises LockedError, StoreError.
    """
    path, where = layout.space(name), os.path.join("spaces", f"{name}.json")
    # A check alone writes nothing, not even a lock file: the store may be read-only.
    with _held(layout, name) if repair else nullcontext() as held:
        try:
            data = read_regular(path, _MAX_BYTES)
        except OSError as error:
            return [(Damage(where, "unreadable", str(error.strerror)), False)]
        if data is None:
            return []
        found = examine(data, name, where, known, mend=repair)
        if held is None or found.mended is None:
            return [(finding, False) for finding in found.findings]
        if any(finding.is_damage for finding in found.findings):
            aside = layout.private("quarantine")
            make_folder(aside, 0o700)
            digest = hashlib.sha256(data).hexdigest()[:12]
            # Redacted, because somebody may have written a secret into the file by hand.
            write_file(os.path.join(aside, f"{name}-{digest}.json"), redacted_file(data), 0o600)
        if found.mended:
            # The lock file has the fingerprint of memcli's last write, by which the next one knows the file without reading it.
            held.leave(fingerprint_of(write_file(path, found.mended, alone=True, temporary=layout.temporary)))
        else:
            remove_file(path)
        return [(finding, bool(finding.repair)) for finding in found.findings]


def format_space(layout: Layout, name: str, check: bool) -> bool:
    """Whether the file of a space was canonical. Without `check`, it is rewritten if not. Raises CorruptError, NotFoundError,
    LockedError, StoreError."""
    path, where = layout.space(check_space(name)), os.path.join("spaces", f"{name}.json")
    with _held(layout, name) as held:
        with closing(FileSnapshot(name, path)) as snapshot:
            check_writable(snapshot.load(), where)  # a file of a newer memcli must not be rewritten
            data = snapshot.read()
        canonical = encode_space(decode_space(data, where))
        if data != canonical and not check:
            held.leave(fingerprint_of(write_file(path, canonical, alone=True, temporary=layout.temporary)))
        return data == canonical


def space_names(layout: Layout, named: Iterable[str]) -> list[str]:
    """The names of the spaces in `named`, each a name or the path of a file; without any, all spaces of the store. Raises
    UsageError for one that the store does not have."""
    known, _ = _space_names(layout)
    chosen = []
    for text in named:
        name = os.path.basename(text).removesuffix(".json") if os.sep in text or text.endswith(".json") else text
        is_file = name != text
        # A file of another store may have the name of a space of this one.
        if name not in known or (is_file and os.path.realpath(text) != os.path.realpath(layout.space(name))):
            raise UsageError(f"no space {text!r} in this store", "`memcli space list` lists the spaces")
        chosen.append(name)
    return chosen or known


def _space_names(layout: Layout) -> tuple[list[str], list[Damage]]:
    """The names of the spaces, sorted, and findings about other files in their folder."""
    names, strange = [], []
    for file in layout.space_names():
        where = os.path.join("spaces", file)
        name = file.removesuffix(".json")
        if file.startswith("."):
            continue
        if not stat.S_ISREG(os.lstat(layout.space(name)).st_mode if name != file else stat.S_IFREG):
            strange.append(Damage(where, "unreadable", "it is a link, a folder or a device; memcli does not open it"))
        elif name == file:
            strange.append(Damage(where, "strange", "not a .json file; memcli does not read it"))
        else:
            try:
                names.append(check_space(name))
            except UsageError as error:
                strange.append(Damage(where, "strange", f"{error.message}; memcli does not read it"))
    return names, strange


def _leftovers(layout: Layout, repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Yields the temporary files of killed writers, each with whether it was removed."""
    for path, where, lock in leftovers(layout):
        finding = Damage(where, "leftover", "left over from an interrupted write", repair="move it to quarantine")
        if not repair:
            yield finding, False
            continue
        if lock:
            make_folder(os.path.dirname(lock))
        # The lock excludes a writer that is at work on the file; one that ended meanwhile has taken it away.
        with locked(lock, "the space") if lock else nullcontext():
            if os.path.lexists(path):
                # The cache can be rebuilt, so nothing of it is worth a copy in the quarantine.
                if where.split(os.sep, maxsplit=1)[0] == "cache" and not os.path.isdir(path):
                    remove_file(path)
                else:
                    move_file(path, layout.private("quarantine"))
                yield finding, True


def _records(layout: Layout) -> Iterator[Damage]:
    """Yields the damage in exports, the trash and the audit logs, which cannot be repaired."""
    kinds: tuple[tuple[str, str, str, Callable[[bytes, str, str], object]], ...] = (
        ("exports", layout.export(""), "export", lambda data, _, where: read_export(data, where)),
        (os.path.join("local", "trash"), layout.private("trash"), "trash", lambda data, name, where: decode_run(name, data, where)),
        ("audit", layout.audit(""), "audit", lambda data, _, where: check_chain(data, where)),
    )  # fmt: skip
    for folder, path, kind, check in kinds:
        for file in listed(path):
            where = os.path.join(folder, file)
            name, suffix = os.path.splitext(file)
            try:
                data = read_regular(os.path.join(path, file), _MAX_BYTES) if suffix in (".json", ".jsonl") else None
                found = check(data, name, where) if data is not None else None
                if isinstance(found, Damage):
                    yield found
            except OSError as error:
                yield Damage(where, "strange", str(error.strerror))
            except MemcliError as error:
                yield Damage(where, kind, error.message.removeprefix(f"{where}: "))


@contextmanager
def _held(layout: Layout, name: str) -> Iterator[HeldLock]:
    """Holds the lock of a space. Raises LockedError, StoreError."""
    make_folder(os.path.dirname(layout.lock(name)))
    with locked(layout.lock(name), f"space {name!r}") as held:
        assert held is not None
        yield held


def _ids(layout: Layout, name: str) -> frozenset[str]:
    """The ids in the file of a space; none if it cannot be read."""
    try:
        data = read_regular(layout.space(name), _MAX_BYTES) or b""
    except OSError:
        return frozenset()
    # Searched rather than parsed where the layout permits, since a damaged file cannot be parsed.
    if spans(data) is None:
        with suppress(MemcliError):
            return frozenset(m.id for m in decode_space(data, name).objects)
    return frozenset(str(orjson.loads(found[1])) for found in _ID.finditer(data))


_REBUILD = "rewrite the file; the original goes to quarantine"
_NOTES = (".deleted", ".ending", ".kept", ".lock")
"""The endings of folders and files with marks about the sessions of a space, and of their lock."""
_Digests = dict[int, bytes]
"""By the short form of its key, the digest of the first message with that key."""


class _SessionFindings(Record, frozen=False):
    """The findings about the file of a session. `header` is what is wrong with its first line; `bad` has the numbers of
    unreadable lines; `misnumbered` and `repeated` count messages with a wrong number, or with the key of an earlier one;
    `torn` counts the bytes of an incomplete last line; `started_at` is the time of the first message."""

    header: str = ""
    version: int = VERSION
    bad: list[int] = field(default_factory=list)
    misnumbered: int = 0
    repeated: int = 0
    torn: int = 0
    started_at: str = ""


def check_sessions(layout: Layout, wait: float, repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Yields all damage in the files of sessions, each with whether it was repaired. `wait` is the longest time to wait for a
    lock, in seconds. Raises LockedError, StoreError."""
    # Both places: a shared session came with git, all others are private state.
    shared, private = os.path.join(layout.root, "sessions"), layout.private("sessions")
    found = [(shared, space) for space in listed(shared)]
    found += [(private, space) for space in listed(private) if not space.endswith(_NOTES)]
    for top, space in found:
        folder = os.path.join(top, space)
        where = os.path.join("sessions", space)
        is_space = False
        with suppress(UsageError):  # no valid name of a space
            is_space = bool(check_space(space))
        if os.path.islink(folder) or not os.path.isdir(folder) or not is_space:
            yield Damage(where, "strange", "not a folder of sessions; memcli does not read it"), False
            continue
        for file in listed(folder):
            name = file.removesuffix(SUFFIX)
            if name != file and is_session_id(name):
                yield from _check(layout, space, name, wait, repair)
            elif not file.startswith("."):
                yield Damage(os.path.join(where, file), "strange", "not a session; memcli does not read it"), False


def _check(layout: Layout, space: str, name: str, wait: float, repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Yields the damage in the file of one session, each with whether it was repaired. Raises LockedError."""
    where = os.path.join("sessions", space, f"{name}{SUFFIX}")
    try:
        with (
            FileSessions(layout, wait).locked(space) if repair else nullcontext(),
            closing(SessionFile(layout.session(space, name), where)) as file,
        ):
            found = _examine(file, Session(name, space))
            is_damaged = bool(found.header or found.bad or found.misnumbered or found.repeated)
            # A file of a newer version may be valid there, so it is never rewritten.
            mends = repair and found.version == VERSION and (is_damaged or found.torn > 0)
            if mends:
                place = Session(name, space, started_at=found.started_at)
                if is_damaged:
                    aside = layout.private("quarantine")
                    make_folder(aside, 0o700)
                    copy = os.path.join(aside, f"{place.id}-{file.digest()[:12]}{SUFFIX}")
                    write_file(copy, file.parts(file.status.st_size), 0o600)
                write_file(
                    layout.session(place.space, place.id),
                    _mended(file, place, found),
                    0o600,
                    temporary=layout.temporary,
                )
            yield from ((finding, mends and bool(finding.repair)) for finding in _findings(found, where))
    except (StoreError, CorruptError) as error:
        yield Damage(where, "unreadable", error.message.removeprefix(f"cannot read {where}: ")), False


def _examine(file: SessionFile, place: Session) -> _SessionFindings:
    """The findings about a file, which should be that of the session `place`. Raises StoreError."""
    found, known, number, size = _SessionFindings(), _Digests(), 0, 0
    for line_number, line in file.lines():
        size += len(line)
        if line_number == 1:
            try:
                header = decode_header(line, "")
            except CorruptError as error:
                found.header = error.message.removeprefix(": ")
                continue
            found.version = header.version
            if found.version > VERSION:
                return found
            if (header.id, header.space) != (place.id, place.space):
                found.header = f"it is of session {header.id[:80]!a} of space {header.space[:80]!a}"
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


def _findings(found: _SessionFindings, where: str) -> Iterator[Damage]:
    """The findings about a file as messages, each with its repair."""
    if found.version > VERSION:
        message = f"written by a newer memcli (format version {found.version}); not checked further"
        yield Damage(where, "version", message)
        return
    if found.header:
        yield Damage(where, "header", f"wrong first line: {found.header}", repair=_REBUILD)
    if found.bad:
        lines = ", ".join(map(str, found.bad[:3])) + (", ..." if len(found.bad) > 3 else "")
        yield Damage(where, "damaged", f"{len(found.bad)} lines cannot be read ({lines})", repair=_REBUILD)
    if found.misnumbered:
        message = f"{found.misnumbered} messages are not numbered in order"
        yield Damage(where, "numbers", message, repair=_REBUILD)
    if found.repeated:
        yield Damage(where, "duplicate", f"{found.repeated} messages have the key of another", repair=_REBUILD)
    if found.torn:
        message = f"{found.torn} bytes of a line that was interrupted"
        yield Damage(where, "leftover", message, repair="cut them off")


def _mended(file: SessionFile, place: Session, found: _SessionFindings) -> Iterator[bytes]:
    """The lines of the repaired file. A message that equals an earlier one with its key is dropped; another loses the key."""
    known, number = _Digests(), 0
    for line_number, line in file.lines():
        if line_number == 1:
            if found.header:
                header = place
                with suppress(CorruptError):
                    header = replace(decode_header(line, ""), id=place.id, space=place.space)
                line = encode_header(header) + b"\n"  # noqa: PLW2901 - the line as it should be
            yield line
            continue
        entry = _decoded(line)
        if isinstance(entry, Message):
            if _is_repeated(entry, known):
                if known[short_key(entry.key)] == _digest(entry):
                    continue
                # Its key names the earlier message, by which an import finds that; this one stays without.
                entry = replace(entry, key="")
            number += 1
            entry = replace(entry, number=number)
        if entry is not None:
            yield encode_entry(entry) + b"\n"
    if not file.status.st_size or found.torn == file.status.st_size:
        yield encode_header(place) + b"\n"


def _decoded(line: bytes) -> Entry | None:
    """The entry in a line; None if it cannot be read."""
    try:
        return decode_entry(line, "")
    except MemcliError:
        return None


def _is_repeated(message: Message, known: _Digests) -> bool:
    """Whether an earlier message has the key of this one; if not, adds it to `known`."""
    if not message.key:
        return False
    key = short_key(message.key)
    if key in known:
        return True
    known[key] = _digest(message)
    return False


def _digest(message: Message) -> bytes:
    return blake2b(f"{message.role}\0{message.text}".encode(), digest_size=8).digest()
