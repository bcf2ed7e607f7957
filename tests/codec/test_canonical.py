"""Canonical JSON is the same whoever reads and writes it: the standard library, while that is enough, and orjson."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import canonical
from memcli.codec.canonical import WIDTH, decode, encode, encode_line, encode_wrapped
from memcli.errors import CorruptError, MemcliError, UsageError
from tests.strategies import json_values, words

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


@given(st.dictionaries(words, json_values, max_size=4), st.integers(0, 8))
def test_it_is_the_same_json_in_the_same_order(value: dict[str, Any], indent: int) -> None:
    data = encode_wrapped(value, indent)
    assert encode(json.loads(data)) == encode(value)
    assert json.dumps(json.loads(data)) == json.dumps(json.loads(encode(value)))


@given(st.dictionaries(words, json_values, max_size=4))
def test_a_process_that_has_not_imported_orjson_writes_the_same(value: dict[str, Any]) -> None:
    data = encode_wrapped(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "orjson")
        assert encode_wrapped(value) == data


def test_lists_and_objects_of_scalars_are_on_one_line() -> None:
    value = {
        "b": [1, 2.5, "x, y", None, True], "a": {"z": "{", "y": "[\n"}, "e": [], "f": {}, "g": [{}, []],
        "n": [{"to": "a", "relation": "b"}, [1, [2]]],
    }  # fmt: skip
    assert encode_wrapped(value).decode().split("\n") == [
        "{",
        '  "a": {"y": "[\\n", "z": "{"},',
        '  "b": [1, 2.5, "x, y", null, true],',
        '  "e": [],',
        '  "f": {},',
        '  "g": [{}, []],',
        '  "n": [',
        '    {"relation": "b", "to": "a"},',
        "    [",
        "      1,",
        "      [2]",
        "    ]",
        "  ]",
        "}",
    ]


@pytest.mark.parametrize("letter", ["a", "é", "😀"])
@pytest.mark.parametrize("name", ["tags", 'Ö "x"'])
@pytest.mark.parametrize("indent", [0, 4])
def test_a_line_is_no_wider_than_the_width_with_its_comma(letter: str, name: str, indent: int) -> None:
    room = WIDTH - len(json.dumps(name, ensure_ascii=False) + ': ["", ""],') - indent - 2
    for size, lines in ((room, 3), (room + 1, 6)):
        value = {name: ["", letter * size]}
        text = encode_wrapped(value, indent).decode()
        assert len(text.split("\n")) == lines
        assert json.loads(text) == value
    assert max(map(len, encode_wrapped({name: ["", letter * room]}, indent).decode().split("\n"))) == WIDTH - 1


def test_a_list_in_a_list_is_as_wide_as_its_own_line() -> None:
    for size, lines in ((WIDTH - len('    [""],'), 5), (WIDTH - len('    [""],') + 1, 7)):
        assert len(encode_wrapped({"a": [["x" * size]]}).split(b"\n")) == lines


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [["\ud800"], [2**64], [{1}], {1: 2}, {1: [2]}, _nested(300), _nested(1000)])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="cannot be stored as JSON"):
        encode_wrapped({"a": value})
