"""Canonical JSON is the same whoever reads and writes it: the standard library, while that is enough, and orjson."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import canonical
from memcli.codec.canonical import decode, encode, encode_line
from memcli.errors import CorruptError, MemcliError, UsageError
from tests.strategies import json_values

_ODD = (
    b"1", b"-0", b"-0.0", b"0.1", b"1e5", b"1E400", b"123456789012345678901234567890", b"9007199254740993", b"NaN", b"Infinity",
    b'"\\ud800"', b'"\\u00e9"', b'"\x01"', b'"\xff"', b"\xef\xbb\xbf1", b"", b" ", b"[1,]", b'{"a":1,"a":2}', b"[[[[]]]]",
    b"[" * 2000, b"[" * 900 + b"]" * 900, b'{"a" : [1.5, -2, true, null, "x"]}\n', b"01", b"1.", b".5", b"+1", b"'a'", b"{1:2}",
    b'"\t"', b'"\\/"', b'"\\x"', b"tru", b"1 2", b'"\x7f\xe2\x80\xa8"', b"0.30000000000000004", b"-1", b"[]", b"{}",
)  # fmt: skip


@pytest.fixture
def without_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not imported orjson; what falls back to it can."""
    monkeypatch.delitem(sys.modules, "orjson")


def _loaded(data: bytes) -> Any:
    try:
        return repr(orjson.loads(data))
    except orjson.JSONDecodeError:
        return CorruptError


def _decoded(data: bytes) -> Any:
    sys.modules.pop("orjson", None)
    try:
        return repr(decode(data, "x"))
    except CorruptError:
        return CorruptError


@pytest.mark.parametrize("data", _ODD, ids=repr)
def test_odd_texts_are_read_as_orjson_reads_them(data: bytes, without_orjson: None) -> None:
    assert _decoded(data) == _loaded(data)


@given(
    st.binary(max_size=30)
    | st.text(max_size=20).map(str.encode)
    | st.text('[]{}",:0123456789.-eE\\utrfalsn ', max_size=20).map(str.encode)
)
def test_any_text_is_read_as_orjson_reads_it(data: bytes) -> None:
    kept = sys.modules.get("orjson")
    try:
        assert _decoded(data) == _loaded(data)
    finally:
        if kept is not None:
            sys.modules["orjson"] = kept


@given(json_values | st.text() | st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=9), max_size=5))
def test_any_value_is_written_as_orjson_writes_it(value: Any) -> None:
    kept = sys.modules.pop("orjson", None)
    try:
        found = []
        for write in (encode, encode_line):
            sys.modules.pop("orjson", None)
            try:
                found.append(write(value))
            except (MemcliError, TypeError):  # what JSON cannot hold
                found.append(b"")
        sys.modules["orjson"] = orjson
        expected = []
        for write in (encode, encode_line):
            try:
                expected.append(write(value))
            except (MemcliError, TypeError):
                expected.append(b"")
        assert found == expected
    finally:
        if kept is not None:
            sys.modules["orjson"] = kept


@pytest.mark.parametrize(
    "value",
    [1.5, 2**53 + 1, "\ud800", {1: 2}, ["x" * 70_000], [0] * 3000, {"a": {"b": object()}}],
    ids=lambda v: repr(v)[:20],
)
def test_what_is_not_simple_is_left_to_orjson(value: Any, without_orjson: None) -> None:
    assert not canonical._is_simple(value)


def test_a_recall_imports_no_orjson(tmp_path: Any) -> None:
    code = (
        "import sys; from memcli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'orjson' not in sys.modules"
    )
    for arguments in (["init"], ["remember", "We chose PostgreSQL because of JSONB."], ["recall", "which database?"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    for write in (encode, encode_line):
        with pytest.raises(UsageError, match="64-bit"):
            write({"n": 1 << 64})
