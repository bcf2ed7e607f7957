"""Sessions as files: `sessions/<space>/<id>.jsonl`, one line a message, appended under a lock of the space.

They belong to the private state; shared sessions are below `.memory/`, where git sees them.

Messages are on disk when `append` returns. Readers ignore a line that a crash tore, and the next append removes it. An
import replaces the file, so that either all of its messages are stored or none.

A session that is being ended has a file in `sessions/<space>.ending` of the private state, until all memories that it yields
are stored; the digests of these memories are in `sessions/<space>.kept`. An imported session that was deleted leaves an empty
file in `sessions/<space>.deleted`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from itertools import chain, count

from memcli.beneath import unlink
from memcli.codec.canonical import encode
from memcli.codec.session import (
    MAX_LINE,
    MEND,
    VERSION,
    check_writable,
    decode_entry,
    decode_header,
    encode_entry,
    encode_header,
    end_of,
    with_end,
)
from memcli.digests import blake2b, sha256
from memcli.errors import ConflictError, CorruptError, LockedError, MemcliError, NotFoundError, StoreError, UsageError
from memcli.model.conversation import ACTIVE, Entry, Message, Session, StateChange
from memcli.model.names import check_space, is_session_id, session_id
from memcli.record import Record, replace
from memcli.store.atomic import (
    append_after,
    make_folder,
    open_own,
    read_at,
    read_json,
    read_regular,
    remove_file,
    remove_quietly,
    sync_folder,
    write_file,
)
from memcli.store.layout import Layout, check_no_link, show_sessions
from memcli.store.lock import HeldLock, locked
from memcli.store.pending import remove_leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Mark: TypeAlias = Literal["ending", "deleted"]

_TAIL_BYTES = 1 << 12
"""How much is read first to find the end of a file; eight times as much after each failure."""
_PART_BYTES = 1 << 20


class SessionFile:
    """The open file of a session at `path`, which messages call `where`. Raises NotFoundError, StoreError."""

    def __init__(self, path: str, where: str) -> None:
        self._where = where
        try:
            self._file = os.fdopen(open_own(path, os.O_RDONLY), "rb")
        except FileNotFoundError:
            raise NotFoundError(f"no session at {where}", "`memcli session list` lists the sessions") from None
        except OSError as error:
            raise StoreError(f"cannot read {where}: {error.strerror}", "replace it with a regular file") from None
        self.status = os.fstat(self._file.fileno())

    def ends(self) -> tuple[Session, int]:
        """The session, read from both ends of the file, and the number of bytes in whole lines. Raises CorruptError."""
        header = self.header()
        if header.version > VERSION:  # its last line may have a format that this version cannot decode
            return header, self.status.st_size
        length = _TAIL_BYTES
        while True:
            start = max(0, self.status.st_size - length)
            end = end_of(read_at(self._file.fileno(), self.status.st_size - start, start), start, self._where)
            if end is not None:
                messages, change, size = end
                return with_end(header, messages, change), size
            if length > 2 * MAX_LINE:
                raise _too_long(self._where)
            length *= 8

    def header(self) -> Session:
        """The session as its first line has it, without messages and state. Raises CorruptError."""
        self._file.seek(0)
        line = self._file.readline(_PART_BYTES)
        if not line.endswith(b"\n"):
            raise CorruptError(f"{self._where}:1: the first line is not whole", MEND)
        return decode_header(line, f"{self._where}:1")

    def entries(self) -> Iterator[Entry]:
        """The messages and changes of state, in order. Raises CorruptError naming the line that cannot be read."""
        for number, line in self.lines():
            if number > 1:
                yield decode_entry(line, f"{self._where}:{number}")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The whole lines with their numbers, from 1. Raises CorruptError for one that is too long."""
        self._file.seek(0)
        number = 0
        while line := self._file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise _too_long(f"{self._where}:{number}")
            if line.endswith(b"\n"):
                yield number, line

    def tail(self, count: int) -> list[Message]:
        """The last `count` messages, read from the end of the file. Raises CorruptError."""
        size, length = self.ends()[1], _TAIL_BYTES
        while True:
            start = max(0, size - length)
            lines = read_at(self._file.fileno(), size - start, start).split(b"\n")[
                1:-1
            ]  # the first is the header, or cut
            if not start or len(lines) >= count:
                found = (decode_entry(line, self._where) for line in lines)
                messages = [entry for entry in found if isinstance(entry, Message)]
                if not start or len(messages) >= count:
                    return messages[len(messages) - count :] if count < len(messages) else messages
            length *= 8

    def parts(self, size: int) -> Iterator[bytes]:
        """The first `size` bytes, in parts of one MiB."""
        for start in range(0, size, _PART_BYTES):
            yield read_at(self._file.fileno(), min(_PART_BYTES, size - start), start)

    def digest(self) -> str:
        """SHA-256 over the bytes of the file."""
        digest = sha256()
        for part in self.parts(self.status.st_size):
            digest.update(part)
        return digest.hexdigest()

    def is_same(self, path: str) -> bool:
        """Whether the file at `path` is still this one, and has the same size."""
        with suppress(OSError):
            now = os.stat(path, follow_symlinks=False)
            return os.path.samestat(now, self.status) and now.st_size == self.status.st_size
        return False

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _too_long(where: str) -> MemcliError:
    return CorruptError(f"{where}: a line of more than {MAX_LINE >> 20} MiB", MEND)


Clean = Callable[[Message], Message]


class SessionLines:
    """Encodes entries that are added to a session, numbers the messages, and computes the session that results."""

    def __init__(self, session: Session) -> None:
        self._session, self._number = session, session.messages
        self._last: Entry | None = None

    @property
    def added(self) -> int:
        """The number of messages added."""
        return self._number - self._session.messages

    def line(self, entry: Entry) -> bytes:
        """The encoded line of the next entry; a message gets the next number."""
        if isinstance(entry, Message):
            self._number += 1
            entry = replace(entry, number=self._number)
        self._last = entry
        return encode_entry(entry) + b"\n"

    def session(self) -> Session:
        """The session with all added entries."""
        if self._last is None:
            return self._session
        change = self._last if isinstance(self._last, StateChange) else StateChange(ACTIVE)
        return with_end(self._session, self._number, change)


def unknown(messages: Iterable[Message], clean: Clean, known: set[int]) -> Iterator[Message]:
    """The messages whose keys are not in `known`, cleaned, each key once; adds their keys to `known`. See `short_key`."""
    for message in messages:
        if short_key(message.key) in known:  # looked up before cleaning, which is slow
            continue
        cleaned = clean(message)
        key = short_key(cleaned.key)
        if key not in known:
            known.add(key)
            yield cleaned


def short_key(key: str) -> int:
    """A 64-bit digest of a message's key."""
    # A session may have a million messages, whose keys as strings would take more memory.
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big")


SUFFIX = ".jsonl"
# The ending of the folder with what ends of sessions stored: without it, the next end would store a purged memory again.
_RESULTS = "kept"


class FileSessions(Record):
    """The sessions of the store at `layout`, one conversation each. All methods raise StoreError, and CorruptError for a file
    that cannot be decoded; changes are on disk when a method returns."""

    _layout: Layout
    _wait: float  # seconds to wait for a lock

    def marked(self, space: str, kind: Mark) -> list[str]:
        """The ids of the sessions with a mark of this kind, sorted."""
        try:
            return sorted(name for name in os.listdir(self._marks(space, kind)) if is_session_id(name))
        except OSError:
            return []

    def mark(self, space: str, kind: Mark, name: str) -> None:
        """Marks a session as `ending`, while its results are not stored yet, or as `deleted` after an import."""
        folder = self._marks(space, kind)
        make_folder(folder)
        write_file(os.path.join(folder, name), [b""], 0o600)

    def unmark_ending(self, space: str, name: str) -> None:
        """Records that all results of the end of a session are stored."""
        with suppress(FileNotFoundError):
            unlink(os.path.join(self._marks(space, "ending"), name))

    def results(self, space: str, name: str) -> Mapping[str, int]:
        """What earlier ends of a session have stored: versions by digests (see `app/session_end.py`)."""
        digests = read_json(os.path.join(self._marks(space, _RESULTS), f"{name}.json"))
        if not isinstance(digests, dict):
            return {}
        return {mark: version for mark, version in digests.items() if isinstance(version, int)}

    def set_results(self, space: str, name: str, results: Mapping[str, int]) -> None:
        """Records what the ends of a session have stored, until the session is deleted."""
        folder = self._marks(space, _RESULTS)
        make_folder(folder)
        write_file(os.path.join(folder, f"{name}.json"), encode(dict(results)), 0o600)

    def _marks(self, space: str, kind: str) -> str:
        """The folder with marks or results of the sessions of a space."""
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.{kind}")

    def spaces(self) -> list[str]:
        """The names of the spaces with private sessions, or marks of such, sorted."""
        names: set[str] = set()
        top = self._layout.private("sessions")
        for name in os.listdir(top) if os.path.isdir(top) else []:
            with suppress(UsageError):  # a folder that is not memcli's
                if os.path.isdir(os.path.join(top, name)):
                    stem, _, kind = name.rpartition(".")
                    names.add(check_space(stem if kind in ("ending", _RESULTS, "deleted") else name))
        return sorted(names)

    def ids(self, space: str) -> list[str]:
        """The ids of the sessions of a space, sorted."""
        names: set[str] = set()
        for shared in (False, True):
            try:
                names.update(os.listdir(self._folder(space, shared=shared)))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f"cannot read sessions/{space}: {error.strerror}", "check its permissions") from None
        found = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        return sorted(name for name in found if is_session_id(name))

    def open(self, space: str, name: str) -> Session:
        """The session, read from both ends of its file. Raises NotFoundError."""
        with self._file(space, name) as file:
            return file.ends()[0]

    def entries(self, space: str, name: str) -> Iterator[Entry]:
        """The messages and changes of state of the session, in order, read lazily. Raises NotFoundError."""
        with self._file(space, name) as file:
            yield from file.entries()

    def tail(self, space: str, name: str, count: int) -> list[Message]:
        """The last `count` messages, without reading the others. Raises NotFoundError."""
        with self._file(space, name) as file:
            return file.tail(count)

    def start(self, session: Session) -> Session:
        """Creates a session without messages, under the lowest free id. Raises LockedError."""
        with self.locked(session.space):
            made, _ = self._place(session, session.started_at, session.title)
            self._write(made, [encode_header(made) + b"\n"])
            return made

    def append(self, space: str, name: str, make: Callable[[Session], Sequence[Entry]]) -> Session:
        """Appends the entries that `make` returns for the current session, and returns the session with them. Raises
        NotFoundError, LockedError, and what `make` raises; then nothing is appended."""
        with self.locked(space):
            with self._file(space, name) as file:
                session, size = file.ends()
            check_writable(session, _where(space, name))
            lines = SessionLines(session)
            if data := b"".join(map(lines.line, make(session))):
                append_after(self._layout.session(space, name), data, size)
            return lines.session()

    def find_imported(self, space: str, source: str, key: str) -> tuple[Session | None, bool]:
        """The session that was imported from this source under this key, or None; and whether it was deleted since."""
        place, is_there = self._place(Session("", space, source=source, key=key), source, key, of_source=True)
        if is_there:
            return self.open(space, place.id), False
        return None, os.path.exists(os.path.join(self._marks(space, "deleted"), place.id))

    def take_in(
        self, session: Session, messages: Iterable[Message], clean: Clean, *, dry_run: bool = False
    ) -> tuple[Session, int]:
        """Adds to the session of this source and key the messages, cleaned, whose keys it does not have: all or none. All
        messages have keys. Creates the session if it is new and there are messages. Returns the session after that, and the
        number of messages added.

        With `dry_run`, nothing is stored. Raises LockedError, and what `messages` raises.
        """
        with self._importing(session.space):
            place, is_there = self._place(session, session.source, session.key, of_source=True)
            if not is_there:
                lines = SessionLines(place)
                new = map(lines.line, unknown(messages, clean, set()))
                self._replace(place, None, [encode_header(place) + b"\n"], new, dry_run)
                return lines.session(), lines.added
            with self._file(place.space, place.id) as file:
                there, size = file.ends()
                check_writable(there, _where(place.space, place.id))
                known = {short_key(entry.key) for entry in file.entries() if isinstance(entry, Message) and entry.key}
                lines = SessionLines(there)
                new = map(lines.line, unknown(messages, clean, known))
                self._replace(there, file, file.parts(size), new, dry_run)
                return lines.session(), lines.added

    def restore(self, session: Session, entries: Iterable[Entry], *, dry_run: bool = False) -> tuple[Session, int]:
        """Creates the session of this id with these entries, or appends those that an existing one lacks. Returns the session
        after that, and the number of messages added. Raises LockedError, ConflictError if the entries of the existing one
        differ, and what `entries` raises."""
        with self._importing(session.space):
            lines = SessionLines(session)
            new = map(lines.line, entries)
            if not os.path.lexists(self._layout.session(session.space, session.id)):
                self._replace(session, None, [encode_header(session) + b"\n"], new, dry_run)
                return lines.session(), lines.added
            with self._file(session.space, session.id) as file:
                there, size = file.ends()
                check_writable(there, _where(session.space, session.id))
                for number, line in file.lines():
                    if line != (encode_header(session) + b"\n" if number == 1 else next(new, line)):
                        raise ConflictError(
                            f"session {session.id} is there already, with other messages",
                            "delete it first (`memcli session delete`), or import it into another --space",
                        )
                before = lines.added
                is_longer = self._replace(there, file, file.parts(size), new, dry_run)
                return (lines.session(), lines.added - before) if is_longer else (there, 0)

    def delete(self, space: str, name: str) -> None:
        """Removes the session for good. Raises NotFoundError, LockedError."""
        with self.locked(space):
            self._mark_deleted(space, name)
            # After the mark: if a crash came between the two, the agent's next report would bring the session back.
            remove_file(self._layout.session(space, name))
            self.unmark_ending(space, name)
            with suppress(FileNotFoundError):
                unlink(os.path.join(self._marks(space, _RESULTS), f"{name}.json"))
        remove_leftovers(self._layout)  # imports that were killed, and repairs, leave copies of the text
        folder = self._layout.private("quarantine")
        for file in os.listdir(folder) if os.path.isdir(folder) else []:
            if file.startswith((f"{name}-", f".{name}{SUFFIX}")):
                remove_quietly(os.path.join(folder, file))

    def _mark_deleted(self, space: str, name: str) -> None:
        """Marks an imported session that leaves its place, so that the next import does not bring it back."""
        is_imported = False
        with self._file(space, name) as file, suppress(CorruptError):
            is_imported = bool(file.header().source)
        if is_imported:
            self.mark(space, "deleted", name)

    def digest(self, space: str, name: str) -> str:
        """SHA-256 over the file of a session. Raises NotFoundError, StoreError."""
        with self._file(space, name) as file:
            return file.digest()

    def stamp(self, space: str, name: str) -> str:
        """A text that differs after every change of the session. Raises NotFoundError."""
        with self._file(space, name) as file:
            return f"{file.status.st_ino}-{file.status.st_size}-{file.status.st_mtime_ns}"

    def is_shared(self, space: str, name: str) -> bool:
        """Whether git sees the file of a session."""
        return os.path.dirname(self._layout.session(space, name)) == self._layout.sessions(space, shared=True)

    def share(self, space: str, name: str, *, shared: bool) -> None:
        """Moves the file of a session to where git sees it, or back. Raises NotFoundError, LockedError, StoreError."""
        with self.locked(space):
            self._mark_deleted(space, name)
            path = self._layout.session(space, name)
            folder = self._folder(space, shared=shared)
            if os.path.dirname(path) != folder:
                if shared:
                    show_sessions(self._layout)
                make_folder(folder, 0o755 if shared else 0o700)
                data = [read_regular(path, -1) or b""]
                target = os.path.join(folder, os.path.basename(path))
                write_file(target, data, 0o600, temporary=self._layout.temporary)
                remove_file(path)

    def _place(self, session: Session, *parts: str, of_source: bool = False) -> tuple[Session, bool]:
        """The session with the first id derived from `parts` that is free, and False; or, with `of_source`, with the id of the
        existing session of its source and key, and True."""
        for number in count(1):
            placed = replace(session, id=session_id(session.space, *parts, number=number))
            if not os.path.lexists(self._layout.session(placed.space, placed.id)):
                return placed, False
            if of_source:
                with self._file(placed.space, placed.id) as file:
                    there = file.header()
                if (there.source, there.key) == (session.source, session.key):
                    return placed, True
        raise AssertionError

    def _replace(
        self,
        session: Session,
        before: SessionFile | None,
        old: Iterable[bytes],
        new: Iterator[bytes],
        dry_run: bool,
    ) -> bool:
        """Replaces the file by one with the bytes `old` and `new`, unless it is a `dry_run`; returns whether there were any
        `new`. An import without messages creates no file. Raises LockedError if the file is no longer `before`."""
        first = next(new, None)
        if first is None and (before is not None or session.source):
            return False
        if dry_run:
            return sum(1 for _ in new) >= 0
        path = self._layout.session(session.space, session.id)
        with ExitStack() as stack:

            def check(_: os.stat_result) -> None:
                # Only now: an import may read for minutes, and others append messages meanwhile.
                stack.enter_context(self.locked(session.space))
                if os.path.lexists(path) if before is None else not before.is_same(path):
                    raise LockedError(f"session {session.id} was written meanwhile", "run the command again")

            self._write(session, chain(old, [first or b""], new), check)
        return True

    def _write(
        self, session: Session, pieces: Iterable[bytes], check: Callable[[os.stat_result], None] | None = None
    ) -> None:
        folder = self._folder(session.space)
        if not os.path.isdir(folder):
            make_folder(folder)
            try:
                sync_folder(os.path.dirname(folder))
                sync_folder(os.path.dirname(os.path.dirname(folder)))
            except OSError as error:
                raise StoreError(f"cannot flush {folder}: {error.strerror}", "run the command again") from None
        path = self._layout.session(session.space, session.id)
        write_file(path, pieces, 0o600, temporary=self._layout.temporary, before_rename=check)

    def _file(self, space: str, name: str) -> closing[SessionFile]:
        # The name becomes a path, and may come from a file or a request.
        if not is_session_id(name):
            raise NotFoundError(f"no session {name!r}", "`memcli session list` lists the sessions")
        self._folder(space)
        self._folder(space, shared=True)
        return closing(SessionFile(self._layout.session(space, name), _where(space, name)))

    def _folder(self, space: str, *, shared: bool = False) -> str:
        folder = self._layout.sessions(check_space(space), shared=shared)
        check_no_link(folder)
        return folder

    def locked(self, space: str) -> AbstractContextManager[HeldLock | None]:
        """The lock for writing sessions of the space. Raises LockedError, StoreError."""
        return _lock(self._layout, f"{check_space(space)}.lock", f"the sessions of space {space!r}", self._wait)

    def finishing(self, space: str, *, wait: bool = True) -> AbstractContextManager[object]:
        """The lock for storing the results of the end of a session of the space. Raises LockedError."""
        what = f"the end of a session of space {space!r}"
        return _lock(self._layout, f"{check_space(space)}.end.lock", what, self._wait if wait else 0)

    def _importing(self, space: str) -> AbstractContextManager[HeldLock | None]:
        """The lock for imports into the space; other writers do not wait for it, as an import may take long."""
        return _lock(self._layout, f"{check_space(space)}.import.lock", f"the import into space {space!r}", self._wait)


def _lock(layout: Layout, name: str, what: str, wait: float) -> AbstractContextManager[HeldLock | None]:
    path = os.path.join(layout.private("sessions"), name)
    make_folder(os.path.dirname(path))
    return locked(path, what, wait)


def _where(space: str, name: str) -> str:
    return f"sessions/{space}/{name}{SUFFIX}"
