"""The bookkeeping around every write of a space: its acts, and the erasures that follow it. After a crash, the next writer or
`check store --repair` finishes it.

Acts are the changes that writers made to a space. A writer records its own acts and those of the requests that it took from
the journal: before the write in `local/<space>.acts`, and after the write, before any writer returns, in the audit log.

An erasure removes memories from everything that memcli stores beside their space. Before the space is written without them,
their ids and the digests of their texts are written to `local/<space>.erasing`, which is removed once no trace is left.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from memcli.codec.canonical import encode, encode_line
from memcli.errors import LockedError, MemcliError, StoreError
from memcli.model.memory import Json, Memory
from memcli.model.space import Policy, Space
from memcli.policy.acts import needs_trash, parted, state_digest, trash_note
from memcli.record import replace
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
    from memcli.store.audit import AuditLog


_MAX_BYTES = 1 << 28
_LATE = "recovered"  # the field of an act that was added after a crash: "sure" or "unsure"
_ACTS, _ERASING = ".acts", ".erasing"


class Bookkeeping:
    """Records the acts of every write of the store at `layout`, and puts removed memories into the trash or erases them.

    `log` opens the audit log. `keep` stores memories in the trash and returns the name of the run. `erase` erases the traces
    of memories of a space, given as a mapping of ids to text hashes. `in_force` returns the policy as it applies here.
    """

    def __init__(
        self,
        layout: Layout,
        log: Callable[[], AuditLog],
        keep: Callable[[Space, Sequence[Severed], Sequence[Memory]], str],
        erase: Callable[[str, Mapping[str, str]], None],
        in_force: Callable[[Policy], Policy],
        warn: Callable[[str], None],
    ) -> None:
        self._layout, self.log, self._keep, self._erase = layout, log, keep, erase
        self._in_force, self._warn = in_force, warn
        self._begun: dict[str, list[dict[str, Json]]] = {}

    def settle(self, space: str, fingerprint: str, find: Callable[[str], Memory | None]) -> None:
        """Finishes the acts and erasures of a writer that died. The space has this fingerprint; `find` returns a memory of it."""
        record = _begun(self._layout, space)
        if record is not None:
            entries, late = record["entries"], []
            if fingerprint != record["before"] and not self.log().ends_with(space, entries):
                # The write happened if the space has its fingerprint. After a change by hand it has another one; then a
                # memory in the state that the acts gave it shows that the write happened.
                changes = (change for entry in entries for change in entry.get("changes", ()))
                is_there = any(change["after"] == state_digest(find(change["id"])) for change in changes)
                sure = is_there or fingerprint == record["after"]
                late = [{**entry, _LATE: "sure" if sure else "unsure"} for entry in entries]
                self._warn(
                    f"the audit log of space {space!r} lacked the changes of a command that was killed or failed; they were added"
                )
            self._append(space, late)
        hashes = _erased(self._layout, space)
        if not hashes:
            return
        # A memory that still exists was not removed: the writer died before its write.
        gone = {name: text for name, text in hashes.items() if find(name) is None}
        try:
            if gone:
                self._erase(space, gone)
                self._warn(f"finished the erasure of {len(gone)} memories that a command had begun and not ended")
            remove_file(self._path(space, _ERASING))
        except MemcliError as error:
            self._warn(f"cannot finish an earlier erasure in space {space!r} yet: {error.message} ({error.hint})")

    def begin(self, space: str, entries: list[dict[str, Json]], before: str, after: str) -> None:
        """Records, before a write, the acts that take the space from the fingerprint `before` to `after`.

        Raises OSError; then the write must not happen.
        """
        if not entries:
            return
        data = encode_line({"before": before, "after": after, "entries": entries})
        overwrite_file(self._path(space, _ACTS), data, sync=True)
        self._begun[space] = entries

    def finish(self, space: str) -> None:
        """Records the acts in the audit log after the write. A failure is only a warning: the next writer tries again."""
        if entries := self._begun.pop(space, None):
            self._append(space, entries)

    @contextmanager
    def removing(self, going: Going, after: Space | None) -> Iterator[Going]:
        """Surrounds a write that removes memories; `after` is the new header of the space, None if the space is deleted.

        Stores the removed memories in the trash before the write, and erases those that leave no trace after it. Yields
        `going` with the name of the run and the erased memories. Raises StoreError before the write; after it, StoreError if
        traces are left, LockedError if another process holds a file with them.
        """
        grace = self._in_force(going.trashed.policy).grace_days
        going = parted(going, grace)
        before, space, erased = going.trashed, going.trashed.name, going.erased
        has_run = needs_trash(going, is_whole=after is None)
        run = self._keep(before, going.severed, going.replacing) if has_run else ""
        was_tracked = before.policy.is_tracked
        is_tracked = after is None or after.policy.is_tracked
        # Before the write, so that git does not see the file even for a moment.
        if not is_tracked and (was_tracked or not before.updated_at):
            set_ignored(self._layout, space, ignored=True)
        if erased:
            hashes = {**_erased(self._layout, space), **{memory.id: memory.hash for memory in erased}}
            write_file(self._path(space, _ERASING), encode(hashes) + b"\n", 0o600, alone=True)
        going = replace(going, run=run)
        yield going
        if is_tracked and not was_tracked and not is_beside(space):
            try:
                set_ignored(self._layout, space, ignored=False)
            except (StoreError, LockedError) as error:
                self._warn(
                    f"saved, but git still ignores space {space!r}: {error.message}; "
                    f"remove the line spaces/{space}.json from {self._layout.ignore}"
                )
        if erased:
            try:
                if noted := _erased(self._layout, space):
                    self._erase(space, noted)
                    remove_file(self._path(space, _ERASING))
            except StoreError as error:
                raise StoreError(
                    f"it was removed from space {space!r}, but traces of it are left: {error.message}",
                    "`memcli check store --repair` erases them",
                ) from None
        if run:
            self._warn(trash_note(going, grace))

    def _append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        path = self._path(space, _ACTS)
        try:
            if entries:
                self.log().append(space, entries)
            # Emptied, not removed: the next write then need not flush the folder as well.
            overwrite_file(path, b"")
        except MemcliError as error:
            self._warn(f"saved, but not yet in the audit log: {error.message} ({error.hint}); the next write adds it")
        except OSError as error:
            self._warn(f"saved, but cannot write {path}: {error.strerror}")

    def _path(self, space: str, suffix: str) -> str:
        return self._layout.beside(space, f"{space}{suffix}")


def pending(layout: Layout) -> tuple[list[str], list[str]]:
    """The names of the spaces with unfinished acts, and of those with an unfinished erasure, of a writer that died or still
    works. Raises StoreError."""
    names = listed(layout.local(""))
    acts, erasing = (
        [name.removesuffix(suffix) for name in names if name.endswith(suffix)] for suffix in (_ACTS, _ERASING)
    )
    acting = [space for space in acts if _begun(layout, space) is not None]
    return sorted(acting), sorted(space for space in erasing if _erased(layout, space))


def _begun(layout: Layout, space: str) -> dict[str, Any] | None:
    """The unfinished acts of a space, with the fingerprints before and after; None if there are none."""
    # A torn file counts as none: it is flushed before the write, so that the write has not happened.
    record = _load(layout, space, _ACTS)
    shape = {"before": str, "after": str, "entries": list}
    fits = isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in shape.items())
    return record if fits else None


def _erased(layout: Layout, space: str) -> dict[str, str]:
    """The text hashes of the memories being erased, by id; empty also if the file is torn."""
    noted = _load(layout, space, _ERASING)
    if not isinstance(noted, dict):
        return {}
    return {name: text for name, text in noted.items() if isinstance(text, str)}


def _load(layout: Layout, space: str, suffix: str) -> Any:
    """The JSON value of a file of unfinished work; None if it is missing or torn. Raises StoreError."""
    path = layout.beside(space, f"{space}{suffix}")
    try:
        return json.loads(read_stored(path, "replace it with a regular file", _MAX_BYTES) or b"null")
    except (ValueError, RecursionError):
        return None


def leftovers(layout: Layout) -> Iterator[tuple[str, str, str | None]]:
    """The temporary files and folders of writers that died, in the store and its private state: the path, the path for
    messages, and the lock file of the space that it was to replace, whose holder may still write it.

    The lock file is "" if no process can still write the file, and None if that cannot be known.
    """
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
                    is_request = os.path.basename(os.path.dirname(base)) == "journal"  # `Journal.place` tries again
                    lock = "" if owner or is_request else _lock(layout, base, stem)
                    yield os.path.join(base, name), where.removeprefix(f"{FOLDER}{os.sep}"), lock


def _lock(layout: Layout, folder: str, stem: str) -> str | None:
    """The lock file of the space that the temporary file `stem` in `folder` was to replace; None if it was for no space.

    Such files are in `local/tmp`, as `.<folder>%<name>`, or beside the file of the space: in the store, or in a store within
    it such as the inbox.
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
    """Removes the temporary files of writers that died, which may contain a text that is to be erased. Raises StoreError."""
    for path, _, lock in list(leftovers(layout)):
        if not lock:
            if lock is not None:
                remove_quietly(path)
            continue
        make_folder(os.path.dirname(lock))
        with suppress(LockedError), locked(lock, "the space", wait=0):  # if it is locked, a writer uses the file
            remove_quietly(path)


def _is_alive(owner: str) -> bool:
    try:
        os.kill(int(owner), 0)
    except PermissionError:
        return True  # the process exists, and belongs to another user
    except (ValueError, OverflowError, OSError):
        return False
    return True
