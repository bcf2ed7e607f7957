from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.policy.answer import best_sentence, excerpt, within
from memcli.text.words import terms

TEXT = """# Deploys
We deploy on Tuesdays. The window is
from nine to ten, e.g. at half past nine. Nobody deploys on Fridays.

- Ask Ann for the key of the vault.
- Tag the release.

```sh
make deploy ENV=prod
    make rollback
```
"""


def wanted(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def test_the_sentence_is_whole_though_its_lines_are_wrapped() -> None:
    assert (
        best_sentence(TEXT, wanted("when is the window?")) == "The window is from nine to ten, e.g. at half past nine."
    )


def test_a_list_item_a_line_of_code_and_nothing() -> None:
    assert best_sentence(TEXT, wanted("who has the key of the vault?")) == "- Ask Ann for the key of the vault."
    assert best_sentence(TEXT, wanted("rollback")) == "    make rollback"
    assert best_sentence(TEXT, wanted("quokka")) == "# Deploys"
    assert best_sentence(" \n", wanted("x")) == ""


def test_an_excerpt_grows_by_whole_sentences_and_keeps_lines() -> None:
    assert excerpt(TEXT, wanted("fridays"), 30) == "Nobody deploys on Fridays."
    assert excerpt(TEXT, wanted("tag"), 60) == "- Tag the release.\nmake deploy ENV=prod\n    make rollback"
    assert excerpt(TEXT, wanted("window"), 90) == (
        "The window is from nine to ten, e.g. at half past nine. Nobody deploys on Fridays."
    )
    assert excerpt(TEXT, wanted("fridays"), 5) == "Nobody deploys on Fridays."


def test_what_never_ends_is_cut() -> None:
    assert len(best_sentence("x" * 5000, wanted("y"))) == 901


LINE = "const gate = open(first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh);"


def test_what_is_short_enough_is_left_as_it_is() -> None:
    assert within(TEXT, wanted("vault"), len(TEXT)) == TEXT


@pytest.mark.parametrize(
    ("text", "asked", "size", "found"),
    [
        (TEXT, "the key of the vault", 60, "- Ask Ann for the key of the vault.\n- Tag the release."),
        (TEXT, "", 45, "# Deploys\nWe deploy on Tuesdays."),
        (LINE, "sixth", 40, "…fourth, fifth, sixth, seventh, eighth,…"),
        (LINE, "", 40, "const gate = open(first, second, third,…"),
        ("x" * 900, "", 40, "x" * 39 + "…"),
        ("👩‍🚀" * 50, "", 40, "👩‍🚀" * 13 + "…"),
        ("e\u0301" * 100, "", 40, "e\u0301" * 19 + "…"),
        ("👍🏽" * 100, "", 40, "👍🏽" * 19 + "…"),
        ("日本語" * 40, "", 40, "日本語" * 13 + "…"),
        ("a" + "\u0301" * 200, "", 40, "a" + "\u0301" * 38 + "…"),
    ],
)
def test_what_is_longer_is_cut_at_a_sentence_a_word_or_a_character(
    text: str, asked: str, size: int, found: str
) -> None:
    assert within(text, wanted(asked), size) == found


@given(st.text(max_size=400), st.text(max_size=20), st.integers(40, 120))
def test_it_is_never_longer(text: str, asked: str, size: int) -> None:
    assert len(within(text, wanted(asked), size)) <= size
