"""What sessions are imported from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.model.conversation import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Transcript(Protocol):
    """A conversation as another program has recorded it."""

    source: str
    """The name of the format."""
    key: str
    """The id of the session at its source."""
    title: str
    """Empty when it has none."""
    started_at: str
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
