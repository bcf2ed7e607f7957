"""Touched: the functions and classes that the changed lines of a diff define or stand in, by their indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.code.diff import HUNK
from memcli.code.symbols import defined, is_holder

MAX_SYMBOLS = 20
_MAX_NAME = 80
_MAX_CONTEXT = 400
REACH = 1 << 18
"""So many bytes of a diff are looked at."""
_MARKDOWN = (".md", ".markdown", ".mdx")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+([^\n]{1,80})")
# What belongs to a definition that is still to come: decorators, attributes, comments.
_AHEAD = re.compile(r"@\w|#\[|#(?!\w)|//|/\*|\*|--[ \t]|\"\"\"")
_CLOSING = ("}", "end")
_GOES_ON = (")", "]", "{", "#if", "#el", "#en")


def touched(hunks: bytes, file: str) -> list[str]:
    """The names, in order; headings for a Markdown file. Blank lines touch nothing."""
    names: dict[str, None] = {}
    is_text = file.lower().endswith(_MARKDOWN)
    for context, lines in _hunks(hunks[:REACH]):
        for name in _headings(context, lines) if is_text else _Scopes(context).follow(lines):
            names[name[:_MAX_NAME]] = None
    return list(names)[:MAX_SYMBOLS]


def _hunks(hunks: bytes) -> Iterator[tuple[str, list[str]]]:
    """What git says each hunk stands in, and its lines."""
    context, lines = "", list[str]()
    for line in hunks.split(b"\n"):
        head = HUNK.match(line)
        text = line[head.end() if head else 0 :].decode("utf-8", errors="replace").replace("\0", "")
        if head:
            yield context, lines
            context, lines = text[:_MAX_CONTEXT].strip(), []
        else:
            lines.append(text)
    yield context, lines


def _headings(context: str, lines: list[str]) -> Iterator[str]:
    heading = _HEADING.match(context)
    current = heading[1] if heading else context[:_MAX_NAME]
    for line in lines:
        if heading := _HEADING.match(line[1:]):
            current = heading[1]
        if line[:1] in ("+", "-") and line[1:].strip() and current:
            yield current


class _Scopes:
    """The definitions that a line of a hunk stands in: (name, indentation), innermost last."""

    def __init__(self, context: str) -> None:
        # How far the line is indented that git prints behind a hunk's numbers is not known.
        self._outer = defined(context) or context[:_MAX_NAME]
        self._is_holder = is_holder(context)
        self._inner: list[tuple[str, int]] = []
        self._body: int | None = None
        self._ahead: int | None = None

    def follow(self, lines: list[str]) -> Iterator[str]:
        """The name that each changed line touches."""
        for line in lines:
            sign, text = line[:1], line[1:].strip()
            if not text or sign == "\\":
                continue
            indent = len(line[1:].expandtabs(8)) - len(line[1:].expandtabs(8).lstrip())
            if _AHEAD.match(text):
                if sign != " ":
                    self._ahead = indent
                continue
            name = defined(line[1:])
            self._leave(indent, text, is_definition=bool(name))
            if name:
                if sign != " " and self._is_holder and self._outer and not self._inner:
                    yield self._outer  # it has one member more, or less
                self._inner.append((name, indent))
            if (sign != " " or self._ahead is not None) and (name := self._name()):
                yield name
            self._ahead = None
            if text.startswith(_CLOSING):
                self._close(indent)
        if self._ahead and (name := self._name()):
            yield name

    def _leave(self, indent: int, text: str, *, is_definition: bool) -> None:
        """Ends what a line so far to the left is no part of."""
        if text.startswith((*_GOES_ON, *_CLOSING)):
            return
        while self._inner and self._inner[-1][1] >= indent:
            self._inner.pop()
        if self._inner:
            return
        is_beside = is_definition and not self._is_holder and (self._body is None or indent < self._body)
        if indent == 0 or is_beside:
            self._outer = ""
        self._body = indent if self._body is None else min(self._body, indent)

    def _close(self, indent: int) -> None:
        if self._inner and self._inner[-1][1] == indent:
            self._inner.pop()
        elif not self._inner and indent == 0:
            self._outer = ""

    def _name(self) -> str:
        return self._inner[-1][0] if self._inner else self._outer
