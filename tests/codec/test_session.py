"""The file of a session: what is written is read, from either end, and what is wrong is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.session import (
    check_writable,
    decode_entry,
    decode_header,
    encode_entry,
    encode_header,
    end_of,
    with_end,
)
from memcli.errors import CorruptError
from memcli.extras.schema.schemas import SCHEMAS
from memcli.model.conversation import ENDED, PAUSED, STATES, Entry, Message, Session, StateChange

AT = "2026-01-31T09:30:00Z"
HEADER = Session("ses_a", "main", "Slow login", started_at=AT, source="codex", key="k1")
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
ROLES, TIMES = st.sampled_from(("user", "assistant", "tool")), st.sampled_from(("", AT))
ENTRIES = st.builds(Message, st.just(0), ROLES, TEXTS, TIMES, TEXTS, TEXTS) | st.builds(
    StateChange, st.sampled_from(STATES), TIMES, TEXTS
)


def test_the_lines_are_canonical_and_leave_defaults_out() -> None:
    assert encode_header(Session("ses_a", "main", started_at=AT)) == (
        b'{"format":"memcli/session","id":"ses_a","space":"main","started_at":"2026-01-31T09:30:00Z","version":1}'
    )
    assert encode_entry(Message(3, "user", "")) == b'{"number":3,"role":"user","text":""}'
    assert encode_entry(StateChange(PAUSED, AT)) == b'{"at":"2026-01-31T09:30:00Z","state":"paused"}'


@given(st.lists(ENTRIES, max_size=8), st.integers(1, 400))
def test_what_is_written_is_read_from_both_ends(entries: list[Entry], length: int) -> None:
    lines, number, last = [encode_header(HEADER)], 0, None
    for entry in entries:
        if isinstance(entry, Message):
            number += 1
            entry = Message(number, entry.role, entry.text, entry.at, entry.speaker, entry.key)  # noqa: PLW2901
        assert decode_entry(encode_entry(entry), "it") == entry
        lines.append(encode_entry(entry))
        last = entry
    data = b"".join(line + b"\n" for line in lines)
    assert decode_header(lines[0], "it") == HEADER
    for torn in (b"", b'{"number":9'):
        whole = data + torn
        start = max(0, len(whole) - length)
        end = end_of(whole[start:], start, "it")
        if end is None:  # it says so only where it was not given all
            assert start
            end = end_of(whole, 0, "it")
        assert end is not None
        messages, change, size = end
        assert (messages, size) == (number, len(data))
        state = last.state if isinstance(last, StateChange) else "active"
        session = with_end(HEADER, messages, change)
        assert (session.state, session.messages) == (state, number)
        ended = last if isinstance(last, StateChange) and last.state == ENDED else StateChange("active")
        assert (session.ended_at, session.outcome) == (ended.at, ended.outcome)


NO_ENTRIES = rb"""
[]
{}
{"number":1,"role":"user","text":"a
{"number":0,"role":"user","text":"a"}
{"number":true,"role":"user","text":"a"}
{"number":1,"role":"system","text":"a"}
{"number":1,"role":"user","text":null}
{"number":1,"role":"user","text":"a","at":"yesterday"}
{"number":1,"role":"user"}
{"state":"gone"}
{"state":"active","number":1,"role":"user","text":"a"}
<<<<<<< ours""".split(b"\n")


def test_a_line_that_is_none_is_named() -> None:
    for line in (*NO_ENTRIES, b"\xff\xfe", b'{"number":1,"role":"user","text":"a\x00b"}', b"[" * 100_000):
        with pytest.raises(CorruptError, match=r"^x:7: ") as caught:
            decode_entry(line, "x:7")
        assert "\n" not in caught.value.message
        with pytest.raises(CorruptError, match=r"^x:1: "):
            decode_header(line, "x:1")


def test_a_newer_version_is_read_and_not_written() -> None:
    session = decode_header(b'{"format":"memcli/session","version":9,"id":"ses_a","space":"main","title":7}', "x")
    assert (session.id, session.version) == ("ses_a", 9)
    with pytest.raises(CorruptError, match="newer memcli"):
        check_writable(session, "x")


def test_the_schema_has_what_is_written() -> None:
    import jsonschema

    schema = SCHEMAS["session"]
    for line in (encode_header(HEADER), *map(encode_entry, (Message(1, "tool", "ls"), StateChange(ENDED, AT, "x")))):
        jsonschema.validate(json.loads(line), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"number": 1, "role": "user"}, schema)
