"""What kind of memory a text is, and how much it matters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.summarize import layouts, origins
from memcli.summarize.blocks import HEADING, STEP
from memcli.summarize.cues import cue_of
from memcli.summarize.sentences import Sentence
from memcli.summarize.subject import Subject

DEFAULT_KIND = "fact"
_SENTENCES = 6
"""Sentences looked at: what a memory is, it says at once."""
_LONG = 1000
"""Of a text longer than this, only the beginning says what it is."""
_NOTE_CHARACTERS = 600
"""A text up to this length may be a note about a file rather than the file."""

_HIGH = re.compile(r"\W{0,6}(?:IMPORTANT|CRITICAL|WARNING|MUST[ -]READ|DANGER|Important|Critical|Warning)\W{0,4}?[:!]")
_LOW = re.compile(r"\W{0,6}(?:minor|nit|nitpick|trivial|fyi)\W{0,4}?:", re.IGNORECASE)
_CHANGELOG = re.compile(r"(?:the )?(?:change ?log|release notes|releases|history)\b|\[?v?\d+\.\d+(?:\.\d+)?\]?(?:\s|$)")
_MEETING = re.compile(r"\W*(?:\w+ )?(?:meeting|stand-?up|retro|retrospective|sync|1:1|minutes|notes)\b", re.IGNORECASE)


def kind_of(subject: Subject, sentences: Sequence[Sentence]) -> str:
    """The kind of memory: by the look of the text, the file it comes from and the words it uses, in this order."""
    look = layouts.kind_of(subject.text)
    if look == "diff":
        return look
    origin = origins.kind_of(subject.source or subject.hint)
    is_note = len(subject.text) <= _NOTE_CHARACTERS and not (sentences and sentences[0].role == HEADING)
    if origin and (look in (origin, "code", "config") or not is_note):
        return origin
    if look == "guide":
        return _kind_of_document(sentences)
    if look:
        return look
    by_folder = origin if origin not in ("code", "config", "guide") else ""
    return by_folder or _kind_of_words(sentences) or origin or DEFAULT_KIND


def relevance_of(text: str, kind: str) -> str:
    """`high` or `low` when the text begins by saying so, else `medium`."""
    if kind not in ("log", "diff", "code") and _HIGH.match(text):
        return "high"
    return "low" if _LOW.match(text) else "medium"


def _kind_of_words(sentences: Sequence[Sentence]) -> str:
    if sentences and _CHANGELOG.match(sentences[0].text.lower()) and len(sentences) > 1:
        return "log"
    length = sum(len(text) for text, _ in sentences)
    places = enumerate(sentences[: _SENTENCES if length <= _LONG else 2])
    first = next((kind for place, (text, _) in places if (kind := cue_of(text, is_opening=place == 0))), "")
    steps = sum(1 for _, role in sentences if role == STEP)
    if steps >= 2 and first not in ("decision", "goal", "correction", "log"):
        return "procedure"
    if not first and sentences and _MEETING.match(sentences[0].text):
        return "log"
    return first


def _kind_of_document(sentences: Sequence[Sentence]) -> str:
    """A document is a guide, unless its headings say what else it is."""
    headings = [text.lower() for text, role in sentences if role == HEADING]
    title = next((text.lower() for text, role in sentences[:3] if role == HEADING), "")
    if _CHANGELOG.match(title):
        return "log"
    kind = cue_of(title)
    if kind in ("decision", "procedure", "goal"):
        return kind
    if {"decision", "context"} <= set(headings) or "decision outcome" in headings:
        return "decision"
    return "guide"
