"""Where a symbol is defined, in each language: `sources/` has a file of each, and `symbols.json` the lines of its symbols."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.code.symbols import find_symbol
from tests.conftest import slow_but

SOURCES = Path(__file__).parent / "sources"
PYTHON = (SOURCES / "python.py.txt").read_text("utf-8")
OLD = "def func():\n    print 'two'\n\n    return 1\n\n\ndef other():\n    pass\n"
CUT = 'def func(\n    a,\n):\n    """Text.\n    """\n\nprint "two"\n'


def test_where_it_is_defined() -> None:
    for name, symbols in json.loads((SOURCES / "symbols.json").read_text("utf-8")).items():
        text = (SOURCES / name).read_text("utf-8")
        found = {symbol: find_symbol(text, symbol, name.removesuffix(".txt")) for symbol in symbols}
        assert found == {symbol: [tuple(lines) for lines in wanted] for symbol, wanted in symbols.items()}, name
    assert (find_symbol(OLD, "func", "a.py"), find_symbol(CUT, "func", "a.py")) == ([(1, 4)], [(1, 5)])


BUSY = (
    "(" * 30_000, "a(" * 20_000, "a(\n" * 20_000, "def a\n" * 30_000, "/*" * 20_000, '"\\' * 20_000, "`\\" * 50_000,
    "'" * 100_000, "a " * 100_000, "a\n" * 100_000, "-" * 100_000 + "a", "{" * 100_000, "class a {" * 30_000, "\x00a\ud800",
    "a.b" * 20_000, "impl " * 40_000, "if a:\n" * 50_000,
)  # fmt: skip


@pytest.mark.parametrize("share", slow_but((40,), [1, 40]))
def test_nothing_keeps_it_busy(share: int) -> None:
    for text in BUSY:
        for file in ("x.py", "x.js", "x.c", "x.rb"):
            for symbol in ("a", "b.a"):
                find_symbol(text[: len(text) // share], symbol, file)
    for file in ("x.py", "x.js"):
        for symbol in ("a." * 100_000, "(" * 100_000, "."):
            assert find_symbol(PYTHON, symbol, file) == []
    assert find_symbol("if x: pass\n" + "elif x: pass\n" * 3_000 + "else:\n    a = 1\n", "b", "x.py") == []
