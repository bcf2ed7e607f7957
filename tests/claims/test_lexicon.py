"""The tables of words agree with each other."""

from __future__ import annotations

from memcli.claims import lexicon
from memcli.claims.lexicon import CASED, NAMES, PLAIN, UNITS, choice_of, read
from memcli.claims.values import glued, quantities


def test_the_tables_agree() -> None:
    assert not lexicon.DENYING & lexicon.AFFIRMING
    assert not PLAIN - NAMES.keys()
    assert all(lexicon.SAME_WORDS.get(base, base) == base for base in lexicon.SAME_WORDS.values())
    assert all(len(phrase) <= lexicon.LONGEST_PHRASE and phrase[0] in lexicon.FIRST_WORDS for phrase in lexicon.PHRASES)


def test_every_name_is_read_as_one() -> None:
    texts = {name: name.title() if name in CASED else name.replace("-", " ") for name in sorted(NAMES.keys() - PLAIN)}
    assert [name for name, text in texts.items() if not any(map(choice_of, read(f"We use {text}")))] == []


def test_every_unit_is_read() -> None:
    for unit in sorted(UNITS):
        (quantity,) = quantities(read(glued(f"it takes 3 {unit} there"))) or (None,)
        assert quantity is not None
        assert (quantity.dimension, quantity.value) == (UNITS[unit][0], 3 * UNITS[unit][1])
