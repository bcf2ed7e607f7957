"""What a piece of source code defines and says of itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from memcli.code.definitions import DEFINITION, name_of
from memcli.summarize.sentences import Sentence, split

_DOCSTRING = re.compile(r"(?:\"\"\"|''')(.{1,4000}?)(?:\"\"\"|''')|/\*\*?(.{1,4000}?)\*/", re.DOTALL)
_COMMENTS = re.compile(r"(?:^[ \t]*(?://[/!]?|#|--|;;+)(?!!)[^\n]*\n?)+", re.MULTILINE)
_COMMENT_MARK = re.compile(r"^[ \t]*(?:///?!?|#+|--+|;;+|\*)[ \t]?", re.MULTILINE)
_BOILERPLATE = re.compile(
    r"copyright|licen[sc]e|spdx|-\*-|eslint|pylint|noqa|type: ignore|generated|@ts-|prettier|vim:|\btodo\b|\bfixme\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A\s*(?:```|~~~)[^\n]*\n|\n(?:```|~~~)\s*\Z")


class Code(NamedTuple):
    names: list[str]
    """What it defines, in order: `class Token`, `refresh()`."""
    identifiers: list[str]
    """The same, bare."""
    says: list[Sentence]
    """The sentences of its first docstring or comment."""


def read(text: str) -> Code:
    """What `text`, source code in any common language, defines."""
    text = _FENCE.sub("", text)
    names: dict[str, str] = {}
    for match in DEFINITION.finditer(text):
        bare, shown = name_of(match)
        if bare and not bare.startswith("_"):
            names.setdefault(bare, shown)
        if len(names) >= 40:
            break
    return Code(list(names.values()), list(names), _own_words(text))


def name_in(line: str) -> str:
    """What a line defines, such as `refresh` for `def refresh(self):`; empty when nothing."""
    match = DEFINITION.match(line)
    return name_of(match)[0] if match else ""


def _own_words(text: str) -> list[Sentence]:
    """The sentences of the first docstring or comment that says something."""
    found = sorted(
        [*_DOCSTRING.finditer(text, 0, 20_000), *_COMMENTS.finditer(text, 0, 20_000)], key=lambda match: match.start()
    )
    for match in found[:20]:
        words = (match.group(1) or match.group(2) or "") if match.re is _DOCSTRING else match[0]
        words = _COMMENT_MARK.sub("", words).strip()
        if len(words) > 8 and " " in words and not _BOILERPLATE.search(words[:300]):
            return split(words.partition("\n\n")[0], 8)
    return []
