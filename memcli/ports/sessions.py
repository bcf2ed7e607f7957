"""Where sessions are kept, and what they are imported from. What was acknowledged is on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from memcli.model.conversation import Entry, Message, Session


class Transcript(Protocol):
    """A conversation as another program has recorded it. `source` is the format, `key` the id of the session there."""

    @property
    def source(self) -> str:
        """The name of the format."""

    @property
    def key(self) -> str:
        """The id of the session at its source."""

    @property
    def title(self) -> str:
        """Its title; empty when it has none."""

    @property
    def started_at(self) -> str:
        """When it began, RFC 3339; empty when that is not known."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many lines gave no message, by reason, once `messages` has ended."""

    def messages(self) -> Iterator[Message]:
        """The messages in order, to be numbered by whoever stores them. Raises MemcliError."""


class Transcripts(Iterator[Transcript], Protocol):
    """The conversations of a file."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """How much of the file belongs to none of them, by reason, once all were read."""


class Sessions(Protocol):
    """The sessions of a store, one conversation each. All methods raise StoreError, and CorruptError for what cannot be
    read."""

    def ids(self, space: str) -> list[str]:
        """The ids of the sessions of a space, sorted."""

    def open(self, space: str, name: str) -> Session:
        """The session, from both ends of its file alone. Raises NotFoundError."""

    def entries(self, space: str, name: str) -> Iterator[Entry]:
        """All of the session in its order, read as it is asked for. Raises NotFoundError."""

    def tail(self, space: str, name: str, count: int) -> list[Message]:
        """The last `count` messages, without reading the others. Raises NotFoundError."""

    def start(self, session: Session) -> Session:
        """Makes a session without messages, under the lowest free id. Raises LockedError."""

    def append(self, space: str, name: str, make: Callable[[Session], Sequence[Entry]]) -> Session:
        """Adds what `make` says of the session as it is then, the messages numbered; the session as it is after.

        Raises NotFoundError, LockedError, and what `make` raises; then nothing is added.
        """

    def delete(self, space: str, name: str) -> None:
        """Removes the session for good. Raises NotFoundError, LockedError."""

    def digest(self, space: str, name: str) -> str:
        """SHA-256 over what is stored of the session. Raises NotFoundError."""


class Endings(Protocol):
    """Which sessions are being ended. All methods raise StoreError."""

    def mark_ending(self, space: str, name: str) -> None:
        """Notes that the end of a session is begun, and what it yields not yet kept."""

    def unmark_ending(self, space: str, name: str) -> None:
        """Notes that all of it is kept."""

    def ending(self, space: str) -> list[str]:
        """The ids of the sessions that are marked, sorted."""

    def finishing(self, space: str, *, wait: bool = True) -> AbstractContextManager[object]:
        """Held while what a session of the space yields is kept. Raises LockedError."""

    def deleted(self, space: str) -> list[str]:
        """The ids of the imported sessions that are known to have been deleted, sorted."""

    def note_deleted(self, space: str, name: str) -> None:
        """Notes that an imported session was deleted."""

    def kept(self, space: str, name: str) -> Mapping[str, int]:
        """What the ends of a session have made (see `app/session_keep.py`)."""

    def note_kept(self, space: str, name: str, kept: Mapping[str, int]) -> None:
        """Notes what the ends of a session have made, until it is deleted."""


class SessionStore(Sessions, Endings, Protocol):
    """The sessions of a store, and how they come from elsewhere and are shared."""

    def spaces(self) -> list[str]:
        """The names of the spaces that have sessions which git does not see, or notes of such, sorted."""

    def stamp(self, space: str, name: str) -> str:
        """What is other after every change of the session. Raises NotFoundError."""

    def find_imported(self, space: str, source: str, key: str) -> Session | None:
        """The session that was imported from there."""

    def was_deleted(self, space: str, source: str, key: str) -> bool:
        """Whether the session that was imported from there has been deleted, and not been imported since."""

    def take_in(
        self,
        session: Session,
        messages: Iterable[Message],
        clean: Callable[[Message], Message],
        *,
        dry_run: bool = False,
    ) -> tuple[Session, int]:
        """Adds to the session of this source and key those messages whose keys it does not have, as `clean` makes them,
        all or none; makes it where it is not there and there are any. All have keys. The session after, and how many
        messages were added.

        With `dry_run`, nothing is stored. Raises LockedError, and what `messages` raises.
        """

    def restore(self, session: Session, entries: Iterable[Entry], *, dry_run: bool = False) -> tuple[Session, int]:
        """Makes the session of this id with these entries, or adds to it what goes on where it ends; as `take_in`.

        Raises LockedError, ConflictError where it has others, and what `entries` raises.
        """

    def is_shared(self, space: str, name: str) -> bool:
        """Whether git sees the session."""

    def share(self, space: str, name: str, *, shared: bool) -> None:
        """Has git see the session, or ignore it again. Raises NotFoundError, LockedError."""
