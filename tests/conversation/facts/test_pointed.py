"""A fact that a model names is one of the message, in its words, or none."""

from __future__ import annotations

from memcli.conversation.facts import Fact, extract
from memcli.conversation.facts.repairs import point
from memcli.model.conversation import Message

TEXT = (
    "OK, let's lower the cost factor to 12 then. Never go below 12, the auditors require it.\n\n"
    "- We use argon2 for new accounts. It resists GPUs.\n\nShould we migrate the old accounts?\n\n"
    "```\nrm -rf the database\n```"
)


def pointed(text: str, role: str = "user", message: str = TEXT) -> str | None:
    found = point("decision", text, 0.8, Message(4, role, message), [])
    if found is None:
        return None
    start, end = found.span
    assert " ".join(message[start:end].split()).rstrip(" ,;:") == found.text
    assert (found.kind, found.message, found.confidence) == ("decision", 4, 0.8)
    return found.text


def test_what_is_kept_are_the_words_of_the_message() -> None:
    cases = [
        ("Never go below 12, the auditors require it.", "Never go below 12, the auditors require it."),
        ("go below 12", "Never go below 12, the auditors require it."),
        ("The auditors require that it is never below 12", "Never go below 12, the auditors require it."),
        ("lowering cost factors to 12", "OK, let's lower the cost factor to 12 then."),
        ("argon2 for new accounts, it resists GPUs", "We use argon2 for new accounts. It resists GPUs."),
    ]
    assert [(text, sentence) for text, sentence in cases if pointed(text) != sentence] == []


def test_what_the_message_does_not_state_is_none() -> None:
    cases = [
        "We use MySQL for new accounts.", "Lower the cost factor to 13.", "Lower the cost factor for new accounts.",
        "migrate the old accounts", "rm -rf the database", "it is", "", "…",
    ]  # fmt: skip
    assert [text for text in cases if pointed(text) is not None] == []


def test_a_tool_states_nothing() -> None:
    assert pointed("Never go below 12.", "tool") is None
    assert point("decision", "", 1, Message(1, "user", ""), []) is None


def test_of_the_same_sentence_the_words_of_the_local_layer_are_taken() -> None:
    said = [
        Message(1, "assistant", "The table is slow. Shall I add an index on orders.created_at?"),
        Message(2, "user", "Yes, go ahead."),
    ]
    local = extract(said)
    assert local, "an accepted proposal is a decision"
    found = point("decision", "Shall I add an index on orders.created_at?", 0.9, said[0], local)
    assert found == Fact("decision", local[0].text, 1, 0.9, local[0].span)
    assert point("goal", "The table is slow. Add an index", 0.9, said[0], local) is None
