"""What the server offers, as values: tools, and how their results are cut into pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.errors import UsageError
from memcli.model.tokens import end_of_tokens
from memcli.record import Record

MOST_TOKENS = 8_000
"""The most that one result has; the rest is on further pages."""
_CURSOR = "cursor"
_DIGEST = 8
_NOTE = 50
"""Tokens for the line that has the cursor."""


class Tool(Record, kw_only=True):
    """A tool. `run` takes the arguments by name and gives a text; it raises MemcliError, or TypeError for wrong names."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: Sequence[str] = ()
    run: Callable[[Mapping[str, Any]], str]
    reads_only: bool = True
    destroys: bool = False
    is_idempotent: bool = True
    is_always_loaded: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        properties = {**self.properties, _CURSOR: {"type": "string", "description": "From the end of a long result."}}
        return {
            "type": "object",
            "properties": properties if self.reads_only else dict(self.properties),
            **({"required": list(self.required)} if self.required else {}),
            "additionalProperties": False,
        }

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The result, or the page of it that the cursor leads to. Raises what `run` raises, UsageError."""
        given = dict(arguments)
        cursor = given.pop(_CURSOR, None) if self.reads_only else None
        if unknown := sorted(given.keys() - self.properties.keys()):
            raise UsageError(f"{self.name} has no parameter {unknown[0]!r}", f"it has {', '.join(self.properties)}")
        if missing := [name for name in self.required if given.get(name) in (None, "", [])]:
            raise UsageError(f"{self.name} needs {missing[0]}", self.properties[missing[0]].get("description", ""))
        return page(self.run(given), cursor)


def page(text: str, cursor: str | None = None) -> str:
    """As many lines of `text` as fit into a result, from where the cursor says, with the next cursor if there is more.

    Raises UsageError if the cursor belongs to another text.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    start = _start(cursor, digest)
    end = end_of_tokens(text, MOST_TOKENS - _NOTE, start)
    if end == len(text):
        return text[start:]
    line = text.rfind("\n", start, end) + 1
    if line > start:
        end = line
    elif end == start:  # a word of more than a page
        end = min(len(text), start + MOST_TOKENS // 2)
    return f'{text[start:end]}\n[There is more: call again with cursor "{end}-{digest}".]'


def _start(cursor: str | None, digest: str) -> int:
    if not cursor:
        return 0
    number, _, of = str(cursor).partition("-")
    if not number.isdecimal():
        raise UsageError(f"no cursor {str(cursor)[:40]!r}", "use the one at the end of a result, or none")
    if of != digest:
        raise UsageError("the memory changed since the cursor was given", "call again without a cursor")
    return int(number)
