"""What a space file leaves out is what a reader fills in, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.canonical import encode_wrapped
from memcli.codec.memory import memory_to_json
from memcli.codec.space import SpaceForm, encode_item
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.model.shapes import CORE_FIELDS
from memcli.record import replace
from tests.conftest import memory
from tests.strategies import memories

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
    sentence = memory(
        raw=raw,
        summary_micro=raw,
        summary_short=raw,
        summary_long=raw,
        metadata=metadata,
        tags=("postgresql", "security"),
    )
    lines = encode_item(sentence, FORM).decode().split("\n")
    assert len(lines) == 10
    assert lines[4] == f'      "metadata": {{"hash": "{text_hash(raw)}"}},'
    assert lines[7] == '      "tags": ["postgresql", "security"],'


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({}, {"metadata"}),
        ({"metadata": {"space": "main"}}, set()),
        ({"metadata": {"space": "other"}}, {"metadata"}),
        ({"raw": "A."}, {"metadata", "raw", "summary_micro"}),
        ({"raw": "A.", "summary_micro": "A."}, {"metadata", "raw", "summary_short"}),
        ({"raw": "A.", "summary_short": "A."}, {"metadata", "raw", "summary_micro", "summary_short", "summary_long"}),
        ({"raw": "A.", "summary_long": "A."}, {"metadata", "raw", "summary_micro", "summary_long"}),
        ({"pinned": True, "relevance": "low", "tags": ("x",)}, {"metadata", "pinned", "relevance", "tags"}),
    ],
)
def test_only_what_says_something_is_written(fields: dict[str, Any], left: set[str]) -> None:
    bare: Memory = replace(memory(raw="", metadata={}), summary_micro="", summary_short="", summary_long="", tags=())
    written = FORM.to_json(replace(bare, **fields)).keys()
    assert written & set(CORE_FIELDS) - {"id", "path", "kind", "created_at", "updated_at"} == left


def test_what_a_hand_wrote_has_the_defaults() -> None:
    stored = {name: FORM.to_json(memory())[name] for name in ("id", "path", "kind", "created_at", "updated_at")}
    found = FORM.from_json({**stored, "raw": "A."}, "a file")
    assert (found.summary_micro, found.summary_short, found.summary_long) == ("A.", "A.", "A.")
    assert (found.tags, found.relevance, found.pinned, found.metadata) == ((), "medium", False, {"space": "main"})
