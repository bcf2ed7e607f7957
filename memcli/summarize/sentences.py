"""Text as sentences."""

from __future__ import annotations

from typing import NamedTuple

from memcli.model.pieces import cut
from memcli.summarize import blocks

MAX_SENTENCES = 200
_TITLE_CHARACTERS = 100


class Sentence(NamedTuple):
    text: str
    role: str
    """One of the roles of `blocks`."""


def split(text: str, limit: int = MAX_SENTENCES) -> list[Sentence]:
    """The first sentences of `text`, at most `limit`. List items and headings stay whole."""
    found: list[Sentence] = []
    for role, block in blocks.read(text):
        if role == blocks.PROSE:
            found.extend([Sentence(part, role) for part in cut(block)])
        else:
            found.append(Sentence(block, role))
        if len(found) >= limit:
            break
    if _is_title(found):
        found[0] = Sentence(found[0].text, blocks.HEADING)
    return found[:limit]


def _is_title(sentences: list[Sentence]) -> bool:
    """Whether the first of the sentences is a line that heads a list, without being marked so."""
    if len(sentences) < 2 or sentences[0].role != blocks.PROSE or sentences[1].role not in (blocks.ITEM, blocks.STEP):
        return False
    text = sentences[0].text
    return len(text) <= _TITLE_CHARACTERS and text[-1] not in ".!?…。！？"


def lines(text: str, limit: int = MAX_SENTENCES) -> list[Sentence]:
    """The first lines of `text`, each as the item of a list."""
    return [Sentence(line, blocks.ITEM) for line in text.split("\n", limit)[:limit] if line.strip()]
