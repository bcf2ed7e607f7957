"""Passages: the parts of a memory that can answer a question by themselves, cut where its author cut the text.

Prose is cut at paragraphs, lists at items, tables at rows, changes at hunks; code stays whole. Small neighbours under one
heading are packed together. A passage never ends inside a line of up to LINE characters.

The blocks of Markdown and reStructuredText: headings, paragraphs, list items, code; found in one pass, without nesting.

Text in pieces: its sentences, and chunks that fit the window of an embedder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memcli.model.characters import character_end
from memcli.model.memory import Json, Memory, json_texts
from memcli.record import Record, replace
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


HUNK, MESSAGE, CONTENT, CONTEXT, MARKUP = "hunk", "message", "content", "context", "markup"
"""What a passage is made of, beside PROSE and CODE. MESSAGE is that of a commit; CONTENT what was stored as JSON; CONTEXT
a snapshot; MARKUP what a document says to its tools alone."""

LINE = 900
"""Characters of the longest passage, and of the longest line that is not cut."""
PACKED = 450
"""Up to so many characters, neighbours under one heading are one passage; measured in bench/answers.py."""

_VERSION = regex(r"\bv?\d+\.\d+(?:\.\d+)*\b|\bunreleased\b", re.IGNORECASE)
_TO_TOOLS = regex(r"^[ \t]*(?:\.\.|:[\w-]+:).*$|`[^`\n]*`|<[^<>\n]*>|\[!\[[^\n]*", re.MULTILINE)
_WORD = regex(r"[^\W\d_]{3,}")
_WORD_OR_SIGN = regex(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]")
_LEAST_WORDS = 4
_BREAKS = ("\n", ". ", "。", " ")


class Passage(Record):
    """A part of a memory: `text`, which stands at `start` to `end` of its raw text (0, 0: elsewhere), the headings inside
    the memory that lead to it, and what it is made of."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    form: str


def passages(memory: Memory) -> list[Passage]:
    """The passages of the memory in order; at least one, unless it has no text at all."""
    cut = _of_change if memory.kind == "diff" else _of_text
    found = list(cut(memory.raw))
    if memory.kind != "diff" and memory.metadata.get("source"):
        found = [replace(one, form=MARKUP) if _is_markup(one) else one for one in found]
    if not memory.raw.strip():
        text = structured(memory) or memory.summary_long or memory.path
        found = [Passage(text[a:b].strip(), 0, 0, (), CONTENT) for a, b in _pieces(text, 0, len(text))]
    snapshots = (told for told in map(context_text, memory.context) if told.strip())
    return [*found, *(Passage(told[:LINE], 0, 0, (), CONTEXT) for told in snapshots)]


def trail(memory: Memory, passage: Passage) -> tuple[str, ...]:
    """The headings that lead to the passage, of the document and inside the memory, outermost first."""
    if passage.form in (HUNK, MESSAGE):
        return passage.headings
    known = memory.metadata.get("headings")
    above = tuple(h for h in known if isinstance(h, str)) if isinstance(known, list | tuple) else ()
    return (*above, *(title for title in passage.headings if title not in above))


def heading(memory: Memory, passage: Passage) -> str:
    """What a reader, and an embedder, must know of where the passage stands; empty for a text that stands by itself."""
    titles = " > ".join(trail(memory, passage))
    if passage.form == HUNK:
        subject = memory.metadata.get("subject")
        return f"{subject} ({titles})" if isinstance(subject, str) and subject else titles
    if passage.form == MESSAGE:
        return ""
    source = memory.metadata.get("source")
    if isinstance(source, str) and source:
        return f"{source} > {titles}" if titles else source
    return titles


def is_versioned(memory: Memory, passage: Passage) -> bool:
    """Whether a heading above the passage names a version: what stands there says since when something is so."""
    return passage.form not in (HUNK, MESSAGE) and any(map(_VERSION.search, trail(memory, passage)))


def embedded_texts(memory: Memory, cut: Sequence[Passage]) -> list[str]:
    """The text that is embedded for each passage: behind its heading, or the title of the memory where it has none."""
    title = memory.summary_micro if cut and len(memory.summary_micro) < len(cut[0].text) else memory.path
    found = []
    for n, passage in enumerate(cut):
        above = heading(memory, passage) or (title if n and passage.form not in (MESSAGE, CONTEXT) else "")
        found.append(f"{above}\n{passage.text}" if above else passage.text)
    return found


def structured(memory: Memory) -> str:
    """The texts of what was stored as JSON: the content and the procedure."""
    return "\n".join([*json_texts(memory.content), *json_texts(memory.procedure, keys=False)])


def context_text(item: Json) -> str:
    """The text of a context snapshot; a hand may have put anything into the file."""
    text = item.get("text") if isinstance(item, dict) else None
    return str(text) if isinstance(text, str | int) and not isinstance(text, bool) else ""


def _is_markup(passage: Passage) -> bool:
    if passage.form != PROSE:
        return False
    told = _TO_TOOLS.sub("", passage.text)
    # To compile the ranges of the other pattern takes milliseconds.
    return len(_WORD.findall(told)) < _LEAST_WORDS and len(_WORD_OR_SIGN.findall(told)) < _LEAST_WORDS


def _of_text(raw: str) -> Iterator[Passage]:
    above: list[tuple[int, str]] = []
    open_: tuple[int, int, str] | None = None
    last = -1

    def passage(start: int, end: int, form: str) -> Passage:
        return Passage(raw[start:end].strip("\n").rstrip(), start, end, tuple(title for _, title in above), form)

    for start, end, form, level in blocks(raw):
        if level:
            if open_:
                yield passage(*open_)
                open_ = None
            above = [*((depth, title) for depth, title in above if depth < level), (level, _title(raw[start:end]))]
            continue
        for a, b in _pieces(raw, start, end):
            if open_ and _joins(raw, open_, b, form):
                open_ = (open_[0], b, PROSE if PROSE in (form, open_[2]) else form)
            elif open_ and last > open_[0] and _introduces(raw, last, open_[1]) and b - last <= LINE:
                yield passage(open_[0], last, open_[2])
                open_ = (last, b, PROSE)
            else:
                if open_:
                    yield passage(*open_)
                open_ = (a, b, form)
            last = a
    if open_:
        yield passage(*open_)
    elif last < 0:  # nothing but headings
        yield from (Passage(raw[a:b].strip(), a, b, (), PROSE) for a, b in _pieces(raw, 0, len(raw)))


def _joins(raw: str, before: tuple[int, int, str], end: int, form: str) -> bool:
    """Whether a block that ends at `end` is packed with what stands before it: an introduction goes with its code."""
    is_one = _introduces(raw, before[0], before[1]) or CODE in (form, before[2])
    return end - before[0] <= (LINE if is_one else PACKED)


def _introduces(raw: str, start: int, end: int) -> bool:
    """Whether a block announces the one behind it."""
    return raw[start:end].rstrip().endswith((":", "..."))


def _of_change(raw: str) -> Iterator[Passage]:
    """The message, then the hunks under the title of their file; short neighbours of one file are packed together."""
    lines = list(lines_of(raw))
    first = next((n for n, (_, _, line) in enumerate(lines) if line.startswith("@@")), None)
    if first is None:
        yield from (Passage(raw[a:b].strip(), a, b, (), MESSAGE) for a, b in _pieces(raw, 0, len(raw)))
        return
    at = max(0, first - 1)
    yield from (
        Passage(raw[a:b].strip(), a, b, (), MESSAGE) for a, b in _pieces(raw, 0, lines[at][0]) if raw[a:b].strip()
    )
    title, start, end = lines[at][2], lines[first][0], lines[first][0]
    for a, b, line in lines[first:]:
        is_title = line[:1] not in ("+", "-", " ", "(", "@", "")
        is_new = is_title or line.startswith("@@")
        if end > start and (b - start > LINE or (is_new and b - start > PACKED) or is_title):
            yield from _hunk(raw, start, end, title)
            start = a
        title = line if is_title else title
        end = b
        start = b if is_title else start
    yield from _hunk(raw, start, end, title)


def _hunk(raw: str, start: int, end: int, title: str) -> Iterator[Passage]:
    if raw[start:end].strip():
        yield from (Passage(raw[a:b].rstrip(), a, b, (title,), HUNK) for a, b in _pieces(raw, start, end))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """`start` to `end` in parts of at most LINE characters, cut behind a line, else a sentence, a word, a character."""
    while end - start > LINE:
        cut = start + LINE
        for mark in _BREAKS:
            at = text.rfind(mark, start + LINE // 3, cut - len(mark) + 1)
            if at > 0:
                cut = at + len(mark)
                break
        else:
            cut = character_end(text, cut, start + LINE // 3)
        if text[start:cut].strip():
            yield start, cut
        start = cut
    if text[start:end].strip():
        yield start, end


def _title(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line.strip("#").strip() if line.startswith("#") else line


CHUNK_CHARACTERS = 800
"""About what a window of 256 word pieces holds: a little more in prose, a little less in code."""

_PIECE_BREAKS = (regex(r"\n\s*\n"), regex(r"\n"), regex(r"(?<=[.!?])\s"), regex(r"\s"))


def split(text: str, size: int = CHUNK_CHARACTERS) -> list[str]:
    """`text` in pieces of at most `size` characters, cut where a paragraph, line, sentence or word ends."""
    text = text.strip()
    pieces = []
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= size else _cut(text, start, size)
        if piece := text[start:end].strip():
            pieces.append(piece)
        start = end
    return pieces


def _cut(text: str, start: int, size: int) -> int:
    """Where to cut: at the last break of the strongest kind that leaves at least half a piece."""
    for pattern in _PIECE_BREAKS:
        ends = [m.end() for m in pattern.finditer(text, start + size // 2, start + size)]
        if ends:
            return ends[-1]
    return start + size


_END = regex(r"(?<![.!?…])[.!?…]+[\"'”’)\]*_`]*\s+|[。！？｡]+[」』”）]*\s*")
_ASCII_END = regex(r"[.!?](?<![.!?]{2})[.!?]*[\"')\]*_`]*\s+")
"""The same where all is ASCII, found in a third of the time."""
_LAST_WORD = regex(r"[\w.]*\Z")
_NEVER_LAST = frozenset([
    "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "dr", "mr", "mrs", "ms", "prof", "st", "resp", "incl", "excl", "esp",
    "aka", "approx", "ca",
])  # fmt: skip
_NOT_BEFORE_NUMBER = frozenset(
    ["no", "nos", "fig", "sec", "ch", "p", "pp", "ver", "v", "vol", "min", "max", "est", "rev"]
)
_NOT_BEFORE_LOWER = frozenset(["etc", "inc", "ltd", "corp", "co", "al", "a.m", "p.m", "u.s"])


def cut(prose: str) -> Iterator[str]:
    """The sentences of one paragraph whose white space is collapsed."""
    start = 0
    for match in (_ASCII_END if prose.isascii() else _END).finditer(prose):
        if prose[match.start()] == "." and _is_abbreviation(prose, match):
            continue
        if match.end() < len(prose):
            yield prose[start : match.end()].rstrip()
            start = match.end()
    if start < len(prose):
        yield prose[start:]


def _is_abbreviation(prose: str, dot: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it, as in `e.g.` and `J. Smith`."""
    before = _LAST_WORD.search(prose, max(0, dot.start() - 12), dot.start())
    word = before[0] if before else ""
    following = prose[dot.end() : dot.end() + 1]
    if len(word) == 1 and word.isupper() and following.isupper():
        return word not in "IABCXYZ"  # An initial; but "plan B. Then" and "so do I. Then" are two sentences.
    low = word.lower()
    if low in _NEVER_LAST:
        return True
    if low in _NOT_BEFORE_NUMBER:
        return following.isdigit()
    return low in _NOT_BEFORE_LOWER and following.islower()
