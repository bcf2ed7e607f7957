"""The transcript: one conversation of a file, whose messages are read lazily."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from memcli.digests import blake2b
from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.values import moment
from memcli.model.conversation import Message
from memcli.record import Record, field
from memcli.safety.recalled import without_recalled

if TYPE_CHECKING:
    import numpy


_MAX_NAME = 200


class RawMessage(NamedTuple):
    """A message of a reader, before it is cleaned and numbered. `at` is the time as the source writes it."""

    role: str
    text: str
    at: object = None
    speaker: str = ""
    key: str = ""


Read = Callable[[Counter[str]], Iterator[RawMessage]]
"""Reads a conversation from its beginning, and counts by reason the parts that give no message."""


class Transcript(Record, kw_only=True):
    """A conversation that another program has recorded: `source` names its format, `key` is its id there, `cwd` the folder in
    which it took place.

    `started_at` is RFC 3339; it, `title` and `cwd` are empty where they are not known. Each call of `messages` reads the messages
    anew, in order, and raises MemcliError. `skipped` counts by reason the parts that gave no message; it is complete when
    `messages` is exhausted.
    """

    source: str
    key: str
    messages: Callable[[], Iterator[Message]]
    title: str = ""
    started_at: str = ""
    cwd: str = ""
    skipped: Counter[str] = field(default_factory=Counter)


def parsed(source: str, key: str, read: Read, *, title: str = "", started_at: str = "", cwd: str = "") -> Transcript:
    """The conversation that `read` reads from a file."""
    skipped = Counter[str]()
    return Transcript(
        source=source, key=_short_key(key), messages=partial(_cleaned, read, skipped), title=_on_one_line(title),
        started_at=started_at, cwd=cwd, skipped=skipped,
    )  # fmt: skip


def _cleaned(read: Read, skipped: Counter[str]) -> Iterator[Message]:
    """The messages of a file, numbered from 1. Raises CorruptError, StoreError.

    A message without an id at its source gets its number and a digest as its key. A second message with an id is skipped if
    its text is the same, and else has a digest in its key.
    """
    skipped.clear()
    seen = Seen()
    number = 0
    for raw in read(skipped):
        if not raw.text or raw.text.isspace():
            skipped[reasons.EMPTY] += 1
            continue
        # Memories that memcli injected into a message are stored already.
        text = without_recalled(raw.text.replace("\r\n", "\n").replace("\0", "")).strip()
        if not text:
            skipped[reasons.OWN] += 1
            continue
        name, key = digest(raw.role, text), _short_key(raw.key)
        is_new_key = seen.add(key) if key else False
        if key and not seen.add(f"{key}-{name}"):
            skipped[reasons.DUPLICATE] += 1
            continue
        number += 1
        # By the number and the text, so that a file that grew gives the same keys again.
        if not is_new_key:
            key = f"{key or number}-{name}"
        yield Message(number, raw.role, text, moment(raw.at), _on_one_line(raw.speaker), key)


def digest(*parts: str) -> str:
    """A digest of the texts in this order: 16 hexadecimal digits."""
    made = blake2b(digest_size=8)
    for part in parts:
        # With a NUL, ("ab", "c") and ("a", "bc") have different digests.
        made.update(part.encode() + b"\0")
    return made.hexdigest()


def _short_key(key: str) -> str:
    """The key of the source, or a digest of one that is too long for an id or not printable."""
    return key if len(key) <= _MAX_NAME and key.isprintable() else digest(key)


def _on_one_line(text: str) -> str:
    return " ".join(text[: 2 * _MAX_NAME].split())[:_MAX_NAME] if text else ""


_MOST_RECENT = 1 << 16


def number_of(text: str) -> int:
    """A 64-bit hash of an id, never 0."""
    # 0 stands for no id where numbers are stored in columns.
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) or 1


class Seen:
    """A set of ids, by their hashes."""

    # A set takes ten times as much memory as a sorted array, and an array is slow to grow: new ids are collected in a set.

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._older: numpy.ndarray[Any, Any] | None = None

    def add(self, text: str) -> bool:
        """Adds an id; returns whether it is new."""
        number = number_of(text)
        if number in self._recent:
            return False
        if self._older is not None:
            place = int(self._older.searchsorted(self._older.dtype.type(number)))
            if place < len(self._older) and int(self._older[place]) == number:
                return False
        self._recent.add(number)
        if len(self._recent) > _MOST_RECENT:
            import numpy as np

            recent = np.fromiter(self._recent, np.uint64, len(self._recent))
            self._older = np.sort(recent if self._older is None else np.concatenate([self._older, recent]))
            self._recent = set()
        return True
