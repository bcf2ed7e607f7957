"""The audit log of a space: `audit/<space>.jsonl` of the private state, one line an act.

The log is append-only, but for the paths of memories that are erased for good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from memcli.clock import Clock
from memcli.codec.audit import Link, bare, link_of, seal, without_paths
from memcli.codec.audit import entries as read_entries
from memcli.errors import MemcliError, StoreError
from memcli.model.links import Lineage
from memcli.model.memory import Json
from memcli.model.space import Touched
from memcli.policy.acts import Act, entry, without_erased
from memcli.record import Record, replace
from memcli.store.atomic import (
    append_line,
    check_appendable,
    listed,
    make_folder,
    open_own,
    read_at,
    read_stored,
    sync_folder,
    write_file,
)
from memcli.store.layout import Layout
from memcli.store.lock import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.model.links import Going
    from memcli.ports import AuditTrail


_TAIL_BYTES = 1 << 12
_FOLDER_MODE = 0o700


class Author(Record):
    """The user, the command and the clock from which the lines of the log get their author and time."""

    clock: Clock
    user: Callable[[], str]
    command: str

    def name(self) -> dict[str, Json]:
        """The user and the command, as a request has them that another writer may carry out."""
        return {"user": self.user(), "command": self.command}

    def entry(self, space: str, act: Act) -> dict[str, Json]:
        """The fields of the line for an act, without its number and hashes."""
        return entry(space, act, self.clock(), self.name())

    def entries(self, space: str, acts: Sequence[Act | None], going: Going) -> list[dict[str, Json]]:
        """The fields of the lines for the acts of one write, without the paths of the memories that it erases."""
        done = [replace(a, touched=without_erased(a.touched, going), run=going.run) for a in acts if a is not None]
        return [self.entry(space, act) for act in done]


def record_act(log: AuditTrail, warn: Callable[[str], None], space: str, entry: dict[str, Json]) -> None:
    """Appends the line of an act that is already done, so that an error is reported by `warn` only."""
    try:
        log.append(space, [entry])
    except MemcliError as error:
        warn(f"done, but not recorded in the audit log: {error.message} ({error.hint})")


class AuditLog(Record):
    """The audit logs of the store at `layout`, one for each space; `who` is the author of new lines."""

    _layout: Layout
    who: Author
    _warn: Callable[[str], None]

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        """Appends a line for an act that is already done; an error is only a warning."""
        record_act(self, self._warn, space, self.who.entry(space, Act(action, touched, policy)))

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        """Appends the lines of acts, and returns when they are on disk. Raises StoreError, LockedError."""
        path = self._path(space)
        make_folder(os.path.dirname(path), _FOLDER_MODE)
        with self._locked(space):
            try:
                link = after = _last(path)
                is_new = not link.number and not link.torn
                lines = []
                for entry in entries:
                    line = seal(entry, after)
                    lines.append(line)
                    after = Link(after.number + 1, str(json.loads(line)["hash"]))
                append_line(path, b"\n".join(lines), sync=True)
                if is_new:  # else the file itself could be missing after a power cut
                    sync_folder(os.path.dirname(path))
            except OSError as error:
                raise _unwritable(space, error) from None
        # A torn line stays, since the log is append-only; the next line has its digest.
        if torn := len(link.torn):
            self._warn(
                f"the audit log of space {space!r} ended in an incomplete line of {torn} bytes; new entries follow it"
            )

    def ends_with(self, space: str, entries: Sequence[dict[str, Json]]) -> bool:
        """Whether the last lines of the log have exactly these fields. Raises StoreError."""
        last = list(read_entries(self.read(space)))[-len(entries) :]
        return list(map(bare, last)) == list(entries)

    def check(self, space: str) -> None:
        """Raises StoreError when nothing can be appended to the log of the space."""
        path = self._path(space)
        make_folder(os.path.dirname(path), _FOLDER_MODE)
        try:
            check_appendable(path)
        except OSError as error:
            raise _unwritable(space, error) from None

    def read(self, space: str) -> bytes:
        """The bytes of the log of a space; empty if there is none. Raises StoreError."""
        return read_stored(self._path(space), "replace it with a regular file") or b""

    def spaces(self) -> list[str]:
        """The names of the spaces that have a log, sorted. Raises StoreError."""
        names = listed(os.path.dirname(self._path("")))
        return sorted(n.removesuffix(".jsonl") for n in names if n.endswith(".jsonl") and not n.startswith("."))

    def lineage(self, space: str) -> Lineage:  # noqa: ARG002 - git and hands write the files, too: nothing counts that
        """The empty lineage: a store in files has no id of its own."""
        return Lineage()

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:  # noqa: ARG002
        """All of the `numbers`: whoever can write the log can write the files of the store."""
        return numbers

    def erase(self, space: str, ids: Collection[str]) -> None:
        """Removes the paths of memories that are gone for good from the log, since a path may quote a text.

        Raises StoreError, LockedError.
        """
        path = self._path(space)
        if not os.path.exists(path):
            return
        with self._locked(space):
            before = self.read(space)
            after = without_paths(before, ids)  # the hashes cover digests of paths, so that the chain stays whole
            if after != before:
                write_file(path, after, 0o600)

    @contextmanager
    def _locked(self, space: str) -> Iterator[None]:
        """Holds the lock of the log while the block runs. Raises LockedError, StoreError."""
        while True:
            with locked(self._path(space), f"the audit log of space {space!r}") as held:
                # The log is its own lock file. `erase` replaces it, so that the lock may be on a file without a name.
                if held is not None and held.is_at(self._path(space)):
                    yield
                    return

    def _path(self, space: str) -> str:
        return self._layout.audit(f"{space}.jsonl")


def _last(path: str) -> Link:
    """The number and hash of the last line, which the next line continues, from the end of the file. Raises OSError."""
    fd = open_own(path, os.O_RDONLY)
    try:
        # The log only grows, and every write appends to it: no more than its end is read.
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
        "free some space, or check its permissions",
    )
