"""Canonical JSON is the same whoever reads and writes it: the standard library, while that is enough, and orjson."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import canonical
from memcli.codec.canonical import WIDTH, decode, encode, encode_line, encode_wrapped
from memcli.errors import MemcliError, UsageError
from tests.conftest import nested
from tests.strategies import json_values, words

_ODD = (
    b"1", b"-0", b"-0.0", b"0.1", b"1e5", b"1E400", b"123456789012345678901234567890", b"9007199254740993", b"NaN", b"Infinity",
    b'"\\ud800"', b'"\\u00e9"', b'"\x01"', b'"\xff"', b"\xef\xbb\xbf1", b"", b" ", b"[1,]", b'{"a":1,"a":2}', b"[[[[]]]]",
    b"[" * 2000, b"[" * 900 + b"]" * 900, b'{"a" : [1.5, -2, true, null, "x"]}\n', b"01", b"1.", b".5", b"+1", b"'a'", b"{1:2}",
    b'"\t"', b'"\\/"', b'"\\x"', b"tru", b"1 2", b'"\x7f\xe2\x80\xa8"', b"0.30000000000000004", b"-1", b"[]", b"{}",
)  # fmt: skip


def _outcome(act: Callable[[], Any]) -> Any:
    """What comes out; "refused" where it cannot be JSON."""
    try:
        return act()
    except (MemcliError, TypeError, orjson.JSONDecodeError):
        return "refused"


def _alone(act: Callable[[], Any]) -> Any:
    """The outcome in a process that has not imported orjson."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "orjson", raising=False)
        return _outcome(act)


@given(
    st.binary(max_size=30)
    | st.text(max_size=20).map(str.encode)
    | st.text('[]{}",:0123456789.-eE\\utrfalsn ', max_size=20).map(str.encode)
)
def test_any_text_is_read_as_orjson_reads_it(data: bytes) -> None:
    assert _alone(lambda: repr(decode(data, "x"))) == _outcome(lambda: repr(orjson.loads(data)))


def test_odd_texts_are_read_as_orjson_reads_them() -> None:
    for data in _ODD:
        assert _alone(lambda text=data: repr(decode(text, "x"))) == _outcome(lambda text=data: repr(orjson.loads(text)))


@given(
    json_values
    | st.floats()
    | st.text()
    | st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=9), max_size=5)
)
def test_any_value_is_written_as_orjson_writes_it(value: Any) -> None:
    for write in (encode, encode_line, encode_wrapped):
        assert _alone(lambda write=write: write(value)) == _outcome(lambda write=write: write(value))  # type: ignore[operator]


@pytest.mark.parametrize(
    "value",
    [1e-5, 1e15, -1e300, float("nan"), float("inf"), 2**53 + 1, "\ud800", {1: 2}, ["x" * 70_000], [0] * 3000,
     {"a": {"b": object()}}],
    ids=lambda v: repr(v)[:20],
)  # fmt: skip
def test_what_is_not_simple_is_left_to_orjson(value: Any) -> None:
    assert _alone(lambda: canonical._is_simple(value)) is False


def test_a_recall_imports_no_orjson(tmp_path: Any) -> None:
    code = (
        "import atexit, sys; from memcli.__main__ import main\n"
        "atexit.register(lambda: print('orjson' in sys.modules, file=sys.stderr))\n"
        "main()"
    )
    remember, recall = ["remember", "We chose PostgreSQL because of JSONB."], ["recall", "which database?"]
    for arguments in (["init"], remember, recall, [*recall, "--json"]):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "False")


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    for write in (encode, encode_line):
        with pytest.raises(UsageError, match="64-bit"):
            write({"n": 1 << 64})


@given(st.dictionaries(words, json_values, max_size=4), st.integers(0, 8))
def test_it_is_the_same_json_in_the_same_order(value: dict[str, Any], indent: int) -> None:
    data = encode_wrapped(value, indent)
    assert encode(json.loads(data)) == encode(value)
    assert json.dumps(json.loads(data)) == json.dumps(json.loads(encode(value)))


def test_lists_and_objects_of_scalars_are_on_one_line() -> None:
    value = {
        "b": [1, 2.5, "x, y", None, True], "a": {"z": "{", "y": "[\n"}, "e": [], "f": {}, "g": [{}, []],
        "n": [{"to": "a", "relation": "b"}, [1, [2]]],
    }  # fmt: skip
    assert (
        encode_wrapped(value).decode()
        == r"""{
  "a": {"y": "[\n", "z": "{"},
  "b": [1, 2.5, "x, y", null, true],
  "e": [],
  "f": {},
  "g": [{}, []],
  "n": [
    {"relation": "b", "to": "a"},
    [
      1,
      [2]
    ]
  ]
}"""
    )


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


@pytest.mark.parametrize("value", [["\ud800"], [2**64], [{1}], {1: 2}, {1: [2]}, nested(300), nested(1000)])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="cannot be stored as JSON"):
        encode_wrapped({"a": value})
