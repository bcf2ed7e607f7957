"""Pending work: what a writer has begun, so that the next one, or `check store --repair`, finishes it after a crash.

Acts are what writers did to a space, on their way into its audit log. Whoever makes a write also records it, for itself
and for those whose requests it took along: first in `local/<space>.acts`, before the write, then, once that is
committed, in the audit log, before anything is acknowledged.

Erasures are memories being erased from everything that memcli keeps beside their space. Before a space is written
without them, `local/<space>.erasing` names them, by ids and digests alone; it is removed once no trace is left.

What happens around every write of a space: what goes is kept, and git sees what it may see.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from memcli.codec.canonical import encode, encode_line
from memcli.codec.space import memory_digest
from memcli.errors import LockedError, MemcliError, StoreError
from memcli.model.memory import Json, Memory
from memcli.model.space import Policy, Space
from memcli.policy.acts import is_kept, parted, trash_note
from memcli.record import NamedTuple, Record, replace
from memcli.settings import is_beside
from memcli.store.atomic import (
    TEMP_MARK,
    listed,
    make_folder,
    overwrite_file,
    read_stored,
    remove_file,
    remove_quietly,
    write_file,
)
from memcli.store.layout import FOLDER, Layout, set_ignored
from memcli.store.lock import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.model.links import Going, Severed
    from memcli.ports import Shelf
    from memcli.store.audit import AuditLog


_MAX_BYTES = 1 << 28
_LATE = "recovered"
_ACTS = ".acts"


class Acts:
    """The acts of the store at `layout`, whose audit log is loaded with the first."""

    def __init__(self, layout: Layout, load_log: Callable[[], AuditLog], warn: Callable[[str], None]) -> None:
        self._layout = layout
        self.load_log = load_log
        self._warn = warn
        self._begun: dict[str, list[dict[str, Json]]] = {}

    def author(self) -> Json:
        """The user and the command, for a request that another writer may take along."""
        return self.load_log().author()

    def check(self, space: str) -> None:
        """Raises StoreError when nothing can be recorded."""
        self.load_log().check(space)

    def begin(self, space: str, entries: list[dict[str, Json]], before: str, after: str) -> None:
        """Says what a write is going to do to the space of the fingerprint `before`, which will be `after`.

        Raises OSError, and then nothing may be written.
        """
        if not entries:
            return
        data = encode_line({"before": before, "after": after, "entries": entries})
        overwrite_file(self._path(space), data, sync=True)
        self._begun[space] = entries

    def finish(self, space: str) -> None:
        """Records what the write has done. A failure is only reported: the act is done, and the next writer tries again."""
        if entries := self._begun.pop(space, None):
            self._append(space, entries)

    def settle(self, space: str, fingerprint: str, shelf: Shelf | None) -> None:
        """Finishes what a writer that died has begun. The space has this fingerprint; `shelf` is None without a space."""
        record = _begun(self._layout, space)
        if record is None:
            return
        entries, late = record["entries"], []
        if fingerprint != record["before"] and not self.load_log().ends_with(space, entries):
            sure = fingerprint == record["after"] or _is_done(entries, shelf)
            late = [{**entry, _LATE: "sure" if sure else "unsure"} for entry in entries]
            self._warn(
                f"the audit log of space {space!r} lacked the changes of a command that was killed or failed; they were added"
            )
        self._append(space, late)

    def _append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        try:
            if entries:
                self.load_log().append(space, entries)
            overwrite_file(self._path(space), b"")
        except MemcliError as error:
            self._warn(f"saved, but not yet in the audit log: {error.message} ({error.hint}); the next write adds it")
        except OSError as error:
            self._warn(f"saved, but cannot write {self._path(space)}: {error.strerror}")

    def _path(self, space: str) -> str:
        return self._layout.beside(space, f"{space}{_ACTS}")


def pending_acts(layout: Layout) -> list[str]:
    """The spaces with acts that were begun and not finished, by a writer that died or is at work. Raises StoreError."""
    return [space for space in _spaces(layout, _ACTS) if _begun(layout, space) is not None]


def _begun(layout: Layout, space: str) -> dict[str, Any] | None:
    """What was begun and not finished; None also where it was torn, before the write that it speaks of."""
    record = _load(layout.beside(space, f"{space}{_ACTS}"))
    shape = {"before": str, "after": str, "entries": list}
    fits = isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in shape.items())
    return record if fits else None


def _is_done(entries: Sequence[Json], shelf: Shelf | None) -> bool:
    """Whether a memory is as the acts would have left it, in a file that was changed by hand since."""
    changes = [change for entry in entries for change in entry.get("changes", ())]
    for change in changes:
        memory = None if shelf is None else shelf.get(change["id"])
        if change["after"] == ("" if memory is None else memory_digest(memory)):
            return True
    return False


_ERASING = ".erasing"


class Erasures(Record):
    """The erasures of the store at `layout`. `erase` erases the traces in a space of memories by their ids, each with
    the hash of its text; `warn` hears of what cannot be finished yet."""

    _layout: Layout
    _erase: Callable[[str, Mapping[str, str]], None]
    _warn: Callable[[str], None]

    def begin(self, space: str, memories: Sequence[Memory]) -> None:
        """Notes what a write is going to take out of a space for good. Raises StoreError; then nothing may be written."""
        hashes = {**_erased(self._layout, space), **{memory.id: memory.hash for memory in memories}}
        write_file(self._path(space), encode(hashes) + b"\n", 0o600, alone=True)

    def finish(self, space: str) -> None:
        """Erases what was noted. Raises StoreError, LockedError; then it stays noted."""
        if hashes := _erased(self._layout, space):
            self._erase(space, hashes)
            remove_file(self._path(space))

    def settle(self, space: str, stands: Callable[[str], bool]) -> None:
        """Finishes what a writer that died or failed had begun; what still stands in the space was not taken out."""
        hashes = _erased(self._layout, space)
        if not hashes:
            return
        gone = {name: text for name, text in hashes.items() if not stands(name)}
        try:
            if gone:
                self._erase(space, gone)
                self._warn(f"finished the erasure of {len(gone)} memories that a command had begun and not ended")
            remove_file(self._path(space))
        except MemcliError as error:
            self._warn(f"cannot finish an earlier erasure in space {space!r} yet: {error.message} ({error.hint})")

    def _path(self, space: str) -> str:
        return self._layout.beside(space, f"{space}{_ERASING}")


def pending_erasures(layout: Layout) -> list[str]:
    """The spaces with an erasure that was begun and not finished. Raises StoreError."""
    return [space for space in _spaces(layout, _ERASING) if _erased(layout, space)]


def _erased(layout: Layout, space: str) -> dict[str, str]:
    """The hashes of the texts of what is being erased, by id; empty also where it was torn."""
    noted = _load(layout.beside(space, f"{space}{_ERASING}"))
    if not isinstance(noted, dict):
        return {}
    return {name: text for name, text in noted.items() if isinstance(text, str)}


def _spaces(layout: Layout, suffix: str) -> list[str]:
    """The spaces with a file of this suffix. Raises StoreError."""
    names = listed(layout.local(""))
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))


def _load(path: str) -> Any:
    """The JSON of the file; None where there is none, or a crash tore it. Raises StoreError."""
    try:
        return json.loads(read_stored(path, "replace it with a regular file", _MAX_BYTES) or b"null")
    except (ValueError, RecursionError):
        return None


class RemovalGuard(Record):
    """Moves removed memories into the trash before a write. `keep` stores them there and returns the name of the run;
    `erasures` removes purged ones from all other files of the store. `in_force` returns the policy as it holds here."""

    _layout: Layout
    _keep: Callable[[Space, Sequence[Severed], Sequence[Memory]], str]
    _erasures: Erasures
    _in_force: Callable[[Policy], Policy]
    _warn: Callable[[str], None]

    @contextmanager
    def __call__(self, going: Going, after: Space | None) -> Iterator[Going]:
        """Around the write that makes `after` (a header; None: no space) of a space; gives what goes where.

        Raises StoreError, and then nothing was written; LockedError when it was, but a reader holds what is to go.
        """
        grace = self._in_force(going.kept.policy).grace_days
        going = parted(going, grace)
        before, erased = going.kept, going.erased
        has_run = is_kept(going, is_whole=after is None)
        run = self._keep(before, going.severed, going.replacing) if has_run else ""
        was_tracked = before.policy.is_tracked
        is_tracked = after is None or after.policy.is_tracked
        if not is_tracked and (
            was_tracked or not before.updated_at
        ):  # before the write: git must not see the file for a moment
            set_ignored(self._layout, before.name, ignored=True)
        if erased:
            self._erasures.begin(before.name, erased)
        going = replace(going, run=run)
        yield going
        if is_tracked and not was_tracked and not is_beside(before.name):
            space = before.name
            try:
                set_ignored(self._layout, space, ignored=False)
            except (StoreError, LockedError) as error:
                self._warn(
                    f"saved, but git still ignores space {space!r}: {error.message}; "
                    f"remove the line spaces/{space}.json from {self._layout.ignore}"
                )
        if erased:
            self._erase(before.name)
        if run:
            self._warn(trash_note(going, grace))

    def _erase(self, space: str) -> None:
        try:
            self._erasures.finish(space)
        except StoreError as error:
            raise StoreError(
                f"it was removed from space {space!r}, but traces of it are left: {error.message}",
                "`memcli check store --repair` erases them",
            ) from None


class Leftover(NamedTuple):
    """A temporary file or folder whose writer is not alive. `where` names it for people.

    `lock` is the lock file of the space that it was to replace, whose holder may be at work on it; empty where nobody
    can be, and None where that cannot be known.
    """

    path: str
    where: str
    lock: str | None = ""


def leftovers(layout: Layout) -> Iterator[Leftover]:
    """The temporary files of writers that died, in the store and its private state."""
    places = [(layout.root, FOLDER)]
    if not layout.private_folder.startswith(layout.root):
        places.append((layout.private_folder, layout.private_folder))
    for top, named in places:
        for base, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "quarantine")
            for name in sorted([*files, *folders]):
                stem, mark, owner = name.rpartition(TEMP_MARK)
                if mark and stem.startswith(".") and not _is_alive(owner):
                    where = os.path.normpath(os.path.join(named, os.path.relpath(base, top), name))
                    is_request = os.path.basename(os.path.dirname(base)) == "journal"  # whose writers start again
                    lock = "" if owner or is_request else _lock(layout, base, stem)
                    yield Leftover(os.path.join(base, name), where.removeprefix(f"{FOLDER}{os.sep}"), lock)


def _lock(layout: Layout, folder: str, stem: str) -> str | None:
    """The lock file of the space that a temporary file in `folder` was for; None when it was for none.

    It was made in `local/tmp`, or beside the file of the space, of the store or of one within it such as the inbox.
    """
    parent, mark, name = stem[1:].rpartition("%")
    if (parent if mark else os.path.basename(folder)) != "spaces":
        return None
    space = name.removesuffix(".json")
    top = os.path.dirname(os.path.dirname(folder) if mark else folder)
    if top in (layout.root, layout.private_folder):
        return layout.lock(space)
    return Layout(top, top).lock(space)


def remove_leftovers(layout: Layout) -> None:
    """Removes the temporary files of writers that died: they may hold a text that is being erased. Raises StoreError."""
    for path, _, lock in list(leftovers(layout)):
        if not lock:
            if lock is not None:
                remove_quietly(path)
            continue
        make_folder(os.path.dirname(lock))
        with suppress(LockedError), locked(lock, "the space", wait=0):  # else somebody is writing it
            remove_quietly(path)


def _is_alive(owner: str) -> bool:
    if os.name == "nt":  # pragma: no cover - there the signal 0 is no question
        return bool(owner)
    try:
        os.kill(int(owner), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, OSError):
        return False
    return True


class Bookkeeping(Record):
    """The steps around every write of a store: audit log, trash, erasure."""

    guard: RemovalGuard
    acts: Acts
    erasures: Erasures
