"""Lists that a sentence leads up to: rules, requirements, goals, decisions; and steps, which are one procedure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.facts import moods
from memcli.conversation.facts.clauses import FactSentence
from memcli.conversation.facts.fact import CONSTRAINT, DECISION, GOAL, PREFERENCE, PROCEDURE
from memcli.conversation.facts.kinds import FAIR, FactMatch
from memcli.conversation.facts.statements import ITEM, STEP
from memcli.regex import regex

_LEADS = (
    (GOAL, regex(r"\b(?:goals|objectives|okrs|aims)\b")),
    (DECISION, regex(r"\b(?:decisions|decided|agreed|settled)\b")),
    (CONSTRAINT, regex(r"\b(?:requirements|constraints|limits|must|musts|must-haves|needs? to|has to|have to)\b")),
    (PREFERENCE, regex(r"\b(?:rules|conventions|guidelines|preferences|style|from now on|always|keep in mind|remember)\b")),
)  # fmt: skip
_STEPS = regex(r"\b(?:steps|procedure|runbook|checklist|recipe|process|workflow|how (?:we|you|to)|to \w+)\b")
_MOST = 30
"""A longer list is pasted."""


def read(said: Sequence[FactSentence]) -> dict[int, list[FactMatch]]:
    """What the items of lists state by their lead, by the places of the sentences; an empty list for what is part of a procedure."""
    found: dict[int, list[FactMatch]] = {}
    for at, lead in enumerate(said[:-1]):
        if (
            lead.words[-1:] != (":",)
            or lead.statement.role != "prose"
            or moods.is_question(lead)
            or moods.is_report(lead)
        ):
            continue
        items = _items(said, at + 1)
        if 1 < len(items) <= _MOST:
            found |= _by_lead(said, at, items)
    return found


def _items(said: Sequence[FactSentence], first: int) -> list[int]:
    """The places of the list items that follow."""
    last = first
    while last < len(said) and said[last].statement.role in (ITEM, STEP):
        last += 1
    return list(range(first, last))


def _by_lead(said: Sequence[FactSentence], at: int, items: Sequence[int]) -> dict[int, list[FactMatch]]:
    low = said[at].low
    if _STEPS.search(low) and any(said[item].clauses[0].is_order for item in items):
        first, last = said[at].statement, said[items[-1]].statement
        whole = FactMatch(PROCEDURE, first.start, last.start + len(last.text), FAIR)
        return {at: [whole], **{item: [] for item in items}}
    kind = next((kind for kind, lead in _LEADS if lead.search(low)), "")
    if not kind or moods.is_unsure(said[at].clauses[0]):
        return {}
    return {item: [_whole(said[item], kind)] for item in items if len(said[item].words) > 1}


def _whole(item: FactSentence, kind: str) -> FactMatch:
    return FactMatch(kind, item.statement.start, item.statement.start + len(item.statement.text), FAIR)
