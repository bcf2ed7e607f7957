"""Outline: Markdown cut into sections by its headings. What is fenced is no heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memcli.ingest.frontmatter import frame_lines

_LEVELS = 6
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")


class Part(NamedTuple):
    """The headings that lead to a section, outermost first, and its lines, without those of sections below it."""

    headings: tuple[str, ...]
    lines: Sequence[str]
    start: int = 1
    """The number of its first line, that of the heading where it has one."""

    @property
    def end(self) -> int:
        """The number of its last line."""
        return self.start + len(self.lines) - (0 if self.headings else 1)


def parts(text: str) -> Iterator[Part]:
    """The sections in order; the lines before the first heading come first, under none."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    start = 1
    head = frame_lines(text)
    for number, (line, is_fenced) in enumerate(fenced(text.split("\n")), 1):
        level, title = (0, "") if is_fenced or number <= head else _heading(line)
        if not level:
            lines.append(line)
            continue
        yield Part(tuple(name for _, name in above), lines, start)
        above = [*((depth, name) for depth, name in above if depth < level), (level, title)]
        lines, start = [], number
    yield Part(tuple(name for _, name in above), lines, start)


def fenced(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is in or of a fenced block."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            is_end = match is not None and match[1].startswith(fence) and not line.strip(" \t`~")
            yield line, True
            fence = "" if is_end else fence
        else:
            fence = match[1] if match else ""
            yield line, bool(fence)


def _heading(line: str) -> tuple[int, str]:
    """The level and the title of a heading; level 0 for any other line."""
    text = line.strip(" \t")
    level = len(text) - len(text.lstrip("#"))
    if not 1 <= level <= _LEVELS or line.startswith(("    ", "\t")) or text[level : level + 1] not in ("", " ", "\t"):
        return 0, ""
    title = text[level:].strip(" \t")
    bare = title.rstrip("#")
    return level, bare.rstrip() if bare != title and bare[-1:] in ("", " ", "\t") else title
