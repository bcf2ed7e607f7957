from __future__ import annotations

from memcli.model.analysis import terms
from memcli.policy.excerpt import best_sentence, excerpt

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
