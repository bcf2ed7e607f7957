"""What a sentence states, and of what kind: the rules in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memcli.conversation.facts import choices, constraints, moods, negatives, preferences, repairs, steps
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.fact import CONSTRAINT, CORRECTION, DECISION, GOAL, NEGATIVE, PREFERENCE, PROCEDURE
from memcli.conversation.facts.sentence import FactSentence
from memcli.regex import regex

_MAX_WORDS = 60

# About the share that was right of what these rules found in excerpts that they were not made with, rather too low than
# too high: what the user states by a firm rule, and by a looser one; requests, and what is accepted; what an assistant states.
SURE, LIKELY, FAIR, ASSISTANT = 0.9, 0.85, 0.75, 0.65


class FactMatch(NamedTuple):
    kind: str
    start: int
    """Where it begins in the message."""
    end: int
    confidence: float


class _FactRule(NamedTuple):
    kind: str
    holds: Callable[[FactClause, FactSentence], bool]
    confidence: float
    is_lasting: bool
    """Whether words such as `now` and `today` rule it out."""


_NO_LONGER = regex(r"\bno longer\b|\bany ?more\b")
_RULES: Sequence[_FactRule] = (
    _FactRule(
        CORRECTION,
        lambda c, _: bool(_NO_LONGER.search(c.low)) and repairs.is_correction(c, is_denied=False),
        SURE,
        False,
    ),
    _FactRule(NEGATIVE, negatives.is_negative, SURE, True),
    _FactRule(DECISION, choices.is_decision, SURE, False),
    _FactRule(PREFERENCE, preferences.is_preference, SURE, True),
    _FactRule(GOAL, choices.is_goal, SURE, False),
)
_LABELS = (
    (DECISION, regex(r"^ (?:the |our |my )?(?:final )?(?:decision|decided|verdict|answer|call|resolution|conclusion)(?: \w+){0,3} ?: \S|^(?: \w+| ,){0,4} (?:settled|agreed|fixed|decided|final|consensus)(?: then| now)? : \S")),
    (GOAL, regex(r"^ (?:the |our |my |main |overall |\w+ )?(?:goals?|aims?|objectives?|target|milestone|mission|okr)(?: (?:for|this|of|is)(?: \w+){1,3})? ?: \S")),
    (CORRECTION, regex(r"^ (?:correction|erratum|errata|typo) ?: \S")),
    (CORRECTION, regex(r"^ (?:the )?(?:root cause|cause|reason|fix|bug) ?: \S")),
    (CONSTRAINT, regex(r"^ (?:the |our |hard |one )?(?:\w+ ){0,2}(?:requirements?|constraints?|limits?|limitations?|must-haves?|budget|rules?) ?: \S")),
    (PREFERENCE, regex(r"^ (?:my |our )?(?:preferences?|style) ?: \S")),
)  # fmt: skip
_DONE_LABEL = regex(r"^ (?:the )?(?:fix(?:ed)?|solution|decision|approach|change)(?: is| was)? ?: \S")
_REQUEST = regex(
    r"^ (?:(?:okay|so|and|also|hey|but) ,? ?)*(?:could|can|would|will) you (?:please )?"
    r"(?:(?:always|avoid|stop|not|never)\b|.*\b(?:from now on|in (?:the )?future|always|every time|going forward)\b)"
)


def of_user(sentence: FactSentence, *, is_denied: bool) -> list[FactMatch]:
    """What the user states in a sentence. `is_denied` says that something was called wrong just before."""
    if (
        len(sentence.words) < 2
        or len(sentence.words) > 2 * _MAX_WORDS
        or moods.is_ironic(sentence)
        or moods.is_foreign(sentence)
    ):
        return []
    if moods.is_question(sentence):
        return [_whole(sentence, PREFERENCE, FAIR)] if _REQUEST.match(sentence.low) else []
    if moods.is_report(sentence):
        return []
    if steps.is_procedure(sentence, is_asked=False):
        return [_whole(sentence, PROCEDURE, LIKELY)]
    if moods.is_supposed(sentence):
        return []
    if repairs.is_contrast(sentence) and not moods.is_unsure(sentence.clauses[0]):
        return [_whole(sentence, CORRECTION, LIKELY)]
    for kind, label in _LABELS:
        if label.match(sentence.low):
            return [_whole(sentence, kind, SURE)]
    return _joined(sentence, _of_clauses(sentence, is_denied=is_denied))


def _of_clauses(sentence: FactSentence, *, is_denied: bool) -> list[tuple[str, float]]:
    found, is_anothers = [], False
    for clause in sentence.clauses:
        is_anothers = moods.is_view(clause) or (is_anothers and not moods.concludes(clause))
        found.append(("", 0.0) if is_anothers else _of_clause(clause, sentence, is_denied=is_denied))
        is_denied = is_denied or repairs.denies(clause)
    return found


def _of_clause(clause: FactClause, sentence: FactSentence, *, is_denied: bool) -> tuple[str, float]:
    if moods.is_unsure(clause) or moods.is_offer(clause):
        return "", 0
    is_momentary = moods.is_momentary(clause)
    for rule in _RULES:
        if not (rule.is_lasting and is_momentary) and rule.holds(clause, sentence):
            return rule.kind, rule.confidence
    if repairs.is_correction(clause, is_denied=is_denied):
        return CORRECTION, LIKELY
    if not is_momentary and constraints.is_constraint(clause):
        return CONSTRAINT, LIKELY
    return "", 0


def of_assistant(sentence: FactSentence, *, is_asked: bool) -> list[FactMatch]:
    """What an assistant states that it has done or found out. `is_asked` says that it answers the question how."""
    if len(sentence.words) < 4 or len(sentence.words) > 2 * _MAX_WORDS:
        return []
    if moods.is_question(sentence) or moods.is_supposed(sentence):
        return []
    if is_asked and steps.is_procedure(sentence, is_asked=True):
        return [_whole(sentence, PROCEDURE, ASSISTANT)]
    if any(moods.is_unsure(clause) or moods.is_offer(clause) for clause in sentence.clauses):
        return []
    if repairs.is_cause(sentence):
        return [_whole(sentence, CORRECTION, ASSISTANT)]
    if _DONE_LABEL.match(sentence.low):
        return [_whole(sentence, DECISION, ASSISTANT)]
    if steps.is_procedure(sentence, is_asked=False) and "`" in sentence.statement.text:
        return [_whole(sentence, PROCEDURE, ASSISTANT)]
    found = [
        (DECISION, ASSISTANT) if choices.is_report_of_choice(clause, sentence) else ("", 0.0)
        for clause in sentence.clauses
    ]
    return _joined(sentence, found)


def _whole(sentence: FactSentence, kind: str, confidence: float) -> FactMatch:
    start = sentence.clauses[0].start if sentence.clauses else 0
    return FactMatch(
        kind, sentence.statement.start + start, sentence.statement.start + len(sentence.statement.text), confidence
    )


_SHORT = 5
"""A clause of fewer words says little without the one before it."""
_POINTERS = frozenset("it this that they these those them".split())


def _joined(sentence: FactSentence, kinds: Sequence[tuple[str, float]]) -> list[FactMatch]:
    """The findings of the clauses: those of one kind in a row are one, and the clause behind one belongs to it."""
    found: list[FactMatch] = []
    base, tail, last_end = sentence.statement.start, False, 0
    for at, (kind, confidence) in enumerate(kinds):
        clause = sentence.clauses[at]
        begin, end = base + clause.start, base + clause.end
        if found and tail and (not kind or kind == found[-1].kind):
            found[-1] = found[-1]._replace(end=end)
        elif kind:
            if (
                at
                and not found
                and len(sentence.clauses[at - 1].words) > 2
                and (_points(clause) or len(clause.words) < _SHORT)
            ):
                begin = base + sentence.clauses[at - 1].start
            found.append(FactMatch(kind, begin, end, confidence))
        tail = bool(found) and end - found[-1].start < 200 and (bool(kind) or last_end != at)
        last_end = at
    return found


def _points(clause: FactClause) -> bool:
    """Whether its subject stands for something said before, and it says little else."""
    if clause.is_order:
        return clause.rest[:1] != () and clause.rest[0] in _POINTERS and len(clause.rest) <= 3
    return clause.subject[:1] != () and clause.subject[0] in _POINTERS and len(clause.rest) <= 4
