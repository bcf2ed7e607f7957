from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.canonical import encode, encode_wrapped
from memcli.codec.memory import checked_fields, memory_from_json, memory_to_json
from memcli.codec.space import (
    CLOSE,
    END,
    INDENT,
    OBJECTS,
    OPEN,
    USUAL_END,
    SpaceForm,
    check_writable,
    decode_header,
    decode_space,
    encode_full,
    encode_item,
    encode_space,
    of_memory,
    of_space,
    policy_problems,
    policy_to_json,
    spans,
)
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.model.shapes import CORE_FIELDS
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.conftest import NOW, examples, memory
from tests.strategies import memories, spaces


@given(spaces)
def test_what_is_written_is_read_in_either_version(space: Space) -> None:
    for encode_version in (encode_full, encode_space):
        data = encode_version(space)
        again = decode_space(data, "main.json")
        assert (again, encode_version(again)) == (space, data)
    full = encode_full(space)
    assert (full, json.loads(full)["version"]) == (encode(json.loads(full)) + b"\n", 1)  # canonical JSON


@examples(0.4)
@given(spaces)
def test_spans_find_every_memory(space: Space) -> None:
    for data, form in ((encode_space(space), SpaceForm("main")), (encode_full(space), SpaceForm("main", 1))):
        found = spans(data)
        assert found is not None
        assert [data[start:end] for start, end in found] == [encode_item(m, form) for m in space.objects]
        head, tail = (data[: found[0][0]], data[found[-1][1] :]) if found else (data, b"")
        assert decode_header(head, tail, "main.json").policy == space.policy


@examples(0.6)
@given(spaces, st.data())
def test_spans_of_a_damaged_file_are_of_memories_or_none(space: Space, data: st.DataObject) -> None:
    whole = encode_space(space)
    cut = data.draw(st.integers(0, len(whole) - 2))
    with pytest.raises(CorruptError):
        decode_space(whole[:cut], "main.json")
    spans(whole[:cut])


@given(memories())
def test_defaults_are_left_out_and_unknown_fields_kept(value: Memory) -> None:
    stored = memory_to_json(value)
    assert ("importance" in stored) == (value.importance is not None)
    assert ("active" in stored) == (not value.active)
    assert stored.items() >= value.extra.items()
    again = memory_from_json(json.loads(encode(stored)), "test")
    assert memory_to_json(again).keys() == stored.keys()


def test_unknown_fields_of_the_file_survive() -> None:
    tree = json.loads(encode_full(Space("main", (memory(),), updated_at=NOW)))
    tree["later"] = {"x": [1]}
    tree["policy"]["someday"] = True
    tree["objects"][0]["new_field"] = [{"deep": None}]
    data = encode(tree) + b"\n"
    space = decode_space(data, "main.json")
    assert encode_full(space) == encode_full(decode_space(encode_space(space), "main.json")) == data


def test_a_wrong_field_of_a_policy_has_its_default_and_stays_until_it_is_corrected() -> None:
    stored = {"ttl_days": "x", "grace_days": 3, "visibility": "privat", "someday": 1}
    data = encode_space(Space("main", (memory(),), updated_at=NOW)).replace(
        b'"policy": {}', b'"policy": ' + json.dumps(stored, sort_keys=True).encode()
    )
    space = decode_space(data, "main.json")
    assert (space.policy.ttl_days, space.policy.grace_days, space.policy.visibility) == (None, 3, "private")
    assert list(policy_problems(space.policy)) == ["ttl_days", "visibility"]
    assert encode_space(space) == data
    with pytest.raises(CorruptError, match=r"policy: ttl_days must be a number, not text"):
        check_writable(space, "main.json")


def test_what_is_no_object_in_the_place_of_a_policy_is_found_and_stops_no_read() -> None:
    good = encode_space(Space("main", (memory(),), updated_at=NOW))
    space = decode_space(good.replace(b'"policy": {}', b'"policy": [1]'), "main.json")
    assert replace(space.policy, extra={}) == Policy()
    assert policy_problems(decode_space(encode_space(space), "main.json").policy) == policy_problems(space.policy)
    with pytest.raises(CorruptError, match="policy: it must be an object, not a list"):
        check_writable(space, "main.json")
    check_writable(space, "main.json", lambda: False)


def damaged() -> dict[str, bytes]:
    good = encode_space(Space("main", (memory("a", pinned=True), memory("b")), updated_at=NOW))
    return {
        "empty": b"",
        "truncated": good[:-40],
        "conflict": good.replace(b'  "objects"', b'<<<<<<< ours\n  "objects"', 1),
        "binary": b"\x00\xff\xfe" * 10,
        "list": b"[]\n",
        "other format": b'{"format": "x", "version": 1, "space": "main", "objects": []}',
        "no version": good.replace(b'"version": 2', b'"version": "2"'),
        "wrong objects": good.replace(b'"objects": [', b'"objects": 1, "x": ['),
        "wrong field": good.replace(b'"pinned": true', b'"pinned": "no"', 1),
        "no id": good.replace(b'"id": "mem_a"', b'"ix": "mem_a"'),
        "nan": good.replace(b'"pinned": true', b'"pinned": NaN', 1),
    }


def test_damage_is_named() -> None:
    says = {"conflict": "conflict markers", "wrong field": "pinned"}
    for name, data in damaged().items():
        with pytest.raises(CorruptError, match=r"main\.json") as caught:
            decode_space(data, "main.json")
        assert caught.value.hint
        assert says.get(name, "") in caught.value.message


def test_a_newer_file_can_be_read() -> None:
    data = encode_space(Space("main", (memory(),), updated_at=NOW)).replace(b'"version": 2', b'"version": 3')
    assert decode_space(data, "main.json").version == 3
    assert encode_space(decode_space(data, "main.json")) == data


WRONG: tuple[tuple[str, object], ...] = (
    ("pinned", "yes"), ("tags", "a,b"), ("tags", [1]), ("importance", 2), ("importance", True), ("kind", ""),
    ("relevance", "urgent"), ("created_at", "yesterday"), ("links", [{"to": "x"}]), ("strength", -1),
    ("links", [{"to": "x", "relation": "likes"}]), ("episode", {"valence": -3}), ("raw", 5), ("metadata", []),
    ("scope", "world"), ("provenance", {"source": "heard"}), ("version", 0), ("raw", "\ud800"), ("raw", "a\0b"),
    ("importance", float("nan")),
)  # fmt: skip


def test_a_wrong_value_names_its_field() -> None:
    for field, value in WRONG:
        with pytest.raises(UsageError, match="text contains NUL" if value == "a\0b" else field):
            checked_fields({field: value})


def test_policy_defaults_are_left_out() -> None:
    assert policy_to_json(Policy()) == {}
    assert policy_to_json(Policy(ttl_days=3, extra={"later": 1})) == {"ttl_days": 3, "later": 1}


def test_a_list_of_detectors_written_by_hand_is_read() -> None:
    listed = encode_space(Space("main", policy=Policy(ttl_days=1))).replace(
        b'"ttl_days": 1', b'"pii_redaction": ["email"]'
    )
    assert decode_space(listed, "main.json").policy == Policy(pii_redaction={"detectors": ["email"]})


FORM = SpaceForm("main")


@given(memories(), st.sampled_from(["main", "other"]))
def test_what_is_left_out_is_filled_in(value: Memory, space: str) -> None:
    for form in (SpaceForm(space), SpaceForm(space, 1)):
        stored = json.loads(encode_wrapped(form.to_json(value)))
        assert form.from_json(stored, "a file") == value


@given(memories())
def test_what_is_spelled_out_is_read_as_well(value: Memory) -> None:
    full = json.loads(encode_wrapped(memory_to_json(value)))
    full["metadata"].setdefault("space", None)
    assert FORM.from_json(full, "a file") == value


def test_a_memory_of_one_sentence_is_ten_lines() -> None:
    raw = "We chose PostgreSQL because it has row-level security."
    metadata = {"hash": text_hash(raw), "space": "main"}
    summaries = dict.fromkeys(("raw", "summary_micro", "summary_short", "summary_long"), raw)
    sentence = memory(**summaries, metadata=metadata, tags=("postgresql", "security"))
    lines = encode_item(sentence, FORM).decode().split("\n")
    assert len(lines) == 10
    assert lines[4] == f'      "metadata": {{"hash": "{text_hash(raw)}"}},'
    assert lines[7] == '      "tags": ["postgresql", "security"],'


LEFT: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "metadata"),
    ({"metadata": {"space": "main"}}, ""),
    ({"metadata": {"space": "other"}}, "metadata"),
    ({"raw": "A."}, "metadata raw summary_micro"),
    ({"raw": "A.", "summary_micro": "A."}, "metadata raw summary_short"),
    ({"raw": "A.", "summary_short": "A."}, "metadata raw summary_micro summary_short summary_long"),
    ({"raw": "A.", "summary_long": "A."}, "metadata raw summary_micro summary_long"),
    ({"pinned": True, "relevance": "low", "tags": ("x",)}, "metadata pinned relevance tags"),
)


def test_only_what_says_something_is_written() -> None:
    bare: Memory = replace(memory(raw="", metadata={}), summary_micro="", summary_short="", summary_long="", tags=())
    always = {"id", "path", "kind", "created_at", "updated_at"}
    for fields, left in LEFT:
        written = FORM.to_json(replace(bare, **fields)).keys() & set(CORE_FIELDS) - always
        assert written == set(left.split()), fields


def test_what_a_hand_wrote_has_the_defaults() -> None:
    stored = {name: FORM.to_json(memory())[name] for name in ("id", "path", "kind", "created_at", "updated_at")}
    found = FORM.from_json({**stored, "raw": "A."}, "a file")
    assert (found.summary_micro, found.summary_short, found.summary_long) == ("A.", "A.", "A.")
    assert (found.tags, found.relevance, found.pinned, found.metadata) == ((), "medium", False, {"space": "main"})


EDGES = (OBJECTS, OPEN, CLOSE, END, USUAL_END)


def test_every_mark_stands_once_for_each_memory() -> None:
    # A text that quotes the frame does not stand in it.
    hostile = b"".join([*EDGES, INDENT, of_space("policy"), of_memory("id")]).decode()
    data = encode_space(Space("main").put([memory("a", raw=hostile), memory("b")], NOW))
    assert [data.count(edge) for edge in EDGES] == [1, 2, 2, 1, 1]
    assert data.count(of_memory("id")) == data.count(of_memory("path")) == 2
    assert data.count(of_space("policy")) == 1
    assert data.index(OBJECTS) < data.index(OPEN) < data.index(CLOSE) < data.rindex(CLOSE) == data.index(USUAL_END)
