"""The blocks of Markdown and reStructuredText: headings, paragraphs, list items, code; found in one pass, without nesting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.regex import regex

PROSE, CODE = "prose", "code"
LONG_ITEM = 450
"""From so many characters on, a list below a list item is blocks of its own."""

_HEADING = regex(r" {0,3}(#{1,6})(?:[ \t]+(.*))?\Z")
_FENCE = regex(r"[ \t]*(`{3,}|~{3,})")
_ITEM = regex(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_UNDERLINE = regex(r" {0,3}(=+|-+|([~^\"'`#*+])\2{2,})[ \t]*\Z")
_LEVELS = "=-~^\"'`#*+"
"""The marks below a heading, the outermost first: Markdown has two of them, reStructuredText any."""
_DIRECTIVE = regex(r"\.\. [\w:-]+::")
_CODE_DIRECTIVE = regex(r"\.\. (?:code-block|code|sourcecode|doctest|testcode|prompt|highlight)::")

Line = tuple[int, int, str]
Block = tuple[int, int, str, int]


def lines_of(text: str) -> Iterator[Line]:
    """Each line: where it starts, where the next one does, and its text without the line end."""
    start = 0
    while start < len(text):
        at = text.find("\n", start)
        end = len(text) if at < 0 else at + 1
        yield start, end, text[start:end].rstrip("\r\n")
        start = end


def blocks(text: str) -> Iterator[Block]:
    """The blocks of Markdown: start, end, form, and the level of a heading, 0 for all else."""
    lines = list(lines_of(text))
    at = 0
    while at < len(lines):
        start, _, line = lines[at]
        if not line.strip():
            at += 1
            continue
        end, form, level = _block(lines, at)
        yield start, lines[end - 1][1], form, level
        at = end


def _block(lines: Sequence[Line], at: int) -> tuple[int, str, int]:
    """The line behind the block that begins at line `at`, its form, its level."""
    line = lines[at][2]
    if fence := _FENCE.match(line):
        return _fenced(lines, at, fence[1]), CODE, 0
    if heading := _HEADING.match(line):
        return at + 1, PROSE, len(heading[1])
    if item := _ITEM.match(line):
        return _item(lines, at, len(item[1].expandtabs(4))), PROSE, 0
    if line.startswith(("    ", "\t")):
        return _indented(lines, at), CODE, 0
    if _DIRECTIVE.match(line):
        return max(at + 1, _indented(lines, at + 1)), CODE if _CODE_DIRECTIVE.match(line) else PROSE, 0
    end = at + 1
    while end < len(lines) and not _begins(lines[end][2]):
        end += 1
    if end < len(lines) and end == at + 1 and (level := _underlined(line, lines[end][2])):
        return end + 1, PROSE, level
    return end, PROSE, 0


def _underlined(line: str, below: str) -> int:
    """The level of the heading that a line with another one below it is; 0 for none."""
    rule = below.strip()
    is_heading = _UNDERLINE.match(below) and line[:1].strip() and (rule[0] in "=-" or len(rule) >= len(line.rstrip()))
    return 1 + _LEVELS.index(rule[0]) if is_heading else 0


def _begins(line: str) -> bool:
    """Whether a line ends the paragraph before it."""
    return not line.strip() or bool(_FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line) or _is_rule(line))


def _is_rule(line: str) -> bool:
    return bool(_UNDERLINE.match(line))


def _fenced(lines: Sequence[Line], at: int, fence: str) -> int:
    for end in range(at + 1, len(lines)):
        mark = _FENCE.match(lines[end][2])
        if mark and mark[1].startswith(fence) and not lines[end][2].strip(" \t`~"):
            return end + 1
    return len(lines)


def _indented(lines: Sequence[Line], at: int) -> int:
    """Behind the lines from `at` on that are indented; `at` when there are none."""
    end = behind = at
    while end < len(lines) and (lines[end][2].startswith(("   ", "\t")) or not lines[end][2].strip()):
        end += 1
        behind = end if lines[end - 1][2].strip() else behind
    return behind


def _item(lines: Sequence[Line], at: int, indent: int) -> int:
    """Behind a list item with what is indented below it."""
    end = at + 1
    while end < len(lines):
        line = lines[end][2]
        inner = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        if not line.strip():
            following = lines[end + 1][2] if end + 1 < len(lines) else ""
            if not following.startswith((" ", "\t")) or _width(following) <= indent or _ITEM.match(following):
                break
        elif inner <= indent and (_ITEM.match(line) or _HEADING.match(line) or _FENCE.match(line)):
            break
        elif _ITEM.match(line) and lines[end][1] - lines[at][0] > LONG_ITEM:
            break  # a long list below the item
        end += 1
    return end


def _width(line: str) -> int:
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip())
