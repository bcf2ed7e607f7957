"""Text as blocks of Markdown (headings, list items, paragraphs), and these as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memcli.model.analysis import STOP_WORDS
from memcli.model.pieces import cut

HEADING, ITEM, STEP, PROSE, ROW = "heading", "item", "step", "prose", "row"

_LINE = re.compile(
    r"\s*(?:(?P<fence>```|~~~)"
    r"|(?P<heading>\#{1,6}[ \t]+)"
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
_MAX_SHORT_CODE = 100

_IMAGE = r"!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])?"
_LINK = r"\[([^\[\]\n]{1,300})\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"
_STARS = r"(?<![^\s(\"'\[])(\*{1,3})(?=[\w`\"'(])([^*\n]{1,300})(?<=[\w`.!?:;,)\"'])\1(?![\w*])"
_UNDERLINES = r"(?<![^\s(\"'\[])(_{1,2})(?=\w[^_\n ]{0,80} )([^_\n]{1,300})(?<=[\w.!?:;,)])\1(?!\w)"
_RST = r"`([^`<>\n]{1,200}?)\s*(?:<[^`<>\n]{1,300}>)?`__?(?![\w`])|(?::\w{1,20}:`|``)([^`\n]{1,300})`{1,2}"
_REFERENCE = r"(?<![\w`./])([A-Za-z][A-Za-z0-9-]{2,40})_(?![\w`/(])"
_TAG = (
    r"</?(?:a|b|i|em|strong|br|p|code|kbd|sup|sub|img|span|div|details|summary|h[1-6]|center|table|thead|tbody|t[rdh]|"
    r"ul|ol|li|picture|source|font|u|s|small|pre|blockquote)\b[^<>\n]{0,300}>"
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class Block(NamedTuple):
    role: str
    text: str


def read_blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` in order, without Markdown's marks; code blocks are left out unless short."""
    if "\n" not in text:
        role, line = _classify(text)
        if role not in ("fence", "rule", "markup", "directive") and (plain := inline(line)):
            yield Block(role if role in (HEADING, ITEM, STEP) else PROSE, plain)
        return
    if text.lstrip().startswith("---"):
        front = re.match(_FRONT_MATTER, text)
        text = text[front.end() :] if front else text
    yield from _BlockReader().read(_uncommented(text) if "<!--" in text else text)


def inline(text: str) -> str:
    """One block without links, emphasis and tags, its white space collapsed."""
    if "`" in text:
        text = re.sub(_RST, lambda match: match[1] or f"`{match[2]}`", text)
    if "[" in text:
        text = re.sub(_LINK, r"\1", re.sub(_IMAGE, "", text))
    if "*" in text:
        text = re.sub(_STARS, r"\2", re.sub(_STARS, r"\2", text))
    if "_" in text:
        text = re.sub(_UNDERLINES, r"\2", text)
        text = re.sub(_REFERENCE, r"\1", text)
    if "<" in text:
        text = re.sub(_TAG, " ", text)
    return " ".join(text.split())


def _uncommented(text: str) -> str:
    """`text` without HTML comments. Searched only as far as the last one ends, so that time stays linear."""
    end = text.rfind("-->") + 3
    return _COMMENT.sub(" ", text[:end]) + text[end:] if end > 2 else text


def _classify(line: str) -> tuple[str, str]:
    """The role of a line and what is left of it without its mark."""
    match = _LINE.match(line)
    if match is None:
        return PROSE, line
    role = match.lastgroup or PROSE
    rest = line[match.end() :]
    if role == "quote":
        return _classify(rest) if rest else (PROSE, "")
    return role, rest.strip().rstrip("#").rstrip() if role == HEADING else rest


class _BlockReader:
    """Joins lines to blocks."""

    def __init__(self) -> None:
        self._role = PROSE
        self._lines: list[str] = []
        self._code: list[str] | None = None
        """The lines of the code block that is being read."""
        self._is_fence = False
        self._was_blank = False

    def read(self, text: str) -> Iterator[Block]:
        for line in text.split("\n"):
            is_blank = not line or line.isspace()
            if self._code is not None and self._in_code(line, is_blank):
                continue
            if not is_blank and self._was_blank and self._leads_to_code(line):
                self._code, self._is_fence = [line], False
                continue
            role, rest = ("blank", "") if is_blank else _classify(line)
            if is_blank and self._lines and self._lines[-1].endswith(":"):
                self._was_blank = True  # What comes next may be the code that this leads up to.
                continue
            self._was_blank = False
            if role == PROSE and self._continues(line):
                self._lines.append(rest)
                continue
            yield from self._take(role, rest, line)
        self._end_code()
        yield from self._flush()

    def _take(self, role: str, rest: str, line: str) -> Iterator[Block]:
        """Begins a new block with a line, or leaves the line out."""
        if role == "fence":
            self._code, self._is_fence = [], True
            return
        if role == "rule" and self._is_underlined(line):
            self._role = HEADING
        yield from self._flush()
        if role == "directive":
            self._code, self._is_fence = [], False
        elif role in (PROSE, HEADING, STEP, ITEM, ROW):
            self._role, self._lines = role, [rest]

    def _leads_to_code(self, line: str) -> bool:
        """Whether an indented line is a code block that the sentence before it leads up to."""
        return line.startswith(("    ", "\t")) and bool(self._lines) and self._role == PROSE

    def _in_code(self, line: str, is_blank: bool) -> bool:
        """Takes a line of a code block. False when the block ended before it."""
        if self._is_fence and line.lstrip().startswith(("```", "~~~")):
            self._end_code()
            return True
        if self._is_fence or is_blank or line[0] in " \t":
            if self._code is not None:
                self._code.append(line)
            return True
        self._end_code()
        return False

    def _end_code(self) -> None:
        """A short command that a sentence leads up to belongs to the sentence; other code is left out."""
        command = "; ".join(part.strip().removeprefix("$ ") for part in self._code or () if part.strip())
        if self._lines and 0 < len(command) <= _MAX_SHORT_CODE and "`" not in command:
            self._lines[-1] = self._lines[-1].replace("::", ":")
            self._lines.append(f"`{command}`")
        self._code = None

    def _continues(self, line: str) -> bool:
        """Whether a plain line goes on with the block before it, rather than beginning one."""
        if not self._lines or self._was_blank or self._role in (HEADING, ROW):
            return False
        if line[0] in " \t" and self._role in (ITEM, STEP):
            return True
        before = self._lines[-1]
        first = line.lstrip()[:1]
        last = before.rpartition(" ")[2].lower()
        if first.islower() or last.endswith(",") or last in STOP_WORDS:
            return True
        return len(before) >= _WRAPPED and not re.match(_STAMP, line)

    def _is_underlined(self, line: str) -> bool:
        """Whether `line` makes a heading of the one before it."""
        return self._role == PROSE and len(self._lines) == 1 and line.lstrip()[0] in "=-"

    def _flush(self) -> Iterator[Block]:
        if self._lines:
            text = " ".join(self._lines)
            if self._role == ROW:
                text = _cells(text)
            text = inline(text)
            if any(c.isalnum() for c in text) or (self._role == PROSE and text):
                yield Block(self._role, text)
        self._lines = []


def _cells(row: str) -> str:
    return " | ".join(cell.strip() for cell in row.strip().strip("|").split("|") if cell.strip(" -:"))


MAX_SENTENCES = 200
_TITLE_CHARACTERS = 100


class Sentence(NamedTuple):
    text: str
    role: str
    """One of the roles of `blocks`."""


def split(text: str, limit: int = MAX_SENTENCES) -> list[Sentence]:
    """The first sentences of `text`, at most `limit`. List items and headings stay whole."""
    found: list[Sentence] = []
    for role, block in read_blocks(text):
        if role == PROSE:
            found.extend([Sentence(part, role) for part in cut(block)])
        else:
            found.append(Sentence(block, role))
        if len(found) >= limit:
            break
    if _is_title(found):
        found[0] = Sentence(found[0].text, HEADING)
    return found[:limit]


def _is_title(sentences: list[Sentence]) -> bool:
    """Whether the first of the sentences is a line that heads a list, without being marked so."""
    if len(sentences) < 2 or sentences[0].role != PROSE or sentences[1].role not in (ITEM, STEP):
        return False
    text = sentences[0].text
    return len(text) <= _TITLE_CHARACTERS and text[-1] not in ".!?…。！？"


def lines(text: str, limit: int = MAX_SENTENCES) -> list[Sentence]:
    """The first lines of `text`, each as the item of a list."""
    return [Sentence(line, ITEM) for line in text.split("\n", limit)[:limit] if line.strip()]
