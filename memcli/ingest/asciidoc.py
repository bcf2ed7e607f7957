"""AsciiDoc: its headings, `== Title` or a title with a line of signs of about its length below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memcli.ingest.markdown import Heading

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(?=\S)")
_DELIMITER = re.compile(r"(?:([-.=*_/+])\1{3,}|[|,:!]={3,}|`{3,}.*)[ \t]*\Z")
_UNDERLINE = re.compile(r"([=~^+-])\1+[ \t]*\Z")
_BEFORE = ("[", ":", "//")
"""How lines begin below which a title may stand: attributes, anchors, comments."""
_LEVELS = "=-~^+"
_SLACK = 1
"""By so many signs an underline may be longer or shorter than its title."""


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings outside of blocks of code, comments, tables and the like."""
    block = ""
    number = end = 0
    while number < len(lines):
        is_start = number == end or not lines[number - 1].strip() or lines[number - 1].startswith(_BEFORE)
        line = lines[number].rstrip()
        number += 1
        if block:
            block = "" if line == block else block
        elif mark := _TITLE.match(line):
            yield Heading(len(mark[1]), line[mark.end() :].removesuffix(f" {mark[1]}").rstrip(), number, number)
            end = number
        elif is_start and number < len(lines) and _is_underlined(line, lines[number].rstrip()):
            yield Heading(_LEVELS.index(lines[number][0]) + 1, line, number, number + 1)
            number = end = number + 1
        elif _DELIMITER.match(line):
            block = "```" if line.startswith("```") else line


def _is_underlined(title: str, rule: str) -> bool:
    return (
        bool(_UNDERLINE.match(rule) and title)
        and abs(len(title) - len(rule)) <= _SLACK
        and title[0].isalnum()
        and not _DELIMITER.match(title)
    )
