"""The last topic of a session: of hashes alone it is judged as of the words, and follow-ups belong to it."""

from __future__ import annotations

from hashlib import sha256

from memcli.conversation.topic import LastTopic, compare, compare_to, next_topic, trace
from tests.conversation.topic.test_topic import pairs


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
        for half in ["tune", "held"]:
            for previous, current, _ in pairs(half):
                by_hash = compare_to(trace(previous, sign), current, similarity, sign)
                assert by_hash == compare(previous, current, similarity)


def test_a_first_prompt_changes_nothing() -> None:
    assert after("Which payment provider do we use?")[1] == [False]


def test_a_follow_up_is_no_topic_of_its_own() -> None:
    prompts = ("Which payment provider handles the refunds?", "why?", "Explain the refunds of the payment provider")
    assert after(*prompts)[1] == [False, False, False]


def test_the_words_of_a_follow_up_belong_to_the_topic() -> None:
    first = "Add a retry to the upload of invoices"
    then = "and what about the webhook signatures of Stripe?"
    last = "Explain the webhook signatures"
    assert after(first, last)[1] == [False, True]
    assert after(first, then, last)[1] == [False, False, False]


def test_a_change_is_a_new_topic() -> None:
    prompts = (
        "Which payment provider do we use?",
        "Write a limerick about the stormy sea",
        "another limerick, shorter",
    )
    assert after(*prompts)[1] == [False, True, False]


def test_vectors_of_two_models_are_not_compared() -> None:
    for model, changes in [("m", False), ("another", True), ("", True)]:
        prompt, other, vector = (
            "Which payment provider do we use?",
            "Explain how the bank settles invoices",
            bytes([100] * 4),
        )
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
