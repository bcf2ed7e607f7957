"""Reading a file of a test."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memcli.extras.transcripts.formats import conversations
from memcli.extras.transcripts.transcript import Transcript
from memcli.model.conversation import Message


class Found(NamedTuple):
    """What a file holds: its conversations with their messages, and what was counted in all of them together."""

    transcripts: list[Transcript]
    messages: list[list[Message]]
    skipped: Counter[str]

    @property
    def texts(self) -> list[str]:
        """The texts of the only conversation."""
        return [text for _, text in self.said]

    @property
    def said(self) -> list[tuple[str, str]]:
        """The roles and texts of the only conversation."""
        (messages,) = self.messages
        return [(message.role, message.text) for message in messages]


def read(path: Path) -> Found:
    """The conversations in a file."""
    skipped = Counter[str]()
    transcripts = list(conversations(str(path), skipped))
    messages = [list(transcript.messages()) for transcript in transcripts]
    return Found(transcripts, messages, sum((one.skipped for one in transcripts), skipped))


def read_bytes(folder: Path, data: bytes | Iterable[bytes], name: str = "t.jsonl") -> Found:
    """The conversations in a file with these bytes."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else b"".join(data))
    return read(path)


def read_rows(folder: Path, *rows: Mapping[str, Any]) -> Found:
    """The conversations in a file with these lines."""
    return read_bytes(folder, [json.dumps(row).encode() + b"\n" for row in rows])


Case = tuple[Sequence[Mapping[str, Any]], Sequence[str], Mapping[str, int]]
"""Lines of a file, the texts of the messages that are to be read of them, and the counts of some of what is skipped."""


def check(folder: Path, cases: Mapping[str, Case], *before: Mapping[str, Any]) -> None:
    """Reads the lines of each case, with these before them, and compares what is found."""
    for name, (rows, texts, skipped) in cases.items():
        found = read_rows(folder, *before, *rows)
        counts = {reason: found.skipped[reason] for reason in skipped}
        assert (name, found.texts, counts) == (name, [*texts], {**skipped})
