"""Facts, and the sentences of a message in which its author may state one: without code, quotations and logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memcli.model.memory import Json
from memcli.record import Record
from memcli.regex import regex
from memcli.text.blocks import read_sentences

DECISION, PREFERENCE, CONSTRAINT, GOAL = "decision", "preference", "constraint", "goal"
PROCEDURE, CORRECTION, NEGATIVE = "procedure", "correction", "negative"
KINDS = (DECISION, PREFERENCE, CONSTRAINT, GOAL, PROCEDURE, CORRECTION, NEGATIVE)


class Fact(Record):
    """A statement worth keeping. `text` stands at `span` of the text of message number `message`, white space collapsed.

    `confidence` is about the share of facts found in this way that are right.
    """

    kind: str
    text: str
    message: int
    confidence: float
    span: tuple[int, int]

    def to_json(self) -> dict[str, Json]:
        """What is printed of it."""
        return {"kind": self.kind, "text": self.text, "message": self.message, "confidence": self.confidence}


PROSE, ITEM, STEP = "prose", "item", "step"
MAX_STATEMENTS = 300
"""How many sentences of one message are read: a longer one is pasted."""
MAX_CHARACTERS = 500
"""A longer sentence is no statement."""

_FENCE = regex(r"\s{0,3}(```+|~~~+)")
_ITEM = regex(r"\s*(?:[-*+•–]\s+(?:\[[ xX]\]\s+)?|(?P<step>\(?(?:\d{1,2}|[a-zA-Z])[.)]\s+))(?=\S)")
_HEADING = regex(r"\s{0,3}#{1,6}\s")
_PASTED = regex(
    r"\s*(?:>|\||\+\+\+|---|@@|diff --git|\$ |#!|//|/\*|<[a-zA-Z/!]|at [\w.$<>]+ ?\(|File \"|Traceback\b|Caused by:"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:|(?:[A-Za-z.]*(?:Error|Exception|Warning)|error|warning|fatal|panic|ERROR|WARN|INFO|DEBUG)(?:\[\w+\])?:\s"
    r"|(?:Uncaught|Unhandled)\b"
    r"|(?:import|from|def|class|function|const|var|return|public|private|export|package|SELECT|INSERT|UPDATE|CREATE)\b[^.?!]*[;{(:=]\s*$)"
)
_CODE_END = regex(r"[;{}]\s*$|^\s*[})\]]|=>\s*$|^\s*[\w.]+\s?\(.*\)\s*$|^\s*[\w.\[\]]+\s*[-+*/]?=\s*\S")
_WRAPPED = 50
"""A line at least so long may go on in the next one."""


class FactStatement(NamedTuple):
    text: str
    start: int
    """Where it begins in the message."""
    role: str
    block: int
    """The number of its paragraph or list item."""


def read(text: str) -> list[FactStatement]:
    """The first sentences of `text` that its author may be stating."""
    found: list[FactStatement] = []
    for number, (start, end, role) in enumerate(_blocks(text)):
        block = text[start:end].replace("\n", " ")
        for at, part in read_sentences(block):
            if len(part) <= MAX_CHARACTERS and any(c.isalnum() for c in part):
                found.append(FactStatement(part, start + at, role, number))
            if len(found) >= MAX_STATEMENTS:
                return found
    return found


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Paragraphs and list items: where they begin and end, and their roles."""
    start, end, role = 0, -1, PROSE
    for at, line, is_prose in _lines(text):
        mark = _ITEM.match(line) if is_prose else None
        if is_prose and mark is None and end >= start and _goes_on(text[start:end], line, role):
            end = at + len(line)
            continue
        if end > start:
            yield start, end, role
        start, end = at, -1
        if is_prose:
            role = PROSE if mark is None else STEP if mark["step"] else ITEM
            start, end = at + (mark.end() if mark else len(line) - len(line.lstrip())), at + len(line)
    if end > start:
        yield start, end, role


def _goes_on(before: str, line: str, role: str) -> bool:
    last = before.rpartition("\n")[2]
    if role != PROSE:
        return line[:2].isspace()
    return (
        line.lstrip()[:1].islower()
        and (len(last) >= _WRAPPED or last.endswith(","))
        and last.rstrip()[-1:] not in ".!?:"
    )


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its place, and whether it is prose."""
    at, fence, was_blank, in_code = 0, "", True, False
    for line in text.split("\n"):
        is_blank = not line.strip()
        mark = _FENCE.match(line[:20])
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            yield at, line, False
        elif mark:
            fence = mark[1]
            yield at, line, False
        else:
            is_indented = line.startswith(("    ", "\t")) and _ITEM.match(line[:40]) is None
            in_code = not is_blank and is_indented and (was_blank or in_code)
            yield at, line, not (is_blank or in_code or _is_pasted(line))
        was_blank = is_blank
        at += len(line) + 1


def _is_pasted(line: str) -> bool:
    head = line[:200]
    return bool(
        _HEADING.match(head) or _PASTED.match(head) or _CODE_END.search(line[-200:] if len(line) > 200 else line)
    )
