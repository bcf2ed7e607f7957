"""Facts by rules and grammar, without a model: message by message, each list by the sentence that leads up to it."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.facts import clauses, kinds, moods, proposals, repairs, statements
from memcli.conversation.facts.clauses import ASSISTANT, USER, FactSentence
from memcli.conversation.facts.kinds import FAIR, FactMatch
from memcli.conversation.facts.repairs import RECENT
from memcli.conversation.facts.statements import CONSTRAINT, DECISION, GOAL, ITEM, PREFERENCE, PROCEDURE, STEP, Fact
from memcli.model.conversation import Message
from memcli.record import replace
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


def _listed(said: Sequence[FactSentence]) -> dict[int, list[FactMatch]]:
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
        last = at + 1
        while last < len(said) and said[last].statement.role in (ITEM, STEP):
            last += 1
        items = range(at + 1, last)
        if 1 < len(items) <= _MOST:
            found |= _by_lead(said, at, items)
    return found


def _by_lead(said: Sequence[FactSentence], at: int, items: Sequence[int]) -> dict[int, list[FactMatch]]:
    low = said[at].low
    if _STEPS.search(low) and any(said[item].clauses[0].is_order for item in items):
        first, last = said[at].statement, said[items[-1]].statement
        whole = FactMatch(PROCEDURE, first.start, last.start + len(last.text), FAIR)
        return {at: [whole], **{item: [] for item in items}}
    kind = next((kind for kind, lead in _LEADS if lead.search(low)), "")
    if not kind or moods.is_unsure(said[at].clauses[0]):
        return {}
    wholes = {item: said[item].statement for item in items if len(said[item].words) > 1}
    return {item: [FactMatch(kind, one.start, one.start + len(one.text), FAIR)] for item, one in wholes.items()}


_HOW = regex(r"\bhow (?:do|can|should|would|to|does)\b|\bwhat is the (?:way|procedure|command)\b|\bsteps\b")
_BOTH = 2


def extract(messages: Sequence[Message]) -> list[Fact]:
    """The facts that are stated in a conversation and still hold at its end, in order."""
    reader = _LocalReader()
    for place, message in enumerate(messages, 1):
        if message.role in (USER, ASSISTANT):
            reader.take(message if message.number else replace(message, number=place))
    return reader.finish()


class _LocalReader:
    """Reads message by message, with the one before it in mind."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._before: Message | None = None
        self._said: list[FactSentence] = []

    def take(self, message: Message) -> None:
        said = [clauses.read(statement, message.role) for statement in statements.read(message.text)]
        if message.role == USER:
            self._take_users(message, said)
        else:
            is_asked = any(_HOW.search(s.low) and moods.is_question(s) for s in self._said)
            for one in said:
                self._add(message, kinds.of_assistant(one, is_asked=is_asked))
        self._before, self._said = message, said

    def finish(self) -> list[Fact]:
        """The facts, each text once."""
        seen: dict[str, Fact] = {}
        for fact in sorted(self._facts, key=lambda fact: (fact.message, fact.span)):
            seen.setdefault(fact.text.casefold(), fact)
        return list(seen.values())

    def _take_users(self, message: Message, said: list[FactSentence]) -> None:
        answer = self._take_answer(said)
        is_denied = False
        listed = _listed(said)
        for at, one in enumerate(said):
            by_list = listed.get(at)
            is_step = by_list is not None and all(finding.kind == PROCEDURE for finding in by_list)
            found = (by_list if is_step else kinds.of_user(one, is_denied=is_denied) or by_list) or []
            takes_back = repairs.takes_back(one) and not moods.is_question(one)
            if takes_back or (at == 0 and found and repairs.replaces(one)):
                recent = self._facts[-RECENT:]
                self._facts[-RECENT:] = repairs.without_last(recent, one, message.number)
                found = found or _replacement(one)
            self._add(message, found or (answer if at == 0 else []))
            is_denied = repairs.DENIAL.search(one.low) is not None

    def _take_answer(self, said: list[FactSentence]) -> list[FactMatch]:
        """Takes what the message before proposed and this one accepts; or else what this one answers."""
        if self._before is None or self._before.role != ASSISTANT:
            return []
        accepted = proposals.accepted(self._said, self._before.text, said)
        self._add(self._before, accepted)
        return [] if accepted else proposals.answered(self._said, said)

    def _add(self, message: Message, found: list[FactMatch]) -> None:
        for kind, start, end, confidence in found:
            text = " ".join(message.text[start:end].replace("**", "").split()).rstrip(" ,;:")
            if not text:
                continue
            fact = Fact(kind, text, message.number, confidence, (start, end))
            self._facts[-RECENT:] = [*repairs.without_superseded(self._facts[-RECENT:], fact), fact]


def _replacement(one: FactSentence) -> list[FactMatch]:
    """What is to be instead, where a sentence takes back one thing and names another."""
    left = repairs.after(one)
    if len(left) <= _BOTH:
        return []
    clause = clauses.parse(left)
    if moods.is_unsure(clause) or moods.is_momentary(clause) or not (clause.is_order and not clause.is_negated):
        return []
    return [FactMatch(DECISION, one.statement.start + clause.start, one.statement.start + clause.end, FAIR)]
