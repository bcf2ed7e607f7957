"""What may be in a context window: the system prompt, messages, chunk summaries, memories and what they keep of a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.conversation.chunks import Chunk
from memcli.model.conversation import Message
from memcli.model.memory import Json
from memcli.record import Record

SYSTEM, MEMORIES, CHUNKS, MESSAGES = "system", "memories", "chunks", "messages"
SECTIONS = (SYSTEM, MEMORIES, CHUNKS, MESSAGES)
"""In the order in which they are printed."""


class Item(Record):
    """One thing that may be in a window. `label` is printed above its text, `who` is the name of who said it, if known. `number` is its place among the messages,
    `source` the memory that an inserted one comes from, `tokens` what it takes as printed.
    """

    section: str
    id: str
    text: str
    label: str = ""
    role: str = ""
    who: str = ""
    number: int = 0
    priority: float = 0.0
    source: str = ""
    is_cut: bool = False
    tokens: int = 0


def of_system(text: str) -> Item:
    """The system prompt."""
    return Item(SYSTEM, "system", text, priority=1.0)


def of_message(message: Message) -> Item:
    """A recent message."""
    label = f"[message {message.number}] {message.who}"
    return Item(
        MESSAGES, f"message {message.number}", message.text, label, message.role, message.speaker, message.number
    )


def of_chunk(chunk: Chunk) -> Item:
    """The summary of a chunk."""
    first, last = chunk.turns
    return Item(
        CHUNKS, f"chunk {chunk.number}", chunk.summary, f"[messages {first} to {last}] {', '.join(chunk.topics)}"
    )


def of_memory(id: str, text: str, label: str, score: float) -> Item:  # noqa: A002
    """A recalled memory, as the caller prints it."""
    return Item(MEMORIES, id, text, label, priority=score)


def of_context(memory: str, context: Sequence[Mapping[str, Json]], session: str) -> list[Item]:
    """The chunks of a memory's `context`, best first; those from `session` have the number of their message."""
    ranked = sorted(enumerate(context), key=lambda one: (-float(one[1].get("similarity", 0)), one[0]))
    return [_of_piece(memory, n, piece, session) for n, piece in ranked]


def _of_piece(memory: str, n: int, piece: Mapping[str, Json], session: str) -> Item:
    of, _, number = str(piece.get("source", "")).rpartition("#")
    is_own = bool(session) and of == session and number.isdecimal()
    role = str(piece.get("role") or "user")
    where = f"message {number}, as {memory} has it" if is_own else f"from {memory}"
    return Item(
        MESSAGES,
        f"{memory} context {n + 1}",
        str(piece.get("text", "")),
        f"[{where}] {role}",
        role,
        "",
        int(number) if is_own else 0,
        float(piece.get("similarity", 0)),
        memory,
    )
