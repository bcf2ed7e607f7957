"""What opens a sentence without being part of its clauses: interjections, and phrases such as `by the way`."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.facts import lexicon
from memcli.conversation.facts.words import FactWord, is_word

_NOUN_LEADS = frozenset(
    "no first second again finally good great correct important update edit listen look remember note fine right nice thank "
    "reminder rule as which true warning release".split()
)


def without_fillers(words: Sequence[FactWord]) -> Sequence[FactWord]:
    """The words of a clause without the phrases that change nothing in what it states."""
    texts = [word.text for word in words]
    for phrase in lexicon.FILLERS:
        if phrase[0] not in texts:
            continue
        at = texts.index(phrase[0])
        if tuple(texts[at : at + len(phrase)]) == phrase and len(texts) > len(phrase) and at < 6:
            words = [*words[:at], *words[at + len(phrase) :]]
            texts = [word.text for word in words]
    return words


def end(texts: Sequence[str]) -> int:
    """Where the clause proper begins."""
    at = 0
    while at < len(texts):
        if is_word(texts[at]) and (texts[at] not in lexicon.OPENERS or _is_determiner(texts, at)):
            break
        at += 1
    return at


def _is_determiner(texts: Sequence[str], at: int) -> bool:
    """Whether `no` or an adjective belongs to the noun behind it, rather than opening the sentence."""
    text, following = texts[at], texts[at + 1] if at + 1 < len(texts) else ""
    if text not in _NOUN_LEADS:
        return False
    if text in ("note", "remember") and following in ("that", "to"):
        return following == "to"
    is_order = text == "first" and following in lexicon.verbs()
    return bool(following) and is_word(following) and following not in lexicon.PERSONS and not is_order
