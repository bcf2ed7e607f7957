"""What is taken back later in the same conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memcli.conversation.facts import words
from memcli.conversation.facts.fact import CORRECTION, DECISION, Fact
from memcli.conversation.facts.sentence import FactSentence
from memcli.conversation.facts.words import FactWord
from memcli.model.analysis import simple_terms
from memcli.regex import regex

_TAKEN_BACK = regex(
    r"\b(?:scratch that|never mind|(?:forget|scrap|ignore|disregard|strike|cancel|undo|revert) (?:that|it|what i (?:just )?said|my last|the last)"
    r"|on second thoughts?|(?:i )?take (?:that|it) back|changed? (?:of plans?|my mind)|change of plans?|no wait|not needed (?:anymore|after all|in)|i was wrong|hold that thought|let us not do that|thinking about it again)\b"
    r"|\b(?:actually|wait|hmm?|sorry) ,? ?no\b"
)
_INSTEAD = regex(r"\binstead\b(?! of)")
_REACH = 2
"""How many messages back something can be taken back without naming it."""
RECENT = 24
"""How many of the last facts a new one is compared with."""
_NAMED = 2
"""How many words of a fact name it."""
_SAME = 0.6


def takes_back(sentence: FactSentence) -> bool:
    """Whether a sentence takes back what was said before."""
    return _TAKEN_BACK.search(sentence.low) is not None


def after(sentence: FactSentence) -> Sequence[FactWord]:
    """The words behind what takes back."""
    match = _TAKEN_BACK.search(sentence.low)
    count = len(sentence.low[: match.end()].split()) if match else 0
    found = words.read(sentence.statement.text)[count:]
    while (found and not found[0].text[0].isalnum()) or (found and found[0].text in ("then", "okay", "so")):
        found = found[1:]
    return found


def replaces(sentence: FactSentence) -> bool:
    """Whether a sentence puts something in the place of what was said before."""
    return _INSTEAD.search(sentence.low) is not None


def without_last(recent: Sequence[Fact], sentence: FactSentence, message: int) -> list[Fact]:
    """The recent facts without what a sentence of a message takes back: what it names, or else the last one."""
    named = _terms(sentence.statement.text)
    near = [fact for fact in recent if message - fact.message <= _REACH or len(named & _terms(fact.text)) >= _NAMED]
    if not near:
        return list(recent)
    latest = max(fact.message for fact in near)
    chosen = max(near, key=lambda fact: (len(named & _terms(fact.text)), fact.message == latest, fact.span))
    return [fact for fact in recent if fact is not chosen]


def without_superseded(recent: Sequence[Fact], new: Fact) -> list[Fact]:
    """The recent facts without the decisions that a new one makes anew."""
    if new.kind not in (DECISION, CORRECTION):
        return list(recent)
    terms = _terms(new.text)
    return [fact for fact in recent if not _is_same(fact, new, terms)]


@lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    return frozenset(simple_terms(text))


def _is_same(old: Fact, new: Fact, terms: frozenset[str]) -> bool:
    if old.kind != new.kind or old.message >= new.message:
        return False
    before = _terms(old.text)
    return len(before & terms) >= max(2, _SAME * min(len(before), len(terms)))
