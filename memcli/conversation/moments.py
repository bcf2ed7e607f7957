"""What each sentence does in a conversation: it names a problem, a cause, a decision, a change of plan, a task or its end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memcli.conversation.moment_rules import (
    ACCEPTED,
    ACTION,
    ASKING,
    CAUSE,
    CHOICE,
    CHOICE_WORDS,
    CURED,
    DECIDED,
    DISMAY,
    DONE,
    FAILED,
    FINDING,
    GLAD,
    NO_PROBLEM,
    NONE_FAILED,
    OF_ASSISTANT,
    OF_USER,
    PASSED,
    PERSISTS,
    PRAISE,
    PROBLEM,
    REQUEST,
    REQUEST_WORDS,
    SUGGESTED,
    TOOL_FAILED,
    TOOL_PASSED,
    UNDECIDED,
)
from memcli.conversation.statements import ASKED, PHATIC, PLANNED, STATED, TalkStatement, mood_of, statements
from memcli.model.conversation import Message
from memcli.regex import regex

_REFUSAL = regex(r"\b(?:no|nope|ouch|hm+|not)\b")
_LONG_AGO = regex(r"\b(?:years?|months?|weeks?) ago\b|\bback then\b|\blast (?:year|month|week|time)\b")
_UNTIL = regex(r"\b(?:until|till)\b")
_KEPT = 1 << 14
_GENERAL = regex(r"(?:when|whenever|once|before|after) ")
_UNIT = r"\s?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|hours?|h|days?|kb|mb|gb|tb|%|percent)?(?!\w)"
_CHANGE = regex(
    rf"\bfrom (?:about |around |roughly |over )?(\d[\d,]*(?:\.\d+)?){_UNIT}.{{0,20}}? to (?:about |almost |around |roughly |only |just |under |over )?"
    rf"(\d[\d,]*(?:\.\d+)?){_UNIT}"
)
_SIZES = (
    ("ms", 0.001), ("milli", 0.001), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0), ("kb", 1.0), ("mb", 1e3), ("gb", 1e6), ("tb", 1e9),
)  # fmt: skip


class Moment(NamedTuple):
    """A sentence with what it does; for a message of a tool, how it ended."""

    statement: TalkStatement
    marks: frozenset[str]


@lru_cache(maxsize=_KEPT)
def moments(message: Message) -> tuple[Moment, ...]:
    """The sentences of a message with what each does."""
    if message.role == "tool":
        said = TalkStatement(message.number, message.role, message.who, message.text, "", STATED)
        return (Moment(said, _of_tool(message.text)),)
    return tuple([Moment(said, marks_of(said)) for said in statements(message)])


def marks_of(said: TalkStatement) -> frozenset[str]:
    """What a sentence does. A question may ask for something or name a problem before it asks; a guess does nothing."""
    if said.mood == PHATIC:
        return frozenset() if said.role == "assistant" else frozenset(_of_phatic(said.bare))
    if said.mood == ASKED:
        return frozenset(_asked(said))
    if said.mood not in (STATED, PLANNED):
        return frozenset()
    marks = {name for name, patterns in _table(said.role).items() if _is_in(patterns, _searched(name, said))}
    marks |= _change(said.bare)
    if _is_in(REQUEST_WORDS, said.bare) and said.role != "assistant":
        marks.discard(PROBLEM)
    if SUGGESTED in marks and said.who == said.role:  # among people, `let's` is seldom more than a suggestion
        marks.add(DECIDED)
    if _LONG_AGO.search(said.bare):
        marks -= {ACTION, DONE, CURED}
    if _UNTIL.search(said.bare):
        marks.discard(DONE)
    if UNDECIDED.search(said.bare):
        marks.discard(DECIDED)
    if said.mood == PLANNED:  # a plan is neither a fact nor an end
        marks -= {ACTION, CURED, DONE, CAUSE, FINDING, PRAISE, GLAD}
    return frozenset(_settled(marks))


def _change(bare: str) -> set[str]:
    """What a change from one amount to another is: a gain and a cure if it became less, a problem if it became more."""
    match = _CHANGE.search(bare)
    if not match:
        return set()
    unit = match[4] or match[2]
    if not unit:
        return set()
    before, after = _amount(match[1], match[2] or unit), _amount(match[3], unit)
    return {FINDING, CURED} if after < before else {PROBLEM} if after > before else set()


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", "").rstrip(".")) * next(
        (size for name, size in _SIZES if unit.startswith(name)), 1.0
    )


def _settled(marks: set[str]) -> set[str]:
    """The marks without those that others rule out."""
    if PERSISTS in marks:
        return marks - {CURED, DONE, ACTION, PRAISE, GLAD}
    if CURED in marks:
        return marks - {PROBLEM}
    if ACTION in marks or CAUSE in marks or DONE in marks:
        return marks - {PROBLEM, REQUEST}
    return marks


def _of_phatic(bare: str) -> set[str]:
    found = {mark for mark in (GLAD, ACCEPTED, DISMAY) if _is_in(OF_USER[mark], bare)}
    return found if _REFUSAL.search(bare) else {PRAISE, *found}


def _asked(said: TalkStatement) -> set[str]:
    """What a question asks for, and the problem that is named before it."""
    found = set()
    if said.role != "assistant" and _is_in(REQUEST_WORDS, said.bare):
        found.add(REQUEST)
    if _is_in(CHOICE_WORDS, said.bare):
        found.add(CHOICE)
    clause = ASKING.sub("", said.bare)
    is_statement = clause != said.bare and mood_of(clause, clause) in (STATED, PLANNED)
    if is_statement and _is_in(_table(said.role)[PROBLEM], NO_PROBLEM.sub(" ", clause)):
        found.add(PROBLEM)
    return found


def _searched(mark: str, said: TalkStatement) -> str:
    """What of a sentence a mark is searched in: of a problem, not what says that there is none or when there would be one."""
    if mark != PROBLEM:
        return said.bare
    return "" if said.role == "assistant" and _GENERAL.match(said.bare) else NO_PROBLEM.sub(" ", said.bare)


def _table(role: str) -> Mapping[str, Sequence[str]]:
    return OF_ASSISTANT if role == "assistant" else OF_USER


def _is_in(patterns: Sequence[str], bare: str) -> bool:
    return bool(_any_of(tuple(patterns)).search(bare))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _of_tool(text: str) -> frozenset[str]:
    head = text[:2000]
    if TOOL_FAILED.search(NONE_FAILED.sub("", head)):
        return frozenset([FAILED])
    return frozenset([PASSED]) if TOOL_PASSED.search(head) else frozenset()
