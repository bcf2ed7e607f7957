"""Sessions as files: `sessions/<space>/<id>.jsonl`, one line a message, appended under a lock of the space.

They belong to the private state; those that are shared lie below `.memory/`, where git sees them.

What `append` returned of is on disk. A line that a crash tore is ignored by readers, and cut off by the next append.
An import writes the file anew, so that all of its messages are there, or none.

Which sessions are being ended: a file for each in `sessions/<space>.ending` of the private state, until all that it
yields is stored; and what the ends of each have made, as digests in `sessions/<space>.kept`. Imported sessions that were
deleted leave an empty file in `sessions/<space>.deleted`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from itertools import chain, count

from memcli.beneath import unlink
from memcli.codec.canonical import encode
from memcli.codec.session import check_writable, encode_header
from memcli.errors import ConflictError, CorruptError, LockedError, NotFoundError, StoreError, UsageError
from memcli.model.conversation import Entry, Message, Session
from memcli.model.names import check_space, is_session_id, session_id
from memcli.record import replace
from memcli.store.atomic import append_after, make_folder, remove_file, remove_quietly, sync_folder, write_file
from memcli.store.layout import Layout, show_sessions
from memcli.store.leftovers import remove_leftovers
from memcli.store.lock import HeldLock, locked
from memcli.store.reading import read_json, read_regular
from memcli.store.session_file import Clean, SessionFile, SessionLines, short_key, unknown


class FileEndings:
    """The sessions of the store at `layout` that are being ended, and those that were deleted. All methods raise StoreError."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def mark_ending(self, space: str, name: str) -> None:
        """Notes that the end of a session is begun, and what it yields not yet kept."""
        _mark(self._marks(space), name)

    def unmark_ending(self, space: str, name: str) -> None:
        """Notes that all of it is kept."""
        with suppress(FileNotFoundError):
            unlink(os.path.join(self._marks(space), name))

    def ending(self, space: str) -> list[str]:
        """The ids of the sessions that are marked, sorted."""
        return _marked(self._marks(space))

    def kept(self, space: str, name: str) -> Mapping[str, int]:
        """What the ends of a session have made (see `app/session_keep.py`)."""
        told = read_json(self._kept(space, name))
        return (
            {mark: version for mark, version in told.items() if isinstance(version, int)}
            if isinstance(told, dict)
            else {}
        )

    def note_kept(self, space: str, name: str, kept: Mapping[str, int]) -> None:
        """Notes what the ends of a session have made, until it is deleted."""
        path = self._kept(space, name)
        make_folder(os.path.dirname(path))
        write_file(path, encode(dict(kept)), 0o600)

    def deleted(self, space: str) -> list[str]:
        """The ids of the imported sessions that are known to have been deleted, sorted."""
        return _marked(self._deleted(space))

    def note_deleted(self, space: str, name: str) -> None:
        """Notes that an imported session was deleted."""
        _mark(self._deleted(space), name)

    def _is_deleted(self, space: str, name: str) -> bool:
        return os.path.exists(os.path.join(self._deleted(space), name))

    def _deleted(self, space: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.deleted")

    def _forget_end(self, space: str, name: str) -> None:
        """Removes what is noted of the ends of a session that is deleted."""
        self.unmark_ending(space, name)
        with suppress(FileNotFoundError):
            unlink(self._kept(space, name))

    def _kept(self, space: str, name: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.kept", f"{name}.json")

    def _marks(self, space: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.ending")


def _marked(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if is_session_id(name))
    except OSError:
        return []


def _mark(folder: str, name: str) -> None:
    make_folder(folder)
    write_file(os.path.join(folder, name), [b""], 0o600)


SUFFIX = ".jsonl"


class FileSessions(FileEndings):
    """The sessions of the store at `layout`, one conversation each. All methods raise StoreError, and CorruptError for what
    cannot be read; what they return of is on disk."""

    def __init__(self, layout: Layout, wait: float) -> None:
        """`wait`: how many seconds to wait for a lock."""
        super().__init__(layout)
        self._wait = wait

    def spaces(self) -> list[str]:
        """The names of the spaces that have sessions which git does not see, or notes of such, sorted."""
        names: set[str] = set()
        top = self._layout.private("sessions")
        for name in os.listdir(top) if os.path.isdir(top) else []:
            with suppress(UsageError):  # a folder that is not memcli's
                if os.path.isdir(os.path.join(top, name)):
                    names.add(check_space(name.removesuffix(".ending").removesuffix(".kept").removesuffix(".deleted")))
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
        """The session, from both ends of its file alone. Raises NotFoundError."""
        with self._file(space, name) as file:
            return file.session()

    def entries(self, space: str, name: str) -> Iterator[Entry]:
        """All of the session in its order, read as it is asked for. Raises NotFoundError."""
        with self._file(space, name) as file:
            yield from file.entries()

    def tail(self, space: str, name: str, count: int) -> list[Message]:
        """The last `count` messages, without reading the others. Raises NotFoundError."""
        with self._file(space, name) as file:
            return file.tail(count)

    def start(self, session: Session) -> Session:
        """Makes a session without messages, under the lowest free id. Raises LockedError."""
        with self._locked(session.space):
            made, _ = self._place(session, session.started_at, session.title)
            self._write(made, [encode_header(made) + b"\n"])
            return made

    def append(self, space: str, name: str, make: Callable[[Session], Sequence[Entry]]) -> Session:
        """Adds what `make` says of the session as it is then, the messages numbered; the session as it is after.

        Raises NotFoundError, LockedError, and what `make` raises; then nothing is added.
        """
        with self._locked(space):
            with self._file(space, name) as file:
                session, size = file.ends()
            check_writable(session, _where(space, name))
            lines = SessionLines(session)
            if data := b"".join(map(lines.line, make(session))):
                append_after(self._layout.session(space, name), data, size)
            return lines.session()

    def find_imported(self, space: str, source: str, key: str) -> Session | None:
        """The session that was imported from there."""
        place, is_there = self._place(Session("", space, source=source, key=key), source, key, of_source=True)
        return self.open(space, place.id) if is_there else None

    def was_deleted(self, space: str, source: str, key: str) -> bool:
        """Whether the session that was imported from there has been deleted, and not been imported since."""
        place, is_there = self._place(Session("", space, source=source, key=key), source, key, of_source=True)
        return not is_there and self._is_deleted(space, place.id)

    def take_in(
        self, session: Session, messages: Iterable[Message], clean: Clean, *, dry_run: bool = False
    ) -> tuple[Session, int]:
        """Adds to the session of this source and key those messages whose keys it does not have, as `clean` makes them,
        all or none; makes it where it is not there and there are any. All have keys. The session after, and how many
        messages were added.

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
        """Makes the session of this id with these entries, or adds to it what goes on where it ends; as `take_in`.

        Raises LockedError, ConflictError where it has others, and what `entries` raises.
        """
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
        with self._locked(space):
            with self._file(space, name) as file:
                is_imported = self._is_imported(file)
            if is_imported:
                self.note_deleted(space, name)
            remove_file(self._layout.session(space, name))
            self._forget_end(space, name)
        self._remove_copies(name)

    def _is_imported(self, file: SessionFile) -> bool:
        with suppress(CorruptError):
            return bool(file.header().source)
        return False

    def _remove_copies(self, name: str) -> None:
        """Removes what imports that were killed and repairs have left of the text of a session."""
        remove_leftovers(self._layout)
        folder = self._layout.private("quarantine")
        for file in os.listdir(folder) if os.path.isdir(folder) else []:
            if file.startswith((f"{name}-", f".{name}{SUFFIX}")):
                remove_quietly(os.path.join(folder, file))

    def digest(self, space: str, name: str) -> str:
        """SHA-256 over the file of a session. Raises NotFoundError, StoreError."""
        with self._file(space, name) as file:
            return file.digest()

    def stamp(self, space: str, name: str) -> str:
        """What is other after every change of the session. Raises NotFoundError."""
        with self._file(space, name) as file:
            return file.stamp()

    def is_shared(self, space: str, name: str) -> bool:
        """Whether git sees the file of a session."""
        return os.path.dirname(self._layout.session(space, name)) == self._layout.sessions(space, shared=True)

    def share(self, space: str, name: str, *, shared: bool) -> None:
        """Moves the file of a session to where git sees it, or back. Raises NotFoundError, LockedError, StoreError."""
        with self._locked(space):
            with self._file(space, name) as file:
                is_imported = self._is_imported(file)
            if is_imported:
                self.note_deleted(space, name)
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

    def _place(self, session: Session, *told: str, of_source: bool = False) -> tuple[Session, bool]:
        """The session with the first id made of what is told that is free, or, `of_source`, that belongs to a session of
        its source and key; and whether that is so."""
        for number in count(1):
            placed = replace(session, id=session_id(session.space, *told, number=number))
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
        """Makes the file hold `old` and `new`, where it is still as `before`, unless it is a `dry_run`; whether anything
        was new. What was imported without any message is not worth a file."""
        first = next(new, None)
        if first is None and (before is not None or session.source):
            return False
        if dry_run:
            return sum(1 for _ in new) >= 0
        path = self._layout.session(session.space, session.id)
        with ExitStack() as stack:

            def check(_: os.stat_result) -> None:
                stack.enter_context(self._locked(session.space))
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

    def _file(self, space: str, name: str) -> SessionFile:
        if not is_session_id(name):
            raise NotFoundError(f"no session {name!r}", "`memcli session list` lists the sessions")
        self._folder(space)
        self._folder(space, shared=True)
        return SessionFile(self._layout.session(space, name), _where(space, name))

    def _folder(self, space: str, *, shared: bool = False) -> str:
        folder = self._layout.sessions(check_space(space), shared=shared)
        if os.path.islink(folder):
            raise StoreError(
                f"{folder} is a symbolic link", "memcli does not follow links out of a store; replace it with a folder"
            )
        return folder

    def _locked(self, space: str) -> AbstractContextManager[HeldLock | None]:
        return lock_sessions(self._layout, space, self._wait)

    def finishing(self, space: str, *, wait: bool = True) -> AbstractContextManager[object]:
        """Held while what a session of the space yields is kept. Raises LockedError."""
        what = f"the end of a session of space {space!r}"
        return _lock(self._layout, f"{check_space(space)}.end.lock", what, self._wait if wait else 0)

    def _importing(self, space: str) -> AbstractContextManager[HeldLock | None]:
        """Held while an import reads, which may take long: others may add messages meanwhile."""
        return _lock(self._layout, f"{check_space(space)}.import.lock", f"the import into space {space!r}", self._wait)


def lock_sessions(layout: Layout, space: str, wait: float) -> AbstractContextManager[HeldLock | None]:
    """Held while a session of the space is written. Raises LockedError, StoreError."""
    return _lock(layout, f"{check_space(space)}.lock", f"the sessions of space {space!r}", wait)


def _lock(layout: Layout, name: str, what: str, wait: float) -> AbstractContextManager[HeldLock | None]:
    path = os.path.join(layout.private("sessions"), name)
    make_folder(os.path.dirname(path))
    return locked(path, what, wait)


def _where(space: str, name: str) -> str:
    return f"sessions/{space}/{name}{SUFFIX}"
