"""What of a conversation is sent to a model: its end as it is, and the rest in short."""

from __future__ import annotations

from memcli.extras.advice.session import excerpt
from memcli.model.conversation import Message
from memcli.model.tokens import count_tokens

SENTENCE = "We decided to keep the prices of the shop in cents because floats lose money."


def said(count: int, text: str = SENTENCE, role: str = "user") -> list[Message]:
    return [Message(n, role, f"{text} Case {n}.") for n in range(1, count + 1)]


def test_a_short_conversation_is_sent_as_it_is() -> None:
    messages = said(12)
    assert excerpt(messages) == ([], messages, {one.number: len(one.text) for one in messages})
    assert excerpt([]) == ([], [], {})


def test_of_a_long_one_the_end_is_sent_and_the_rest_in_short() -> None:
    messages = said(3_000)
    chunks, sent, ends = excerpt(messages)
    assert sent[-1] == messages[-1]
    older = len(messages) - len(sent)
    assert older % 10 == 0
    assert (chunks[0].turns[0], chunks[-1].turns[1]) == (1, older)
    assert 10_000 < sum(count_tokens(one.text) for one in sent) <= 12_000
    assert sum(count_tokens(chunk.summary) for chunk in chunks) <= 20 * 151
    assert set(ends) == {one.number for one in sent}


def test_a_message_that_runs_on_is_cut() -> None:
    text = f"{SENTENCE} " * 500
    _, (user,), _ = excerpt([Message(1, "user", text)])
    _, (tool,), ends = excerpt([Message(1, "tool", text)])
    assert count_tokens(tool.text) < 90 < 790 < count_tokens(user.text) < 810
    assert text[: ends[1]].rstrip() + "…" == tool.text


def test_long_messages_alone_leave_the_last_ones() -> None:
    chunks, sent, _ = excerpt(said(40, f"{SENTENCE} " * 500))
    assert (len(sent), bool(chunks)) == (10, True)
