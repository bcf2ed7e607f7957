from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.conversation.statements import ASKED, OFFERED, PHATIC, PLANNED, STATED, SUPPOSED, statements
from memcli.model.conversation import Message


def moods(text: str) -> list[str]:
    return [one.mood for one in statements(Message(1, "user", text))]


def sentences(text: str) -> list[str]:
    return [one.text for one in statements(Message(1, "user", text))]


def test_a_sentence_has_its_mood() -> None:
    cases = [
        (STATED, "The build fails on Windows."),
        (STATED, "When the queue is full, send blocks."),
        (STATED, "I've added --dry-run: it prints what would be deleted."),
        (STATED, "Could not reproduce it on staging."),
        (ASKED, "Should we use Redis?"),
        (ASKED, "can you look into it"),
        (ASKED, "And how does that work"),
        (SUPPOSED, "If we dropped it, latency would go up."),
        (SUPPOSED, "Maybe we should switch to pnpm."),
        (SUPPOSED, "Then requests would fail."),
        (OFFERED, "I could add a section on deployment."),
        (OFFERED, "Let me know if you need anything."),
        (PLANNED, "Let's go with Postgres."),
        (PLANNED, "I'll write the migration."),
        (PLANNED, "We need to release 2.4 today."),
        (PHATIC, "Good morning!"),
        (PHATIC, "Makes sense, go ahead."),
        (PHATIC, "Great, thanks!"),
    ]  # fmt: skip
    assert [(mood, text) for mood, text in cases if moods(text) != [mood]] == []


def test_what_is_quoted_does_not_count() -> None:
    assert [one.bare for one in statements(Message(1, "user", 'It says "maybe we fail" in `maybe.py`.'))] == [
        "it says … in … ."
    ]


def test_code_tables_quotes_headings_and_traces_are_left_out() -> None:
    text = (
        "# Title\nFirst sentence. Second one\nthat goes on.\n\n    indented = code\n```\ncode. More.\n```\n> quoted.\n| a | b |\n"
        'Traceback (most recent call last):\n  File "x.py", line 1\n[shares a photo]\n1. A step.\n- [x] An item\n'
    )
    assert sentences(text) == ["First sentence.", "Second one that goes on.", "A step.", "An item"]


@given(st.text())
def test_sentences_stand_in_the_text(text: str) -> None:
    whole = " ".join(text.split())
    assert all(sentence in whole for sentence in sentences(text))


def test_tools_say_nothing() -> None:
    assert statements(Message(1, "tool", "All tests pass.")) == ()
