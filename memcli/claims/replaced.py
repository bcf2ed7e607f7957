"""Names of what was not chosen, or no longer is: where they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.claims.lexicon import REPLACED
from memcli.claims.words import Word, choice_of

_PHRASES = frozenset(REPLACED)
_ADJACENT = frozenset("over not than without".split())
_REACH = 3
_ENDS = frozenset("to by with for".split())
_GONE = frozenset("gone out dead deprecated retired".split())


def replaced_places(words: Sequence[Word]) -> frozenset[int]:
    """The places of names behind such words as `instead of`, and of those that are said to be gone."""
    if all(choice_of(word) is None for word in words):
        return frozenset()
    return frozenset([*_behind_phrases(words), *_said_to_be_gone(words), *_moved_from(words)])


def _behind_phrases(words: Sequence[Word]) -> Iterator[int]:
    lows = [word.low for word in words]
    for at, low in enumerate(lows):
        two = " ".join(lows[at : at + 2])
        if two in _PHRASES:
            yield from _names(words, at + 2, _REACH)
        elif low in _PHRASES:
            yield from _names(words, at + 1, 1 if low in _ADJACENT else _REACH)


def _names(words: Sequence[Word], start: int, reach: int) -> Iterator[int]:
    for place in range(start, min(len(words), start + reach)):
        if words[place].text in ".,;:" or words[place].low in _ENDS:
            return
        if choice_of(words[place]) is not None:
            yield place


def _said_to_be_gone(words: Sequence[Word]) -> Iterator[int]:
    """The place of X in `X is gone`."""
    for at in range(2, len(words)):
        if words[at].low in _GONE and choice_of(words[at - 2]) is not None:
            yield at - 2


def _moved_from(words: Sequence[Word]) -> Iterator[int]:
    """The place of X in `from X to Y` where both are names of one class."""
    for at, word in enumerate(words[:-3]):
        if word.low == "from" and (before := choice_of(words[at + 1])) is not None:
            for place in range(at + 2, min(at + 6, len(words) - 1)):
                after = choice_of(words[place + 1])
                if words[place].low == "to" and after is not None and after[0] == before[0]:
                    yield at + 1
