"""Lines of Markdown and reStructuredText by their marks, these as blocks of prose, and the sentences of a block.

Notes and messages are in no format for certain, so that marks are read one line at a time, and only fences last from one
line to another. What is a heading of a document whose format is known is decided by `ingest/markdown.py`, as CommonMark says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.text.words import STOP_WORDS

HEADING, ITEM, STEP, PROSE, ROW = "heading", "item", "step", "prose", "row"
"""The roles of lines and of blocks; STEP is an item with a number, ROW one of a table."""
BLANK, FENCE, CODE, RULE, MARKUP, DIRECTIVE = "blank", "fence", "code", "rule", "markup", "directive"
"""The roles of lines that are part of no block. FENCE begins and ends the lines of CODE."""

_MARK = regex(
    r"\s*(?:(?P<fence>`{3,}|~{3,})"
    r"|(?P<heading>(?<! {4})(?<!\t)\#{1,6}(?:[ \t]+|\Z))"
    r"|(?P<step>\(?\d{1,3}[.)]\s+(?=\S))"
    r"|(?P<item>[-*+•◦‣–—]\s+(?:\[[ xX]\]\s+)?(?=\S))"
    r"|(?P<quote>(?:>\s*)+)"
    r"|(?P<row>\|)"
    r"|(?P<rule>(?:[-=*_~]\s*){3,}\Z)"
    r"|(?P<markup><[a-zA-Z/!][^>]*(?:\Z|>\s*\Z)|\[?!\[|\[[^\]]{1,80}\]:\s|:[\w-]{1,30}:\s+\S*\Z)"
    r"|(?P<directive>\.\.(?:\s|\Z)))"
)
_FRONT_MATTER = r"\s*---[ \t]*\n(?:[^\n]*\n){1,60}?---[ \t]*(?:\n|\Z)"
_STAMP = r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|[\[(]?\d{1,4}[-/:.]\d\d|[\w .]{1,30}:(?:\s|\Z)"
_WRAPPED = 45
"""A line shorter than this was not broken by an editor: it is a sentence of its own."""
_MAX_COMMAND = 100
_COMMENT = regex(r"<!--.*?-->", re.DOTALL)


class Line(NamedTuple):
    """A line that stands from `start` to `end`, which is behind its line end; `body` is what stands behind its mark."""

    start: int
    end: int
    text: str
    role: str
    body: str


_END_LINE = Line(0, 0, "", BLANK, "")


class Block(NamedTuple):
    """A heading, paragraph, list item or table row: its lines, without their marks, as one."""

    role: str
    text: str


def read_lines(text: str) -> Iterator[Line]:
    """Each line of `text` with its role. A fence ends as it began: with the same mark, as long or longer, and no more."""
    start, fence, is_quoted = 0, "", False
    while start < len(text):
        at = text.find("\n", start)
        end = len(text) if at < 0 else at + 1
        line = text[start:end].rstrip("\r\n")
        if fence and is_quoted and not line.lstrip().startswith(">"):
            fence = ""  # a fence in a quotation ends with it
        if fence:
            mark = line.strip(" \t>" if is_quoted else " \t")
            is_end = mark.startswith(fence) and not mark.strip(fence[0])
            yield Line(start, end, line, FENCE if is_end else CODE, line)
            fence = "" if is_end else fence
        else:
            role, body = _marked(line)
            fence, is_quoted = body if role == FENCE else "", line.lstrip().startswith(">")
            yield Line(start, end, line, role, body)
        start = end


def _marked(line: str) -> tuple[str, str]:
    """The role of a line outside of fences, and what stands behind its mark; of a fence, the mark."""
    match = _MARK.match(line)
    if match is None:
        return (PROSE, line) if line and not line.isspace() else (BLANK, "")
    role, rest = match.lastgroup or PROSE, line[match.end() :]
    if role == FENCE:
        return FENCE, match[FENCE]
    if role == "quote":
        return _marked(rest) if rest else (PROSE, "")
    return role, rest.strip().rstrip("#").rstrip() if role == HEADING else rest


def read_blocks(
    text: str, *, with_commands: bool = False, is_left_out: Callable[[str], object] | None = None
) -> Iterator[Block]:
    """The blocks of `text` in order, without code, rules, tags, comments, front matter and directives.

    `with_commands`: a short command that a paragraph leads up to is part of it, in backticks. A line of prose of which
    `is_left_out` is true is part of no block.
    """
    if text.lstrip().startswith("---") and (front := re.match(_FRONT_MATTER, text)):
        text = text[front.end() :]
    if "<!--" in text:  # searched only as far as the last comment ends, so that time stays linear
        end = text.rfind("-->") + 3
        text = _COMMENT.sub(" ", text[:end]) + text[end:] if end > 2 else text
    role, parts = PROSE, list[str]()
    for line, code in _after_code(read_lines(text)):
        if code and with_commands:
            parts = _with_command(parts, code)
        if line.role == BLANK and parts and parts[-1].endswith(":"):
            continue
        is_out = is_left_out is not None and line.role not in (ITEM, STEP, BLANK) and is_left_out(line.text)
        is_next = line.role == PROSE and parts and not is_out and (with_commands or not code)
        if is_next and _continues(role, parts[-1], line.text):
            parts.append(line.body)
            continue
        if line.role == RULE and role == PROSE and len(parts) == 1 and line.text.lstrip()[0] in "=-":
            role = HEADING  # the line above is underlined
        if parts:
            yield Block(role, " ".join(parts))
        role, parts = line.role, []
        if role in (PROSE, HEADING, STEP, ITEM, ROW) and not is_out:
            parts = [line.body]
    if parts:
        yield Block(role, " ".join(parts))


def _after_code(lines: Iterator[Line]) -> Iterator[tuple[Line, list[str]]]:
    """Each line that is not code, with the code above it: what is fenced, what is indented below a directive, and what is
    indented behind a line that ends with a colon and a blank one. Prose may be indented elsewhere. A blank line ends it all."""
    code: list[str] = []
    is_indented = is_lead = False
    before = _END_LINE
    for line in lines:
        if line.role in (FENCE, CODE):
            code += [line.text] if line.role == CODE else []
            is_indented = False
        elif is_indented and (line.role == BLANK or line.text[0] in " \t"):
            code.append(line.text)
        elif is_lead and line.text.startswith(("    ", "\t")):
            code, is_indented = [line.text], True
        else:
            yield line, code
            code, is_indented = [], line.role == DIRECTIVE
            is_lead = line.role == BLANK and before.role == PROSE and before.text.endswith(":")
            before = line if line.role != BLANK else before
    yield _END_LINE, code


def _with_command(parts: list[str], code: list[str]) -> list[str]:
    """The lines of the open block with the code below them, where it is short."""
    command = "; ".join(line.strip().removeprefix("$ ") for line in code if line.strip())
    if not parts or not 0 < len(command) <= _MAX_COMMAND or "`" in command:
        return parts
    return [*parts[:-1], parts[-1].replace("::", ":"), f"`{command}`"]


def _continues(role: str, before: str, line: str) -> bool:
    """Whether a line without a mark goes on with the line before it, which is part of a block of this role."""
    if role in (HEADING, ROW):
        return False
    if line[0] in " \t" and role in (ITEM, STEP):
        return True
    last = before.rpartition(" ")[2].lower()
    if line.lstrip()[:1].islower() or last.endswith(",") or last in STOP_WORDS:
        return True
    return len(before) >= _WRAPPED and not re.match(_STAMP, line)


_END = regex(r"(?<![.!?…])[.!?…]+[\"'”’)\]*_`]*\s+|[。！？｡]+[」』”）]*\s*")
_ASCII_END = regex(r"[.!?](?<![.!?]{2})[.!?]*[\"')\]*_`]*\s+")
"""The same where all is ASCII, found in a third of the time."""
_LAST_WORD = regex(r"[\w.]*\Z")
_NEVER_LAST = frozenset("e.g i.e eg ie cf vs viz dr mr mrs ms prof st resp incl excl esp aka approx ca".split())
_NOT_BEFORE_NUMBER = frozenset("no nos fig sec ch p pp ver v vol min max est rev".split())
_NOT_BEFORE_LOWER = frozenset("etc inc ltd corp co al a.m p.m u.s".split())


def read_sentences(prose: str) -> Iterator[tuple[int, str]]:
    """The sentences of one paragraph on one line, each with the place where it begins."""
    start = 0
    for match in (_ASCII_END if prose.isascii() else _END).finditer(prose):
        if prose[match.start()] == "." and _is_abbreviation(prose, match):
            continue
        if match.end() < len(prose):
            yield start, prose[start : match.end()].rstrip()
            start = match.end()
    if start < len(prose):
        yield start, prose[start:]


def _is_abbreviation(prose: str, dot: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it, as in `e.g.` and `J. Smith`."""
    before = _LAST_WORD.search(prose, max(0, dot.start() - 12), dot.start())
    word = before[0] if before else ""
    following = prose[dot.end() : dot.end() + 1]
    if len(word) == 1 and word.isupper() and following.isupper():
        return word not in "IABCXYZ"  # An initial; but "plan B. Then" and "so do I. Then" are two sentences.
    low = word.lower()
    if low in _NOT_BEFORE_NUMBER:
        return following.isdigit()
    return low in _NEVER_LAST or (low in _NOT_BEFORE_LOWER and following.islower())
