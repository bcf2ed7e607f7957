"""What is on one line and what is not, and that it is the same JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.canonical import WIDTH, encode, encode_wrapped
from memcli.errors import UsageError
from tests.strategies import json_values, words


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
