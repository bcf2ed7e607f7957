"""The part of a memory that answers a topic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.policy.answer import SHOWN, answer_of, best_sentence, excerpt, within
from memcli.text.passages import passages
from memcli.text.words import terms
from tests.conftest import memory
from tests.text.test_passages import CHANGE, DOCUMENT

SHORT = "# Guide\n\n" + "\n\n".join(f"Paragraph {n} speaks of topic{n}." + " Filler words." * 25 for n in range(6))
LONG = "# Guide\n\n" + "\n\n".join(f"Paragraph {n} speaks of topic{n}." + " Filler words." * 50 for n in range(12))


def test_a_passage_is_shown_with_what_stands_around_it_below_its_headings() -> None:
    told = memory("a", raw=SHORT, metadata={"source": "docs/guide.md", "headings": ["Guide"]})
    answer = answer_of(told, [(3, 0.9)], "topic3")
    assert "Paragraph 3 speaks of topic3." in answer.text
    assert answer.text.startswith("Paragraph 3")
    assert "Paragraph 4" in answer.text
    assert len(answer.text) <= SHOWN + 10
    assert (answer.heading, answer.sentence) == ("Guide", "Paragraph 3 speaks of topic3.")
    assert SHORT[answer.start : answer.end].strip() == answer.text
    assert answer.more == ()


def test_the_last_passage_is_shown_with_those_before_it() -> None:
    answer = answer_of(memory("a", raw=SHORT), [(5, 0.9)], "topic5")
    assert answer.text.startswith("Paragraph 4")
    assert "Paragraph 5" in answer.text


def test_more_passages_are_shown_in_the_order_of_the_text_with_gaps_marked() -> None:
    answer = answer_of(memory("a", raw=LONG), [(8, 0.9), (0, 0.5), (4, 0.4)], "topic8")
    assert answer.text.startswith("Paragraph 8")
    (first, score), (second, least) = answer.more
    assert (score, least) == (0.5, 0.4)
    assert first.startswith("Paragraph 0")
    assert "\n[…]\nParagraph 8" in first
    assert "Paragraph 4" not in first
    assert "Paragraph 4" in second


def test_the_parts_of_a_long_line_are_one_line() -> None:
    for line in ("The belt moves on. " * 120 + "It stops.", "belt" * 600, ("belt moves " * 300).rstrip()):
        told = memory("a", raw=f"{line}\n\nThe motor is cooled.")
        places = range(len(passages(told)))
        answer = answer_of(told, [(n, 1.0 - n / 10) for n in places], "belt")
        assert answer.more[-1][0] == told.raw


def test_within_a_limit_the_answer_is_the_best_sentence_of_the_best_passage() -> None:
    told = memory("a", raw=LONG)
    answer = answer_of(told, [(8, 0.9), (0, 0.5), (4, 0.4)], "topic8", limit=60)
    assert (answer.text, answer.more) == ("Paragraph 8 speaks of topic8. Filler words. Filler words.", ())
    assert answer.sentence == "Paragraph 8 speaks of topic8."
    assert told.raw[answer.start : answer.end] == answer.text
    line = memory("a", raw=f"{'belt ' * 40} port 8123 {'belt ' * 40}")
    answer = answer_of(line, [], "port", limit=60)
    assert "port 8123" in answer.text
    assert len(answer.text) <= 60
    assert answer_of(told, [(8, 0.9)], "topic8", limit=10_000) == answer_of(told, [(8, 0.9)], "topic8")


def test_without_numbers_words_decide() -> None:
    assert answer_of(memory("a", raw=LONG), [], "topic7").text.startswith("Paragraph 7")
    assert answer_of(memory("a", raw=LONG), [(999, 0.5)], "topic7").text.startswith("Paragraph 7")
    assert answer_of(memory("a", raw=LONG), [], "").text == ""


def test_a_commit_answers_with_its_message_and_the_hunk_that_matches() -> None:
    answer = answer_of(memory("c", raw=CHANGE, kind="diff"), [(2, 0.9), (0, 0.8), (1, 0.7)], "test fetch")
    assert answer.text == (
        "Retry when a page times out\n\nThe server drops one request of a hundred.\n"
        'tests/test_fetch.py (added)\n@@\n+def test_fetch() -> None:\n+    assert fetch("x")'
    )
    assert answer.heading == ""


def test_of_a_long_message_the_subject_and_what_answers_are_shown() -> None:
    body = "\n\n".join(f"Reason {n}: " + "words of it. " * 50 for n in range(6))
    change = memory("c", raw=f"Change it\n\n{body}\n\na.py\n@@\n+x = 1", kind="diff")
    cut = passages(change)
    answer = answer_of(change, [(3, 0.9), (len(cut) - 1, 0.5)], "reason")
    assert answer.text.startswith("Change it")
    assert cut[3].text in answer.text
    assert "[…]" in answer.text
    assert "+x = 1" in answer.text
    assert cut[1].text not in answer.text


def test_a_table_is_shown_below_its_version() -> None:
    assert answer_of(memory("a", raw=DOCUMENT), [(1, 0.9)], "--short").heading == "Guide > Install > Since 8.1.0"


def test_an_answer_ends_with_its_chapter() -> None:
    chapters = "# Guide\n\n## Build\n\nRun make first.\n\n## Deploy\n\nRun make deploy.\n\nWatch the dashboard."
    told = memory("a", raw=chapters)
    cut = passages(told)
    place = next(n for n, one in enumerate(cut) if "make first" in one.text)
    answer = answer_of(told, [(place, 0.9)], "make first")
    assert "Run make first." in answer.text
    assert "deploy" not in answer.text


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


CUT = (
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
)


def test_what_is_longer_is_cut_at_a_sentence_a_word_or_a_character() -> None:
    assert within(TEXT, wanted("vault"), len(TEXT)) == TEXT
    assert [(text, asked) for text, asked, size, found in CUT if within(text, wanted(asked), size) != found] == []


@given(st.text(max_size=400), st.text(max_size=20), st.integers(40, 120))
def test_it_is_never_longer(text: str, asked: str, size: int) -> None:
    assert len(within(text, wanted(asked), size)) <= size
