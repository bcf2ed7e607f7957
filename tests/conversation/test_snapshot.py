from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memcli.conversation.snapshot import SnapshotPart, by_words, candidates, choose, of_messages, of_text, tokens_of
from memcli.model.conversation import Message
from memcli.model.shapes import MEMORY_FIELDS
from memcli.model.tokens import count_tokens
from memcli.text.passages import CHUNK_CHARACTERS
from tests.conversation.corpus import read

LONG = read("long_conversation.txt")[0].messages
PARTS = of_messages(LONG, "ses_1")


def test_the_most_relevant_parts_come_first() -> None:
    chosen = choose(PARTS, "event stream progress of the admin page", 120)
    assert {one["source"] for one in chosen} >= {f"ses_1#{n}" for n in (13, 41, 42, 45)}
    assert [one["similarity"] for one in chosen] == sorted((one["similarity"] for one in chosen), reverse=True)


def test_a_snapshot_uses_what_it_may() -> None:
    for tokens in [30, 100, 300, 1000]:
        for topic in ["event stream", "nothing that anybody said here", ""]:
            parts = of_messages(LONG, "ses_1", tokens)
            assert tokens * 0.9 <= tokens_of(choose(parts, topic, tokens)) <= tokens


def test_of_parts_as_similar_as_each_other_the_latest_come_first() -> None:
    parts = [
        SnapshotPart("a", "", "one of them"),
        SnapshotPart("b", "", "two of them"),
        SnapshotPart("c", "", "the queue"),
    ]
    assert [one["source"] for one in choose(parts, "queue")] == ["c", "b", "a"]


def test_a_part_is_shorter_than_a_small_snapshot() -> None:
    (part, *_) = of_text("word " * 500, "stdin", 100)
    assert tokens_of(choose([part], "word", 100)) > 0


def test_of_a_long_conversation_what_shares_words_and_the_latest_are_compared() -> None:
    assert candidates(PARTS, "anything") == PARTS, "all of a short one"
    said = [
        SnapshotPart(str(n), "", f"Remark {n} on something else entirely, at some length. " * 8) for n in range(300)
    ]
    said[7] = SnapshotPart("7", "", "The queue of the worker is full. " * 8)
    found = candidates(said, "worker queue", 1000)
    assert found[0] is said[7]
    assert found[1:] == said[300 - len(found) + 1 :]
    assert 8_000 < sum(count_tokens(part.text) for part in found) <= 16_000


def test_a_snapshot_is_the_context_of_a_memory() -> None:
    shape = MEMORY_FIELDS["context"]["items"]
    assert all(one.keys() == shape["properties"].keys() for one in choose(PARTS, "worker queue"))


@given(st.integers(0, 600), st.sampled_from(["worker", "font cache of the PDF library", "CI health check", ""]))
def test_a_snapshot_takes_no_more_than_its_tokens(tokens: int, topic: str) -> None:
    chosen = choose(PARTS, topic, tokens)
    assert tokens_of(chosen) <= tokens
    assert all(0 <= one["similarity"] <= 1 for one in chosen)


@given(st.lists(st.sampled_from([0.0, -0.1, 0.2, 0.2, 0.9, 1.0]), min_size=len(PARTS), max_size=len(PARTS)))
def test_any_similarity_can_be_given(values: list[float]) -> None:
    def given_(topic: str, texts: Sequence[str]) -> Sequence[float]:
        assert topic == "topic"
        assert len(texts) == len(PARTS)
        return values

    chosen = choose(PARTS, "topic", 100_000, given_)
    assert {one["text"] for one in chosen} == {part.text for part in PARTS}
    assert [one["similarity"] for one in chosen] == sorted((max(0.0, value) for value in values), reverse=True)


def test_long_messages_are_taken_in_parts_and_tools_are_not() -> None:
    messages = [Message(1, "user", "word " * 1000), Message(2, "tool", "output"), Message(3, "assistant", "short")]
    parts = of_messages(messages, "ses_1")
    assert {part.source for part in parts} == {"ses_1#1", "ses_1#3"}
    assert all(len(part.text) <= CHUNK_CHARACTERS for part in parts)


def test_the_same_text_is_taken_once() -> None:
    assert of_text("One.\n\nTwo.", "stdin") == [SnapshotPart("stdin", "", "One.\n\nTwo.")]
    assert len(choose([SnapshotPart("a", "", "the worker"), SnapshotPart("b", "", "the worker")], "worker")) == 1


def test_nothing_in_common_is_no_similarity() -> None:
    assert by_words("worker", ["queue", "the worker"])[0] == 0
    assert by_words("", []) == []
    assert choose([], "worker") == []
