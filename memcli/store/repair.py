"""Looks through the files of a store for damage, and mends it. What a repair changes is put aside whole first.

The quarantine: files that were damaged or came from another machine, put aside; what is erased goes from there too.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress

import orjson

from memcli.codec.bundle import read_export
from memcli.codec.canonical import encode
from memcli.codec.check import Damage, Examined, check_chain, examine, is_canonical
from memcli.codec.run import decode_run
from memcli.codec.space import CLOSE, OPEN, check_writable, decode_space, of_memory, of_space, spans
from memcli.errors import MemcliError, StoreError, UsageError
from memcli.model.names import check_space
from memcli.safety.secrets.redact_memory import redacted_file
from memcli.store.absent import absent
from memcli.store.atomic import make_folder, move_file, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.leftovers import leftovers
from memcli.store.lock import WAIT_SECONDS, HeldLock, locked
from memcli.store.pending import pending_acts, pending_erasures
from memcli.store.place import PrivatePlace
from memcli.store.private import STATE
from memcli.store.reading import read_regular
from memcli.store.session_check import check_sessions
from memcli.store.snapshot import FileSnapshot, fingerprint_of

_ID = re.compile(of_memory("id") + rb'("[^\n]*"),?\n')
_MAX_BYTES = 1 << 32


def check_store(layout: Layout, fold: Callable[[str], object], repair: bool) -> Iterator[tuple[Damage, bool]]:
    """Everything that is wrong in the store, and whether it was mended.

    `fold` makes a space take in what its journal still holds. Raises LockedError, StoreError.
    """
    names, strange = _space_names(layout)
    yield from ((finding, False) for finding in strange)
    for entry in PrivatePlace(layout).tracked():
        told = "tracked by git, so memcli ignores it (untrack it with `git rm --cached`)"
        yield Damage(entry.path, "strange", told), False
    for name, command in absent(layout.root).items():
        told = f"tracked by git, but missing from this work tree (`{command}` brings it back)"
        yield Damage(os.path.join("spaces", f"{name}.json" if name else ""), "absent", told), False
    yield from _leftovers(layout, repair)
    known = {name: _ids(layout, name) for name in names} if len(names) > 1 else {}
    pending, erasing = pending_acts(layout), pending_erasures(layout)
    for name in sorted({*names, *pending, *erasing}):
        found = check_space_file(layout, name, known, repair)
        yield from found
        left = []
        if waiting := _waiting(layout, name):
            told = f"{waiting} writers were killed before their changes were stored"
            left.append(Damage(f"local/journal/{name}", "leftover", told, repair="store them now"))
        if name in pending:
            told = "a command was killed before its changes were recorded in the audit log"
            left.append(Damage(f"local/{name}.acts", "leftover", told, repair="add them to the log"))
        if name in erasing:
            told = "a command was ended before it had erased all that it deleted"
            left.append(Damage(f"local/{name}.erasing", "leftover", told, repair="finish the erasure"))
        mends = repair and all(mended or not finding.is_damage for finding, mended in found)
        if left and mends:
            fold(name)
        yield from ((finding, mends) for finding in left)
    yield from check_sessions(layout, WAIT_SECONDS, repair)
    yield from ((finding, False) for finding in _records(layout))


def check_space_file(
    layout: Layout, name: str, known: Mapping[str, frozenset[str]], repair: bool
) -> list[tuple[Damage, bool]]:
    """What is wrong with the file of one space, and whether it was mended: under its lock, in one write."""
    path, where = layout.space(name), os.path.join("spaces", f"{name}.json")
    with _held(layout, name) if repair else nullcontext() as held:
        try:
            data = read_regular(path, _MAX_BYTES)
        except OSError as error:
            return [(Damage(where, "unreadable", str(error.strerror)), False)]
        if data is None:
            return []
        found = examine(data, name, where, known, mend=repair)
        mends = repair and found.mended is not None
        if mends and held is not None:
            _mend(layout, path, data, found, held)
        return [(finding, mends and bool(finding.repair)) for finding in found.findings]


def format_space(layout: Layout, name: str, check: bool) -> bool:
    """Whether the file of a space was canonical; without `check` it is now. Raises CorruptError, NotFoundError."""
    path, where = layout.space(check_space(name)), os.path.join("spaces", f"{name}.json")
    with _held(layout, name) as held:
        snapshot = FileSnapshot(name, path)
        try:
            check_writable(snapshot.load(), where)
            canonical, after = is_canonical(snapshot.read(), where)
        finally:
            snapshot.close()
        if not canonical and not check:
            held.leave(fingerprint_of(write_file(path, after, alone=True, temporary=layout.temporary)))
        return canonical


def space_names(layout: Layout, named: Iterable[str]) -> list[str]:
    """The spaces that are named, by name or by file; all of them when none is. Raises UsageError."""
    known, _ = _space_names(layout)
    chosen = []
    for text in named:
        name = os.path.basename(text).removesuffix(".json") if os.sep in text or text.endswith(".json") else text
        is_file = name != text
        if name not in known or (is_file and os.path.realpath(text) != os.path.realpath(layout.space(name))):
            raise UsageError(f"no space {text!r} in this store", "`memcli space list` lists the spaces")
        chosen.append(name)
    return chosen or known


def _mend(layout: Layout, path: str, data: bytes, found: Examined, held: HeldLock) -> None:
    if any(finding.is_damage for finding in found.findings):
        aside = layout.private("quarantine")
        make_folder(aside, 0o700)
        name, _ = os.path.splitext(os.path.basename(path))
        digest = hashlib.sha256(data).hexdigest()[:12]
        write_file(os.path.join(aside, f"{name}-{digest}.json"), redacted_file(data), 0o600)
    if found.mended:
        held.leave(fingerprint_of(write_file(path, found.mended, alone=True, temporary=layout.temporary)))
    elif found.mended is not None:
        remove_file(path)


def _space_names(layout: Layout) -> tuple[list[str], list[Damage]]:
    """The spaces, sorted, and what lies among their files and is none."""
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
    """Temporary files of writers that died."""
    for path, where, lock in leftovers(layout):
        finding = Damage(where, "leftover", "left over from an interrupted write", repair="move it to quarantine")
        if not repair:
            yield finding, False
            continue
        if lock:
            make_folder(os.path.dirname(lock))
        with locked(lock, "the space") if lock else nullcontext():  # nobody is writing it now
            if os.path.lexists(path):
                _put_aside(layout, where, path)
                yield finding, True


def _put_aside(layout: Layout, where: str, path: str) -> None:
    if where.split(os.sep, maxsplit=1)[0] == "cache" and not os.path.isdir(path):  # it can be rebuilt
        remove_file(path)
    else:
        move_file(path, layout.private("quarantine"))


def _waiting(layout: Layout, name: str) -> int:
    folder = layout.beside(name, os.path.join("journal", name))
    return sum(file.endswith((".request", ".taken")) for file in _listed(folder))


def _records(layout: Layout) -> Iterator[Damage]:
    """What is wrong with exports, the trash and the audit logs, which nothing can mend."""
    kinds: tuple[tuple[str, str, str, Callable[[bytes, str, str], object]], ...] = (
        ("exports", layout.export(""), "export", lambda data, _, where: read_export(data, where)),
        (os.path.join("local", "trash"), layout.private("trash"), "trash", lambda data, name, where: decode_run(name, data, where)),
        ("audit", layout.audit(""), "audit", lambda data, _, where: check_chain(data, where)),
    )  # fmt: skip
    for folder, path, kind, check in kinds:
        for file in _listed(path):
            where = os.path.join(folder, file)
            name, suffix = os.path.splitext(file)
            try:
                data = read_regular(os.path.join(path, file), _MAX_BYTES) if suffix in (".json", ".jsonl") else None
                told = check(data, name, where) if data is not None else None
                if isinstance(told, Damage):
                    yield told
            except OSError as error:
                yield Damage(where, "strange", str(error.strerror))
            except MemcliError as error:
                yield Damage(where, kind, error.message.removeprefix(f"{where}: "))


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}", "check its permissions") from None


@contextmanager
def _held(layout: Layout, name: str) -> Iterator[HeldLock]:
    make_folder(os.path.dirname(layout.lock(name)))
    with locked(layout.lock(name), f"space {name!r}") as held:
        assert held is not None
        yield held


def _ids(layout: Layout, name: str) -> frozenset[str]:
    """The ids in a space, found without parsing it, which a damaged file does not allow."""
    try:
        data = read_regular(layout.space(name), _MAX_BYTES) or b""
    except OSError:
        return frozenset()
    if spans(data) is None:
        with suppress(MemcliError):
            return frozenset(m.id for m in decode_space(data, name).objects)
    return frozenset(str(orjson.loads(found[1])) for found in _ID.finditer(data))


_SPACE = of_space("space")
_QUARANTINE_ID = re.compile(rb'"id":\s*("(?:[^"\\\n]|\\.)*")')
_ID_OF_MEMORY = re.compile(rb"^ {6}" + _QUARANTINE_ID.pattern, re.MULTILINE)


def erase_quarantined(layout: Layout, space: str, ids: Collection[str], warn: Callable[[str], None]) -> None:
    """Takes the memories of these ids in the space out of every file that was put aside.

    A file that is not one of a space, or too damaged to take a memory out of it, is removed, and `warn` hears of it; so is
    every database of local state, of whose torn pages nobody can say what they hold.
    Raises StoreError.
    """
    top = layout.private("quarantine")
    marks = {encode(name) for name in ids}
    try:
        for folder, _, files in os.walk(top):
            for path in (os.path.join(folder, file) for file in sorted(files)):
                is_plain = os.path.isfile(path) and not os.path.islink(path)
                if is_plain and not _erase(path, space, marks):
                    warn(
                        f"removed {os.path.relpath(path, top)} from the quarantine: it had, or may have had, what was erased"
                    )
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or top}: {error.strerror}", "check its permissions") from None


def _erase(path: str, space: str, marks: Collection[bytes]) -> bool:
    """Takes the memories out of a file; False where it had to be removed. Raises StoreError, OSError."""
    if os.path.basename(path).startswith(STATE):
        remove_file(path)
        return False
    data = read_regular(path, -1) or b""
    ids = _ID_OF_MEMORY if OPEN in data else _QUARANTINE_ID

    def is_in(part: bytes) -> bool:
        return any(found[1] in marks for found in ids.finditer(part))

    is_of_another = _SPACE in data and _SPACE + encode(space) not in data  # where the same ids may be of other memories
    if is_of_another or not is_in(data):
        return True
    first, *memories = data.split(OPEN)
    left = first + b"".join(
        memory.partition(CLOSE)[2].removeprefix(b",") if is_in(memory) else OPEN + memory for memory in memories
    )
    if not left or is_in(left):
        remove_file(path)
        return False
    write_file(path, left, 0o600)
    return True
