"""Parts: source code cut into its top-level functions and classes, each with the comment that stands over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memcli.code.symbols import defined

_LEAD = ("//", "/*", " *", "*/", "#", "@", "--", ";;", "[", '"""')
_CLOSERS = ("}", ")", "]", "{", "end", "else", "where", "begin")


class Definition(NamedTuple):
    """A definition by name; the rest of the file, its imports and constants, has none and comes first."""

    name: str
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """The first and the last line of each of its parts, counted from 1; of the rest, none."""


def cut(file: str, text: str) -> list[Definition]:
    """The parts of the source code `text`. What has one name, such as overloads, is one part."""
    lines = text.split("\n")
    spans = _python(text, lines) if file.endswith((".py", ".pyi")) else None
    spans = list(_by_look(lines)) if spans is None else spans
    found: dict[str, list[tuple[int, int]]] = {}
    rest: list[str] = []
    at = 0
    for name, start, end in spans:
        rest += lines[at:start]
        found.setdefault(name, []).append((start, end))
        at = end
    rest += lines[at:]
    return [Definition("", _squeezed(rest)), *(_joined(name, spans, lines) for name, spans in found.items())]


def _joined(name: str, spans: Sequence[tuple[int, int]], lines: Sequence[str]) -> Definition:
    texts = ("\n".join(lines[start:end]).strip("\n") for start, end in spans)
    return Definition(name, "\n\n".join(texts), tuple((start + 1, end) for start, end in spans))


def _squeezed(lines: list[str]) -> str:
    """The lines without the gaps that cutting left."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _python(text: str, lines: list[str]) -> list[tuple[str, int, int]] | None:
    """Name, first line and line behind the last of each definition; None when it is no Python of this version."""
    import ast

    from memcli.code.symbols import parse_python

    tree = parse_python(text)
    if tree is None:
        return None
    spans = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = min(node.lineno, *(d.lineno for d in node.decorator_list)) if node.decorator_list else node.lineno
            spans.append((node.name, _with_comment(lines, start - 1, ("#",)), node.end_lineno or start))
    return spans


def _by_look(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """The same for any language whose top level is not indented: a definition ends where the next such line begins."""
    at = 0
    while at < len(lines):
        name = defined(lines[at]) if lines[at][:1] not in (" ", "\t") else ""
        if not name:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _goes_on(lines[end]):
            end += 1
        yield name, _with_comment(lines, at, _LEAD), end
        at = end


def _goes_on(line: str) -> bool:
    return not line or line[0] in " \t" or line.startswith(_CLOSERS)


def _with_comment(lines: list[str], start: int, marks: tuple[str, ...]) -> int:
    """Where the comments and decorators begin that stand right over a line."""
    while start > 0 and lines[start - 1].startswith(marks):
        start -= 1
    return start
