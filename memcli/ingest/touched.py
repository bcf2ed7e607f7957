"""Touched: the functions and classes that the changed lines of a diff define or stand in, by their indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_SYMBOLS = 20
_REACH = 1 << 18
_MARKDOWN = (".md", ".markdown", ".mdx")
_HUNK = re.compile(rb"@@ -[0-9,]+ \+[0-9,]+ @@ ?([^\n]{0,400})")
_DEFINITION = re.compile(
    rb"[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|"
    rb"abstract|final|sealed|data|unsafe|extern)[ \t]+){0,5}"
    rb"(?:def|class|function|fn|func|struct|enum|trait|interface|impl|module|record|object|protocol|macro_rules!)"
    rb"[ \t]+(?:\([^)\n]{0,80}\)[ \t]*)?([A-Za-z_$][\w$]{0,79})"
)
_HEADING = re.compile(rb"[ \t]{0,3}#{1,6}[ \t]+([^\n]{1,80})")
_HOLDER = re.compile(rb"(?:[a-z(){}]+[ \t]+){0,5}(?:class|struct|enum|trait|interface|impl|module|object|protocol)\b")
# What belongs to a definition that is still to come: decorators, attributes, comments.
_AHEAD = re.compile(rb"@\w|#\[|#(?!\w)|//|/\*|\*|--[ \t]|\"\"\"")
_CLOSING = (b"}", b"end")
_GOES_ON = (b")", b"]", b"{", b"#if", b"#el", b"#en")


def touched(hunks: bytes, file: str) -> list[str]:
    """The names, in order; headings for a Markdown file. Blank lines touch nothing."""
    names: dict[str, None] = {}
    is_text = file.lower().endswith(_MARKDOWN)
    for context, lines in _hunks(hunks[:_REACH]):
        for name in _headings(context, lines) if is_text else _Scopes(context).follow(lines):
            names[name.decode("utf-8", errors="replace").replace("\0", "")] = None
    return list(names)[:MAX_SYMBOLS]


def _hunks(hunks: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """What git says each hunk stands in, and its lines."""
    context, lines = b"", list[bytes]()
    for line in hunks.split(b"\n"):
        if head := _HUNK.match(line):
            yield context, lines
            context, lines = head[1].strip(), []
        else:
            lines.append(line)
    yield context, lines


def _headings(context: bytes, lines: list[bytes]) -> Iterator[bytes]:
    heading = _HEADING.match(context)
    current = heading[1] if heading else context[:80]
    for line in lines:
        if heading := _HEADING.match(line[1:]):
            current = heading[1]
        if line[:1] in (b"+", b"-") and line[1:].strip() and current:
            yield current


class _Scopes:
    """The definitions that a line of a hunk stands in: (name, indentation), innermost last."""

    def __init__(self, context: bytes) -> None:
        defined = _DEFINITION.match(context)
        # How far the line is indented that git prints behind a hunk's numbers is not known.
        self._outer = defined[1] if defined else context[:80]
        self._is_holder = bool(_HOLDER.match(context))
        self._inner: list[tuple[bytes, int]] = []
        self._body: int | None = None
        self._ahead: int | None = None

    def follow(self, lines: list[bytes]) -> Iterator[bytes]:
        """The name that each changed line touches."""
        for line in lines:
            sign, text = line[:1], line[1:].strip()
            if not text or sign == b"\\":
                continue
            indent = len(line[1:].expandtabs(8)) - len(line[1:].expandtabs(8).lstrip())
            if _AHEAD.match(text):
                if sign != b" ":
                    self._ahead = indent
                continue
            defined = _DEFINITION.match(line[1:])
            self._leave(indent, text, is_definition=defined is not None)
            if defined:
                if sign != b" " and self._is_holder and self._outer and not self._inner:
                    yield self._outer  # it has one member more, or less
                self._inner.append((defined[1], indent))
            if (sign != b" " or self._ahead is not None) and (name := self._name()):
                yield name
            self._ahead = None
            if text.startswith(_CLOSING):
                self._close(indent)
        if self._ahead and (name := self._name()):
            yield name

    def _leave(self, indent: int, text: bytes, *, is_definition: bool) -> None:
        """Ends what a line so far to the left is no part of."""
        if text.startswith((*_GOES_ON, *_CLOSING)):
            return
        while self._inner and self._inner[-1][1] >= indent:
            self._inner.pop()
        if self._inner:
            return
        is_beside = is_definition and not self._is_holder and (self._body is None or indent < self._body)
        if indent == 0 or is_beside:
            self._outer = b""
        self._body = indent if self._body is None else min(self._body, indent)

    def _close(self, indent: int) -> None:
        if self._inner and self._inner[-1][1] == indent:
            self._inner.pop()
        elif not self._inner and indent == 0:
            self._outer = b""

    def _name(self) -> bytes:
        return self._inner[-1][0] if self._inner else self._outer
