"""Reading a file of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memcli.extras.transcripts.formats import conversations
from memcli.extras.transcripts.transcript import ParsedTranscript
from memcli.model.conversation import Message


class Found(NamedTuple):
    """What a file holds: its conversations with their messages, and what was counted in all of them together."""

    transcripts: list[ParsedTranscript]
    messages: list[list[Message]]
    skipped: Counter[str]

    @property
    def said(self) -> list[tuple[str, str]]:
        """The roles and texts of the only conversation."""
        (messages,) = self.messages
        return [(message.role, message.text) for message in messages]


def read(path: Path) -> Found:
    """The conversations in a file."""
    found = conversations(str(path))
    transcripts = list(found)
    messages = [list(transcript.messages()) for transcript in transcripts]
    return Found(transcripts, messages, sum((one.skipped for one in transcripts), found.skipped))


def read_bytes(folder: Path, data: bytes | Iterable[bytes], name: str = "t.jsonl") -> Found:
    """The conversations in a file with these bytes."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else b"".join(data))
    return read(path)
