"""Keyphrases: the words and short phrases that a text is about, as tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from memcli.model.names import slug
from memcli.regex import regex
from memcli.summarize import sentences
from memcli.summarize.lexicon import DETERMINERS, is_adverb, is_gerund
from memcli.summarize.sentences import (
    ACRONYM,
    ACTION,
    BREAK,
    COMMON,
    GERUND,
    NAME,
    NOUN_CUE,
    PARTICIPLE,
    PRODUCT,
    PROPER,
    VAGUE_WORD,
    VERB,
    VERB_CUE,
    Sentence,
    path_words,
)
from memcli.text.passages import HEADING
from memcli.text.words import terms

MAX_TAGS = 5
STRIDE = 1000
"""A position is this times the number of the sentence, plus the number of the phrase in it."""

_SENTENCES = 80
_WORST = 0.6
"""The least score of a tag."""
_GOOD = 1.2
"""A phrase of this score is a tag even if the best one scores much more."""
_VAGUE_WORST = 0.3
_SHARE_OF_BEST = 0.3
_TITLE, _HEADING, _FIRST = 1.8, 0.7, 1.4
_HINT_BONUS, _HINT_SCORE, _NAME_SCORE = 1.0, 1.4, 1.7
_AFTER_TEXT = _SENTENCES * STRIDE
FROM_HINT = 2 * _AFTER_TEXT
"""From here on, positions are of phrases that occur only in the path."""
_MAX_PHRASE = 40
_STOPS = frozenset(":.!?;")
_ASIDE = regex(r"\([^()]*\)")
_OFTEN = 3

_WEIGHTS = {
    COMMON: 1.0,
    GERUND: 0.4,
    VAGUE_WORD: 0.3,
    ACTION: 0.7,
    VERB: 0.4,
    PROPER: 1.8,
    NAME: 1.8,
    ACRONYM: 1.5,
    PARTICIPLE: 0.2,
}

Word = tuple[int, str]
"""The class of a word, and its form in a phrase."""


Phrase = tuple[str, int]
"""A tag, and the first position of its phrase in the text, for callers that need phrases in the order of the text."""


def extract(
    sentences: Sequence[Sentence], hints: Iterable[str] = (), names: Iterable[str] = (), limit: int = MAX_TAGS
) -> list[Phrase]:
    """At most `limit` phrases, best first: lowercase slugs of which none has all terms of another.

    `hints` are paths that the text belongs to; `names` are identifiers that it defines.
    """
    scores: dict[str, float] = {}
    positions: dict[str, int] = {}
    counts: Counter[str] = Counter()

    def add(phrase: str, score: float, position: int) -> None:
        if phrase:
            scores[phrase] = scores.get(phrase, 0.0) + score
            positions.setdefault(phrase, position)

    for number, (text, role) in enumerate(sentences[:_SENTENCES]):
        is_heading = role == HEADING
        weight = (_HEADING if number else _TITLE) if is_heading else 1.0 if number else _FIRST
        for place, group in enumerate(_phrases(_ASIDE.sub("", text) if is_heading else text, is_heading)):
            phrase, score = _scored(group)
            add(phrase, weight * score, number * STRIDE + place)
            counts.update(word for sort, word in group if len(group) > 1 and sort != VAGUE_WORD)
    # A word of several phrases is a tag itself.
    for word, count in counts.items():
        if count >= _OFTEN:
            add(word, 0.5 * count, 0)
    for number, name in enumerate(names):
        add(slug(name), max(_NAME_SCORE - 0.1 * number, 0.7), number - _AFTER_TEXT)
    # Phrases that occur in the path too get a bonus; its other words become candidates.
    hinted = [word for hint in hints for word in path_words(hint)]
    wanted = {term for word in hinted for term in terms(word)}
    for phrase in scores:
        if not wanted.isdisjoint(_key(phrase)):
            scores[phrase] += _HINT_BONUS
    for number, word in enumerate(hinted if wanted else ()):
        if word not in scores:
            add(word, _HINT_SCORE, FROM_HINT + number)
    return _best(scores, positions, limit)


def _phrases(text: str, is_heading: bool) -> Iterator[list[Word]]:
    """The candidates of one sentence in order: one to three words each."""
    run: list[Word] = []
    before = BREAK
    is_start = True
    for place, token in enumerate(sentences.split_tokens(text)):
        sort, word = sentences.classify(token)
        if sort >= COMMON and token[0].isupper():
            sort = _capital(sort, token, is_heading or is_start, bool(run) and run[-1][0] == PROPER)
        if sort == PARTICIPLE and before != NOUN_CUE:
            sort = BREAK
        if sort < COMMON:
            if run:
                # In `the query scans the table` and `CI publishes to PyPI` the last word of the run is a verb.
                following = token
                takes_object = following.lower() in DETERMINERS or is_adverb(following.lower())
                takes_object |= run[-1][0] == ACTION and following == "to"
                if len(run) > 1 and run[-1][1].endswith("s") and takes_object:
                    run.pop()
                yield from _groups(run)
                run = []
        elif not run and sort <= ACTION and before == VERB_CUE:
            # `rotate` in `we must rotate API keys` is a weak tag, but `deploy` in `To deploy:` is the topic.
            if sort != VAGUE_WORD:
                yield [(ACTION if place == 1 else VERB, word)]
        elif not run and sort == ACTION and before != NOUN_CUE:
            yield [(ACTION, word)]
        else:
            run.append((sort, word))
        is_start = token in _STOPS or (is_start and not token[0].isalpha())
        before = sort
    if run:
        yield from _groups(run)


def _capital(sort: int, token: str, is_expected: bool, is_after_name: bool) -> int:
    """The class of a capitalised word: `Actions` after `GitHub` is a name; a capital that is expected, as at the start of a
    sentence, shows no name."""
    if sort == PRODUCT:
        return BREAK if is_expected else PROPER
    if is_expected and sort == PROPER and token[1:].islower():
        return GERUND if is_gerund(token.lower()) else COMMON
    if is_expected:
        return sort
    return PROPER if is_after_name and sort in (VAGUE_WORD, ACTION) else sort


def _groups(run: Sequence[Word]) -> Iterator[list[Word]]:
    """The phrases of a run of words: split between names and common words, and at verbs in -s; long ones into pairs."""
    group: list[Word] = []
    last = len(run) - 1
    for place, item in enumerate(run):
        sort, word = item
        # `the worker retries jobs`, unlike `the orders table`
        is_third_person = (
            place < last
            and sort in (COMMON, VAGUE_WORD, ACTION)
            and word.endswith("s")
            and not word.endswith(("ss", "us", "is", "ics", "ops"))
            and run[place + 1][0] in (COMMON, VAGUE_WORD, ACTION, PROPER, ACRONYM)
        )
        if group and is_third_person:
            yield from _pairs(group)
            group = []
            continue
        pair = {group[-1][0], sort} if group else set()
        # An identifier is a phrase of its own; a proper name joins only proper names and acronyms.
        if NAME in pair or (PROPER in pair and not pair <= {PROPER, ACRONYM}):
            yield from _pairs(group)
            group = []
        group.append(item)
    yield from _pairs(group)


def _pairs(group: list[Word]) -> Iterator[list[Word]]:
    if not group:
        return
    if len(group) <= 3:
        yield group
        return
    start = len(group) % 2
    if start:
        yield group[:1]
    for place in range(start, len(group), 2):
        yield group[place : place + 2]


def _scored(group: list[Word]) -> tuple[str, float]:
    """The phrase of a group of words, empty if it is too long for a tag, and its score."""
    if len(group) == 1:
        sort, word = group[0]
        return word, _WEIGHTS[sort] + (0.1 if len(word) > 7 else 0.0)
    vague = sum(sort == VAGUE_WORD for sort, _ in group)
    phrase = "-".join([word for _, word in group])
    score = 1.5 + 0.1 * len(group) - (0.8 if vague == len(group) else 0.15 * vague)
    return phrase if len(phrase) <= _MAX_PHRASE else "", score


def _best(scores: Mapping[str, float], positions: Mapping[str, int], limit: int) -> list[Phrase]:
    ranked = sorted((-round(score, 6), positions[phrase], phrase) for phrase, score in scores.items())
    chosen: list[Phrase] = []
    keys: list[frozenset[str]] = []
    best = -ranked[0][0] if ranked else 0.0
    # Vague words are tags only if no phrase is good enough.
    floor = max(_WORST, min(best * _SHARE_OF_BEST, _GOOD)) if best >= _WORST else _VAGUE_WORST
    for score, position, phrase in ranked:
        if len(chosen) == limit or -score < floor:
            break
        key = _key(phrase)
        if key and not any(key <= other or other <= key for other in keys):
            chosen.append((phrase, position))
            keys.append(key)
    return chosen


@lru_cache(maxsize=20_000)
def _key(phrase: str) -> frozenset[str]:
    """The terms of a phrase: the same for phrases that differ only in number or order."""
    return frozenset(terms(phrase))
