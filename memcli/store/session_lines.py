"""The lines that are added to the file of a session, and which messages of an import are new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memcli.codec.session import FileEnd, encode_entry, with_end
from memcli.digests import blake2b
from memcli.model.conversation import ACTIVE, Entry, Message, Session, StateChange
from memcli.record import replace

Clean = Callable[[Message], Message]


class SessionLines:
    """The lines of what is added to a session, numbered, and the session as it is with them."""

    def __init__(self, session: Session) -> None:
        self._session, self._number = session, session.messages
        self._last: Entry | None = None

    @property
    def added(self) -> int:
        """How many messages were added."""
        return self._number - self._session.messages

    def line(self, entry: Entry) -> bytes:
        """The line of the next entry."""
        if isinstance(entry, Message):
            self._number += 1
            entry = replace(entry, number=self._number)
        self._last = entry
        return encode_entry(entry) + b"\n"

    def session(self) -> Session:
        """The session with all of them."""
        if self._last is None:
            return self._session
        change = self._last if isinstance(self._last, StateChange) else StateChange(ACTIVE)
        return with_end(self._session, FileEnd(self._number, change))


def unknown(messages: Iterable[Message], clean: Clean, known: set[int]) -> Iterator[Message]:
    """The messages whose keys are not among the `known`, each key once. What is known is not cleaned again."""
    for message in messages:
        if short_key(message.key) in known:
            continue
        cleaned = clean(message)
        key = short_key(cleaned.key)
        if key not in known:
            known.add(key)
            yield cleaned


def short_key(key: str) -> int:
    """A digest that takes less memory than the key: a session may have a million messages."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big")
