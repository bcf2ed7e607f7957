"""The audit log of a space: `.memory/audit/<space>.jsonl`, appended to; only paths of erased memories are taken out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from memcli.clock import Clock
from memcli.codec.audit import Link, link_of, seal, without_paths
from memcli.errors import MemcliError, StoreError
from memcli.model.memory import Json
from memcli.model.space import Touched
from memcli.store.atomic import append_line, check_appendable, make_folder, read_at, read_regular, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked

_TAIL_BYTES = 1 << 12
_LISTED = 50
"""So many new memories are listed one by one; of more a line holds the count and a digest."""
_FOLDER_MODE = 0o700


class AuditLog:
    """The audit logs of the store at `layout`, one for each space: what `user` does with `command`, by `clock`."""

    def __init__(
        self, layout: Layout, clock: Clock, user: Callable[[], str], command: str, warn: Callable[[str], None]
    ) -> None:
        self._layout = layout
        self._clock = clock
        self._user = user
        self._command = command
        self._warn = warn

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        """Appends what was done. It is done already, so a line that cannot be written is only told of.

        A deletion and what changes a policy is on disk when this returns; other lines follow within seconds.
        """
        entry: dict[str, Json] = {
            "time": self._clock(), "user": self._user(), "command": self._command, "action": action, "space": space,
            **_told(touched),
        }  # fmt: skip
        if policy is not None:
            entry["policy"] = policy
        try:
            torn = self._append(space, entry, sync=policy is not None or any(not t.after for t in touched))
        except MemcliError as error:
            self._warn(f"it is done, but stands in no audit log: {error.message} ({error.hint})")
            return
        if torn:
            self._warn(f"the audit log of space {space!r} ended in a torn line of {torn} bytes; it goes on after it")

    def check(self, space: str) -> None:
        """Raises StoreError when nothing can be appended to the log of the space."""
        path = self._path(space)
        make_folder(os.path.dirname(path), _FOLDER_MODE)
        try:
            check_appendable(path)
        except OSError as error:
            raise _unwritable(space, error) from None

    def read(self, space: str) -> bytes:
        """All of the log of a space; nothing when there is none. Raises StoreError."""
        path = self._path(space)
        try:
            return read_regular(path, -1) or b""
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}", "make it a plain file") from None

    def erase(self, space: str, ids: Collection[str]) -> None:
        """Takes the paths of these memories out of the log: they are gone for good, and a path may quote a text.

        Raises StoreError, LockedError.
        """
        path = self._path(space)
        if not os.path.exists(path):
            return
        with self._locked(space):
            before = self.read(space)
            after = b"\n".join(without_paths(line, ids) for line in before.split(b"\n"))
            if after != before:
                write_file(path, after, 0o600)

    def _append(self, space: str, entry: dict[str, Json], sync: bool) -> int:
        path = self._path(space)
        make_folder(os.path.dirname(path), _FOLDER_MODE)
        with self._locked(space):
            try:
                link = _last(path)
                append_line(path, seal(entry, link), sync)
            except OSError as error:
                raise _unwritable(space, error) from None
        return len(link.torn)

    @contextmanager
    def _locked(self, space: str) -> Iterator[None]:
        """Holds the log, which is its own lock file: one that was replaced meanwhile is let go, and the new one held."""
        while True:
            with locked(self._path(space), f"the audit log of space {space!r}") as held:
                if held is not None and held.is_at(self._path(space)):
                    yield
                    return

    def _path(self, space: str) -> str:
        return self._layout.audit(f"{space}.jsonl")


def _told(touched: Sequence[Touched]) -> dict[str, Json]:
    new = [t for t in touched if not t.before]
    if len(new) <= _LISTED:
        return {"changes": [_change(t) for t in touched]}
    digest = hashlib.sha256("".join(f"{t.id}\0{t.after}\n" for t in new).encode()).hexdigest()
    return {
        "changes": [_change(t) for t in touched if t.before],
        "created": {"count": len(new), "hash": digest},
    }


def _change(touched: Touched) -> Json:
    path = {"path": touched.path} if touched.path else {}  # of what is erased no word is kept
    return {"id": touched.id, **path, "before": touched.before, "after": touched.after}


def _last(path: str) -> Link:
    """What the next line is bound to, from as little of the end of the file as tells it. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    try:
        size = os.fstat(fd).st_size
        length = _TAIL_BYTES
        while True:
            start = max(0, size - length)
            link = link_of(read_at(fd, size - start, start), is_whole=not start)
            if link is not None:
                return link
            length *= 8
    finally:
        os.close(fd)


def _unwritable(space: str, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write the audit log of space {space!r}: {error.strerror}",
        "free some space, or check the permissions of .memory/audit",
    )
