"""Outline: a document cut into sections by its headings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from memcli.ingest import markdown
from memcli.ingest.frontmatter import frame_lines
from memcli.ingest.markdown import Heading


class OutlinePart(NamedTuple):
    """The headings that lead to a section, outermost first, and its lines, without those of sections below it."""

    headings: tuple[str, ...]
    lines: Sequence[str]
    start: int = 1
    """The number of its first line, that of the heading where it has one."""
    height: int = 0
    """How many lines its heading takes."""

    @property
    def end(self) -> int:
        """The number of its last line."""
        return self.start + self.height + len(self.lines) - 1


def parts(
    text: str, headings: Callable[[Sequence[str]], Iterator[Heading]] = markdown.headings
) -> Iterator[OutlinePart]:
    """The sections in order; the lines before the first heading come first, under none."""
    lines = text.split("\n")
    head = frame_lines(text)
    above: list[tuple[int, str]] = []
    start, height = 1, 0
    for level, title, first, last in headings(lines[head:]):
        yield OutlinePart(_names(above), lines[start + height - 1 : head + first - 1], start, height)
        above = [*((depth, name) for depth, name in above if depth < level), (level, title)]
        start, height = head + first, last - first + 1
    yield OutlinePart(_names(above), lines[start + height - 1 :], start, height)


def _names(above: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in above)
