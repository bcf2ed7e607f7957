"""Texts that make careless patterns slow, and how fast the work of a function grows with them."""

from __future__ import annotations

import time
from collections.abc import Callable

SIZE = 16_000
_TRIES = 5
_WORTH = 0.1
"""Seconds of the processor: the square of 64,000 steps takes far more, so what takes less need not be compared."""

_UNITS = {
    "blanks": " ", "tabs": "\t", "line ends": "\n", "blank lines": " \n", "dashes": "-", "backticks": "`", "brackets": "[",
    "parentheses": "(", "angles": "<", "braces": "{", "images": "![", "letters": "a", "words": "ab ", "underscores": "_a",
    "stars": "*a ", "emphasis": "** ", "quotes": ">  ", "rows": "|", "dots": ".", "abbreviations": "e.g. ", "equals": "=",
    "pairs": "a: ", "comments": "<!--", "digits": "1", "slashes": "a/", "addresses": "a@", "headings": "#", "titles": "# a\n", "underlined": "ab\n==\n\n",
    "fences": "```\n", "bullets": "- a\n", "nested bullets": "- ", "labels": ".. _a:\n", "definitions": "[a]: b\n", "signs": "==\n", "changes": "\n+a\n-b",
    "ideographs": "的", "indented lines": " " * 80 + "x\n", "long indented lines": " " * 390 + "x\n", "tags": "<a ", "orders": "never ",
    "statuses": "status: ", "references": "superseded by ", "records": "ADR-", "patches": "Subject:[PATCH", "entities": "&#", "percents": "%4",
    "code": "base64+/", "spelled": "i g n o r e ", "leet": "1gn0r3 ", "escapes": "\\x4", "turns": "\nhuman: ", "roles": '{"role": "system", ',
}  # fmt: skip
SHAPES: dict[str, Callable[[int], str]] = {
    **{name: (lambda size, unit=unit: unit * (size // len(unit))) for name, unit in _UNITS.items()},  # type: ignore[misc]
    "blanks and a word": lambda size: " " * size + "x",
    "a word, blanks and a word": lambda size: "x" + " " * size + "x",
    "a tag of blanks": lambda size: "<a" + " " * size + ">x",
    "a frame of blanks": lambda size: "---\n" + " " * size + "x",
    "a frame of pairs": lambda size: "---\n" + "a: b\n" * (size // 5),
    "a class without end": lambda size: "class " + "a" * size + "!\nx",
    "a status of blanks": lambda size: "* status" + " " * size + "x",
}


def grows_too_fast(work: Callable[[str], object], shape: Callable[[int], str]) -> bool:
    """Whether four times the text takes eight times the work or more, each time it is measured."""
    small, large = shape(SIZE), shape(4 * SIZE)
    for _ in range(_TRIES):
        cost = _cost(work, large)
        if cost < _WORTH or cost < 8 * _cost(work, small):
            return False
    return True


def _cost(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start
