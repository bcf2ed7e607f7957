"""reStructuredText: its headings, which have a line of signs below them, or one above and one below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memcli.ingest.markdown import Heading

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+ *\Z")
_LABEL = re.compile(r"\.\. _[^:]*: *\Z")
_OTHER = re.compile(r"\s|\.\. |[-*+•‣⁃] |>>> |\|")
"""How lines begin that are no titles."""
_SURE = 4
"""A line of so many signs makes a heading even where the title is longer."""


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings, each with the labels before it. Which signs stand for which level follows from their order."""
    levels: dict[tuple[str, bool], int] = {}
    number = end = 0
    while number < len(lines):
        title, is_framed, height = _at(lines, number, is_start=number == end or _may_precede(lines[number - 1]))
        if not height:
            number += 1
            continue
        level = levels.setdefault((lines[number + height - 1][0], is_framed), len(levels) + 1)
        yield Heading(level, title, _labelled(lines, number) + 1, number + height)
        number = end = number + height


def _at(lines: Sequence[str], number: int, *, is_start: bool) -> tuple[str, bool, int]:
    """The title that begins at an index, whether a line of signs is above it, and how many lines it takes; 0 for none."""
    first, second, third = (*lines[number : number + 3], "", "")[:3]
    if _RULE.match(first):
        is_heading = first.rstrip() == third.rstrip() and not _RULE.match(second) and _fits(second.strip(), first)
        return second.strip(), True, 3 if is_heading else 0
    is_heading = is_start and bool(_RULE.match(second)) and not _OTHER.match(first) and _fits(first.strip(), second)
    return first.strip(), False, 2 if is_heading else 0


def _fits(title: str, rule: str) -> bool:
    return bool(title) and len(rule.rstrip()) >= min(len(title), _SURE)


def _may_precede(line: str) -> bool:
    """Whether a title may stand right below the line."""
    return not line.strip() or line.startswith((" ", "\t", ".. "))


def _labelled(lines: Sequence[str], number: int) -> int:
    """Where the labels begin that lead to the heading at an index."""
    first = number
    while number and (not lines[number - 1].strip() or _LABEL.match(lines[number - 1])):
        number -= 1
        if lines[number].strip():
            first = number
    return first
