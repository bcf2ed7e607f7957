from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memcli.conversation.snapshot import Part, by_words, choose, of_messages, of_text, tokens_of
from memcli.model.conversation import Message
from memcli.model.pieces import CHUNK_CHARACTERS
from memcli.model.shapes import MEMORY_FIELDS
from tests.conversation.corpus import read

LONG = read("long_conversation.txt")[0].messages
PARTS = of_messages(LONG, "ses_1")


def test_the_most_relevant_parts_come_in_their_order() -> None:
    chosen = choose(PARTS, "event stream progress of the admin page", 120)
    assert [one["source"] for one in chosen] == [f"ses_1#{n}" for n in (13, 41, 42, 45, 49)]


def test_a_snapshot_is_the_context_of_a_memory() -> None:
    shape = MEMORY_FIELDS["context"]["items"]
    assert all(one.keys() == shape["properties"].keys() for one in choose(PARTS, "worker queue"))


@given(st.integers(0, 600), st.sampled_from(["worker", "font cache of the PDF library", "CI health check", ""]))
def test_a_snapshot_takes_no_more_than_its_tokens(tokens: int, topic: str) -> None:
    chosen = choose(PARTS, topic, tokens)
    assert tokens_of(chosen) <= tokens
    assert all(0 < one["similarity"] <= 1 for one in chosen)


@given(st.lists(st.sampled_from([0.0, -0.1, 0.2, 0.2, 0.9, 1.0]), min_size=len(PARTS), max_size=len(PARTS)))
def test_any_similarity_can_be_given(values: list[float]) -> None:
    def given_(topic: str, texts: Sequence[str]) -> Sequence[float]:
        assert topic == "topic"
        assert len(texts) == len(PARTS)
        return values

    chosen = choose(PARTS, "topic", 100_000, given_)
    wanted = {part.text for part, value in zip(PARTS, values, strict=True) if value > 0}
    assert {one["text"] for one in chosen} == wanted


def test_long_messages_are_taken_in_parts_and_tools_are_not() -> None:
    messages = [Message(1, "user", "word " * 1000), Message(2, "tool", "output"), Message(3, "assistant", "short")]
    parts = of_messages(messages, "ses_1")
    assert {part.source for part in parts} == {"ses_1#1", "ses_1#3"}
    assert all(len(part.text) <= CHUNK_CHARACTERS for part in parts)


def test_a_text_is_taken_in_parts() -> None:
    assert of_text("One.\n\nTwo.", "stdin") == [Part("stdin", "", "One.\n\nTwo.")]


def test_the_same_text_is_taken_once() -> None:
    assert len(choose([Part("a", "", "the worker"), Part("b", "", "the worker")], "worker")) == 1


def test_nothing_in_common_is_no_similarity() -> None:
    assert by_words("worker", ["queue", "the worker"])[0] == 0
    assert by_words("", []) == []
    assert choose([], "worker") == []
