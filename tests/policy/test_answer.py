"""The part of a memory that answers a topic."""

from __future__ import annotations

from memcli.model.passages import passages
from memcli.policy.answer import SHOWN, answer_of
from tests.conftest import memory
from tests.model.test_passages import CHANGE, DOCUMENT

LONG = "# Guide\n\n" + "\n\n".join(f"Paragraph {n} speaks of topic{n}." + " Filler words." * 30 for n in range(12))


def test_a_passage_is_shown_with_what_follows_it_below_its_headings() -> None:
    told = memory("a", raw=LONG, metadata={"source": "docs/guide.md", "headings": ["Guide"]})
    answer = answer_of(told, [3], "topic3")
    assert answer.text.startswith("Paragraph 3 speaks of topic3.")
    assert "Paragraph 4" in answer.text
    assert len(answer.text) <= SHOWN + 10
    assert (answer.heading, answer.sentence) == ("Guide", "Paragraph 3 speaks of topic3.")
    assert LONG[answer.start : answer.end].strip() == answer.text
    assert answer.fuller == ""


def test_more_passages_are_shown_in_the_order_of_the_text_with_gaps_marked() -> None:
    told = memory("a", raw=LONG)
    answer = answer_of(told, [8, 0, 4], "topic8", more=1)
    assert answer.text.startswith("Paragraph 8")
    assert answer.fuller.startswith("Paragraph 0")
    assert "\n[…]\nParagraph 8" in answer.fuller
    assert "Paragraph 4" not in answer.fuller


def test_without_numbers_words_decide() -> None:
    assert answer_of(memory("a", raw=LONG), [], "topic7").text.startswith("Paragraph 7")
    assert answer_of(memory("a", raw=LONG), [999], "topic7").text.startswith("Paragraph 7")
    assert answer_of(memory("a", raw=LONG), [], "").text == ""


def test_a_commit_answers_with_its_message_and_the_hunk_that_matches() -> None:
    answer = answer_of(memory("c", raw=CHANGE, kind="diff"), [2, 0, 1], "test fetch")
    assert answer.text == (
        "Retry when a page times out\n\nThe server drops one request of a hundred.\n"
        'tests/test_fetch.py (added)\n@@\n+def test_fetch() -> None:\n+    assert fetch("x")'
    )
    assert answer.heading == ""


def test_of_a_long_message_the_subject_and_what_answers_are_shown() -> None:
    body = "\n\n".join(f"Reason {n}: " + "words of it. " * 50 for n in range(6))
    change = memory("c", raw=f"Change it\n\n{body}\n\na.py\n@@\n+x = 1", kind="diff")
    cut = passages(change)
    answer = answer_of(change, [3, len(cut) - 1], "reason")
    assert answer.text.startswith("Change it")
    assert cut[3].text in answer.text
    assert "[…]" in answer.text
    assert "+x = 1" in answer.text
    assert cut[1].text not in answer.text


def test_a_table_is_shown_below_its_version() -> None:
    assert answer_of(memory("a", raw=DOCUMENT), [1], "--short").heading == "Guide > Install > Since 8.1.0"
