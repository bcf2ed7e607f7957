from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.conversation.summary import MOST, RECENT, SIZE, Chunk, fold, merged, of_chunk, of_session, skipped
from memcli.model.conversation import Message
from memcli.model.tokens import count_tokens
from memcli.record import replace
from tests.conversation.corpus import read, talk

LONG = read("long_conversation.txt")[0].messages
SAID = [message for one in read("episodes_tuned.txt") for message in one.messages]
conversations = st.lists(st.sampled_from(SAID), max_size=90).map(
    lambda said: [Message(n, one.role, one.text, speaker=one.speaker) for n, one in enumerate(said, 1)]
)


@given(conversations, st.integers(1, 25), st.integers(1, 12), st.integers(1, 6))
def test_every_message_is_in_a_chunk_or_recent(messages: list[Message], recent: int, size: int, most: int) -> None:
    chunks, kept = fold(messages, recent, size, most)
    assert len(chunks) <= most
    assert kept == messages[len(messages) - len(kept) :]
    assert min(recent, len(messages)) <= len(kept) < recent + size
    turns = [number for chunk in chunks for number in range(chunk.turns[0], chunk.turns[1] + 1)]
    assert turns + [message.number for message in kept] == [message.number for message in messages]
    assert all((chunk.turns[1] - chunk.turns[0] + 1) % size == 0 for chunk in chunks)
    assert sum(chunk.tokens for chunk in chunks) == sum(
        count_tokens(m.text) for m in messages[: len(messages) - len(kept)]
    )


@given(conversations, st.integers(0, 90), st.integers(1, 5))
def test_folding_in_parts_is_folding_at_once(messages: list[Message], first: int, most: int) -> None:
    early, kept = fold(messages[:first], 5, 4, most)
    assert fold([*kept, *messages[first:]], 5, 4, most, early) == fold(messages, 5, 4, most)


@given(conversations)
def test_a_longer_conversation_has_the_same_first_chunks(messages: list[Message]) -> None:
    early, _ = fold(messages[: len(messages) // 2], 5, 4, MOST)
    late, _ = fold(messages, 5, 4, MOST)
    assert late[: len(early)] == early


def test_ten_messages_are_a_chunk_and_twenty_stay() -> None:
    chunks, recent = fold(LONG)
    assert (RECENT, SIZE) == (20, 10)
    assert [chunk.turns for chunk in chunks] == [(n, n + 9) for n in range(1, 10 * len(chunks), 10)]
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert 20 <= len(recent) < 30
    assert "server-sent-events" in chunks[4].topics


def test_the_oldest_two_merge() -> None:
    chunks, _ = fold(LONG, most=4)
    whole, _ = fold(LONG)
    first = chunks[0]
    assert first.turns == (1, 20)
    assert first.summary == f"Earlier: {whole[0].summary}\n\nThen: {whole[1].summary}"
    assert len(set(first.topics)) == len(first.topics)
    assert [chunk.number for chunk in chunks] == [1, 3, 4, 5]
    assert merged(whole[0], whole[1]) == first


def test_a_merged_summary_stays_short_and_keeps_how_it_began() -> None:
    messages = [
        Message(n, "user", f"We decided to rename the module number {n} to something much longer.")
        for n in range(1, 1001)
    ]
    first = fold(messages, most=3)[0][0]
    assert len(first.summary) < 2000
    assert first.summary.startswith("Earlier: user: We decided to rename the module number 1 ")
    assert first.summary.count("Earlier: ") == first.summary.count("Then: ") == 1


def test_chunks_without_sentences_have_an_empty_summary() -> None:
    chunks, _ = fold([Message(n, "tool", "exit 0") for n in range(1, 41)])
    assert all(chunk == Chunk(chunk.number, chunk.turns, "", (), chunk.tokens) for chunk in chunks)


def words(text: str) -> str:
    return " ".join(text.split())


@given(conversations)
def test_every_sentence_of_a_summary_stands_in_the_session(messages: list[Message]) -> None:
    for summary in (of_session(messages), of_chunk(messages)):
        lines = summary.split("\n") if summary else []
        assert len(lines) <= 4
        for line in lines:
            who, _, sentence = line.partition(": ")
            assert any(
                message.who == who and sentence in words(message.text) for message in messages if message.role != "tool"
            )


@given(conversations)
def test_a_session_is_summarized_without_questions(messages: list[Message]) -> None:
    assert not any(line.endswith("?") for line in of_session(messages).split("\n"))


def test_the_summary_of_a_session_says_what_was_decided_and_done() -> None:
    assert of_session(LONG).split("\n") == [
        "user: OK, let's go with the worker in the same repository.",
        "assistant: All 4,000 statements went through with 180 MB at peak.",
        "assistant: The runbook is done: docs/runbooks/export.md covers restarts, replays and the dead letter stream.",
        "user: The worker is live in production, the first run finished in 41 minutes.",
    ]


def test_small_talk_has_no_summary() -> None:
    said = ["Hi!", "Hello! How can I help you?", "Thanks.", "Great, let me know if you need anything."]
    assert of_session(talk(*said)) == ""


def test_a_decision_that_was_taken_back_is_not_in_the_summary() -> None:
    said = [
        "We'll use MongoDB for the events of all tenants.", "Okay.", "Actually, scrap that plan.", "Sure.",
        "We go with Postgres for the events.", "The worker writes one row for each event.",
        "The table is partitioned by month.", "The old rows are dropped after a year.",
    ]  # fmt: skip
    summary = of_session(talk(*said))
    assert "Postgres" in summary
    assert "MongoDB" not in summary


def test_what_is_quoted_listed_or_code_is_read_as_it_stands() -> None:
    text = "We decided two things:\n- We use **uv** for installs.\n- We drop Python 3.10.\n\n```\nWe use tox.\n```\n> We use pip."
    summary = of_session([Message(1, "user", text)])
    assert "user: We use **uv** for installs." in summary.split("\n")
    assert "tox" not in summary
    assert "pip" not in summary


def test_messages_that_are_skipped_change_no_summary() -> None:
    messages = [Message(n, one.role, one.text, speaker=one.speaker) for n, one in enumerate(SAID * 2, 1)]
    start = skipped(len(messages), 5, 4, 3)
    assert start > len(messages) // 2
    first, _ = fold(messages[:4], 0, 4, 3)
    before = [replace(first[0], turns=(1, start))]
    found, recent = fold(messages[start:], 5, 4, 3, before)
    whole, same = fold(messages, 5, 4, 3)
    assert recent == same
    assert found[1:] == whole[1:]
    assert (found[0].number, found[0].turns, found[0].summary) == (whole[0].number, whole[0].turns, whole[0].summary)


def test_a_session_of_usual_length_is_read_whole() -> None:
    assert skipped(0) == skipped(RECENT) == skipped(RECENT + SIZE * (MOST + 10)) == 0
    assert skipped(RECENT + SIZE * (MOST + 11)) == SIZE
