"""The tables of words agree with each other."""

from __future__ import annotations

from memcli.claims.lexicon import (
    AFFIRMING,
    CASED,
    DENYING,
    FIRST_WORDS,
    LONGEST_PHRASE,
    NAMES,
    PHRASES,
    PLAIN,
    SAME_WORDS,
    UNITS,
    choice_of,
    read,
)
from memcli.claims.values import glued, quantities


def test_a_word_denies_or_affirms() -> None:
    assert not DENYING & AFFIRMING


def test_plain_words_that_are_names_are_among_the_names() -> None:
    assert not PLAIN - NAMES.keys()


def test_a_word_that_stands_for_another_is_none_that_another_stands_for() -> None:
    assert all(SAME_WORDS.get(base, base) == base for base in SAME_WORDS.values())


def test_phrases_are_found_by_their_first_word() -> None:
    assert all(len(phrase) <= LONGEST_PHRASE and phrase[0] in FIRST_WORDS for phrase in PHRASES)


def test_every_name_is_read_as_one() -> None:
    texts = {name: name.title() if name in CASED else name.replace("-", " ") for name in sorted(NAMES.keys() - PLAIN)}
    assert [name for name, text in texts.items() if not any(map(choice_of, read(f"We use {text}")))] == []


def test_every_unit_is_read() -> None:
    for unit in sorted(UNITS):
        (quantity,) = quantities(read(glued(f"it takes 3 {unit} there"))) or (None,)
        assert quantity is not None
        assert (quantity.dimension, quantity.value) == (UNITS[unit][0], 3 * UNITS[unit][1])
