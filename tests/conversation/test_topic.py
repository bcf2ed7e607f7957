"""Whether a prompt changes the topic, by vectors and words alone, and what the last topic of a session becomes."""

from __future__ import annotations

from hashlib import sha256

import pytest

from memcli.app.context import session_topic
from memcli.conversation.topic import LastTopic, compare, compare_to, next_topic, trace
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.errors import ProviderError
from tests.growth import SHAPES, grows_too_fast

PAIRS = [
    ("Add a bookmark button to the reader", "make it a star instead", False),
    ("Add a bookmark button to the reader", "and on phones?", False),
    ("Add a bookmark button to the reader", "the button should remember its state", False),
    ("Add a bookmark button to the reader", "Write a cover letter for a job as a nurse", True),
    ("Why is the harvest report late?", "it needs 40 minutes since Monday", False),
    ("Why is the harvest report late?", "Is the harvest report late on weekends too?", False),
    ("Why is the harvest report late?", "thanks! next topic: our tractors need a GPS tracker", True),
    ("Why is the harvest report late?", "Create a logo for the beekeepers' club", True),
    ("Rename tide_table in src/sea/tides.py", "does tides.py still pass its tests?", False),
    ("Rename tide_table in src/sea/tides.py", "ImportError: cannot import name 'tide_table'", False),
    ("Rename tide_table in src/sea/tides.py", "How do I get a visa for Vietnam?", True),
]


@pytest.mark.parametrize("has_vectors", [True, False])
def test_changes_and_follow_ups(has_vectors: bool) -> None:
    embedder = EMBEDDERS[DEFAULT_EMBEDDER]() if has_vectors else None
    assert [pair for pair in PAIRS if session_topic(embedder, pair[0], pair[1]).changed != pair[2]] == []


def test_a_short_reply_changes_nothing_however_different_it_is() -> None:
    replies = ["why?", "ok", "continue", "and the tests?", "now do the same for the other one", "", "```\nx = 1\n```"]
    assert [reply for reply in replies if compare("Refactor the invoice parser", reply, -0.1).changed] == []


def test_the_verdict_names_the_strongest_feature_and_a_similarity_between_0_and_1() -> None:
    assert compare("Refactor the invoice parser", "new topic: which birds live here?").why == "says so"
    assert compare("Fix the invoice parser", "Fix the invoice parser", 1.0).why == "similar in meaning"
    assert compare("a", "b", -0.4).similarity == 0
    assert compare("Fix the invoice parser", "Fix the invoice parser", 1.1).similarity == 1


def test_without_a_working_embedder_words_decide() -> None:
    class Failing:
        model, dimensions, is_calibrated = "none", 1, True

        def embed(self, texts, *, as_questions=False):
            raise ProviderError("no model")

    assert session_topic(Failing(), "Add dark mode", "new topic: birds") == compare("Add dark mode", "new topic: birds")


def test_work_is_in_proportion_to_the_text() -> None:
    assert [shape for shape in SHAPES if grows_too_fast(lambda text: compare(text, text, 0.1), SHAPES[shape])] == []


def sign(word: str) -> str:
    return sha256(b"key" + word.encode()).hexdigest()[:16]


def after(*prompts: str) -> tuple[LastTopic | None, list[bool]]:
    """The topic after the prompts, and which of them changed it."""
    last: LastTopic | None = None
    changes = []
    for prompt in prompts:
        last, changed = next_topic(last, prompt, LastTopic(trace(prompt, sign)), sign)
        changes.append(changed)
    return last, changes


def test_hashes_are_judged_as_words_are() -> None:
    for similarity in [None, 0.05, 0.2, 0.5]:
        for previous, current, _ in PAIRS:
            by_hash = compare_to(trace(previous, sign), current, similarity, sign)
            assert by_hash == compare(previous, current, similarity)


def test_the_words_of_a_follow_up_belong_to_the_topic() -> None:
    first, then = "Add a retry to the upload of invoices", "and what about the webhook signatures of Stripe?"
    last = "Explain the webhook signatures of Stripe"
    assert after(first, last)[1] == [False, True]
    assert after(first, then, last)[1] == [False, False, False]


def test_a_short_reply_is_no_topic_of_its_own() -> None:
    first = "Which payment provider handles the refunds?"
    assert after(first, "why?")[0] == after(first)[0]
    assert after(first, "Write a limerick about the sea", "shorter")[1] == [False, True, False]


def test_vectors_of_two_models_are_not_compared() -> None:
    prompt, other, vector = "Which payment provider do we use?", "Explain how the bank settles", bytes([100] * 4)
    for model, changes in [("m", False), ("another", True), ("", True)]:
        last = LastTopic(trace(prompt), model, vector)
        assert next_topic(last, other, LastTopic(trace(other), "m", vector), str)[1] == changes


def test_a_topic_does_not_grow_without_end() -> None:
    long = [
        "Which payment provider do we use?",
        *(f"and {' '.join(f'w{n}x{m}' for m in range(90))}?" for n in range(9)),
    ]
    last, _ = after(*long)
    assert last is not None
    assert len(last.trace.terms) <= 200
