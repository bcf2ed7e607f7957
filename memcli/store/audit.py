"""The audit log of a space: `audit/<space>.jsonl` of the private state, appended to; only paths of erased memories are taken out."""

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
    """Who writes, with which command and when, as lines of the log say it."""

    clock: Clock
    user: Callable[[], str]
    command: str

    def name(self) -> dict[str, Json]:
        """The user and the command: what a request says of its author, which another writer may take along."""
        return {"user": self.user(), "command": self.command}

    def entry(self, space: str, act: Act) -> dict[str, Json]:
        """The fields of the line for an act, without its seals."""
        return entry(space, act, self.clock(), self.name())

    def entries(self, space: str, acts: Sequence[Act | None], going: Going) -> list[dict[str, Json]]:
        """The fields of the lines for a write, without a word of what it erases."""
        done = [replace(a, touched=without_erased(a.touched, going), run=going.run) for a in acts if a is not None]
        return [self.entry(space, act) for act in done]


def record_act(log: AuditTrail, warn: Callable[[str], None], space: str, entry: dict[str, Json]) -> None:
    """Appends the line of an act that is done already, so that an error is only a warning."""
    try:
        log.append(space, [entry])
    except MemcliError as error:
        warn(f"done, but not recorded in the audit log: {error.message} ({error.hint})")


class AuditLog(Record):
    """The audit logs of the store at `layout`, one for each space: what `who` does."""

    _layout: Layout
    who: Author
    _warn: Callable[[str], None]

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        """Appends a line for an act that is done already, so that an error is only a warning."""
        record_act(self, self._warn, space, self.who.entry(space, Act(action, touched, policy)))

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        """Appends what was done; it is on disk when this returns. Raises StoreError, LockedError."""
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
                if is_new:
                    sync_folder(os.path.dirname(path))
            except OSError as error:
                raise _unwritable(space, error) from None
        if torn := len(link.torn):
            self._warn(
                f"the audit log of space {space!r} ended in an incomplete line of {torn} bytes; new entries follow it"
            )

    def ends_with(self, space: str, entries: Sequence[dict[str, Json]]) -> bool:
        """Whether the last lines of the log have just these fields. Raises StoreError."""
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
        """All of the log of a space; nothing when there is none. Raises StoreError."""
        return read_stored(self._path(space), "replace it with a regular file") or b""

    def spaces(self) -> list[str]:
        """The names of the spaces that have a log, sorted. Raises StoreError."""
        names = listed(os.path.dirname(self._path("")))
        return sorted(n.removesuffix(".jsonl") for n in names if n.endswith(".jsonl") and not n.startswith("."))

    def lineage(self, space: str) -> Lineage:  # noqa: ARG002 - git and hands write the files, too: nothing counts that
        """A store in files has no id of its own."""
        return Lineage()

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:  # noqa: ARG002
        """All of them: who writes the log may write the files."""
        return numbers

    def erase(self, space: str, ids: Collection[str]) -> None:
        """Takes the paths that these memories had out of the log: they are gone for good, and a path may quote a text.

        Raises StoreError, LockedError.
        """
        path = self._path(space)
        if not os.path.exists(path):
            return
        with self._locked(space):
            before = self.read(space)
            after = without_paths(before, ids)
            if after != before:
                write_file(path, after, 0o600)

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


def _last(path: str) -> Link:
    """What the next line is bound to, from as little of the end of the file as tells it. Raises OSError."""
    fd = open_own(path, os.O_RDONLY)
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
        "free some space, or check its permissions",
    )
