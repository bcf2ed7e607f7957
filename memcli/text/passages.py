"""Text split by its markup: lines of Markdown and reStructuredText, blocks of prose, sentences, and the passages of a memory.

The format of notes and messages is uncertain, so markup is read line by line, and only fences span lines. The headings of
documents of known format are read by `ingest/markdown.py`, according to CommonMark.

Passages are the parts of a memory that can answer a question by themselves, split where its author divided the text: prose at
paragraphs, lists at items, tables at rows, changes at hunks; code is not split. Small neighbours under one heading are packed
together. A passage never ends inside a line of up to LINE characters.

The chunks that `split` returns fit the window of an embedder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from memcli.model.characters import character_end
from memcli.model.memory import Memory, json_texts
from memcli.record import NamedTuple, Record, replace
from memcli.regex import regex
from memcli.text.words import STOP_WORDS

HEADING, ITEM, STEP, PROSE, ROW = "heading", "item", "step", "prose", "row"
"""The roles of lines and of blocks; STEP is a numbered item, ROW a row of a table."""
BLANK, FENCE, CODE, RULE, MARKUP, DIRECTIVE = "blank", "fence", "code", "rule", "markup", "directive"
"""The roles of lines that belong to no block. FENCE lines enclose the lines of CODE."""

_MARK = regex(
    r"\s*(?:(?P<fence>`{3,}|~{3,})"
    # Indented by four, a line is code, not a heading.
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
"""A line of fewer characters was not wrapped by an editor, so the next line does not continue it."""
_MAX_COMMAND = 100
_COMMENT = regex(r"<!--.*?-->", re.DOTALL)


class Line(NamedTuple):
    """A line: `text` at `start` to `end` (offsets in characters, with its line break), its role, and `body`, its text without the
    marker."""

    start: int
    end: int
    text: str
    role: str
    body: str


_END_LINE = Line(0, 0, "", BLANK, "")


def read_lines(text: str) -> Iterator[Line]:
    """Each line of `text` with its role. A fence ends at a line of only its own character, at least as many as began it."""
    start, fence, is_quoted = 0, "", False
    while start < len(text):
        at = text.find("\n", start)
        end = len(text) if at < 0 else at + 1
        line = text[start:end].rstrip("\r\n")
        if fence and is_quoted and not line.lstrip().startswith(">"):
            fence = ""  # the end of a quotation ends a fence in it
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
    """The role of a line outside of fences, and its text without the marker; of a fence, the marker."""
    first = line.lstrip()[:1]
    # No marker begins with a letter, as most lines do.
    match = None if first.isalpha() else _MARK.match(line)
    if match is None:
        return (PROSE, line) if first else (BLANK, "")
    role, rest = match.lastgroup or PROSE, line[match.end() :]
    if role == FENCE:
        return FENCE, match[FENCE]
    if role == "quote":
        return _marked(rest) if rest else (PROSE, "")
    return role, rest.strip().rstrip("#").rstrip() if role == HEADING else rest


def read_blocks(
    text: str, *, with_commands: bool = False, is_left_out: Callable[[str], object] | None = None
) -> Iterator[tuple[str, str]]:
    """The role and text of each block of `text`, without code, rules, tags, comments, front matter and directives.

    `with_commands`: a short command after a paragraph is appended to it, in backticks. Lines of prose for which `is_left_out`
    is true are dropped.
    """
    # Front matter is metadata, not text of the author.
    if text.lstrip().startswith("---") and (front := re.match(_FRONT_MATTER, text)):
        text = text[front.end() :]
    # Searched only up to the end of the last comment: the lazy pattern would scan to the end for each unclosed `<!--`.
    if "<!--" in text:
        end = text.rfind("-->") + 3
        text = _COMMENT.sub(" ", text[:end]) + text[end:] if end > 2 else text
    role, parts = PROSE, list[str]()
    for line, code in _after_code(read_lines(text)):
        if code and with_commands and parts:
            command = "; ".join(text.strip().removeprefix("$ ") for text in code if text.strip())
            if 0 < len(command) <= _MAX_COMMAND and "`" not in command:
                parts = [*parts[:-1], parts[-1].replace("::", ":"), f"`{command}`"]
        if line.role == BLANK and parts and parts[-1].endswith(":"):
            continue
        is_out = is_left_out is not None and line.role not in (ITEM, STEP, BLANK) and is_left_out(line.text)
        is_next = line.role == PROSE and parts and not is_out and (with_commands or not code)
        if is_next and _continues(role, parts[-1], line.text):
            parts.append(line.body)
            continue
        if line.role == RULE and role == PROSE and len(parts) == 1 and line.text.lstrip()[0] in "=-":
            role = HEADING  # this line underlines the one above
        if parts:
            yield role, " ".join(parts)
        role, parts = line.role, []
        if role in (PROSE, HEADING, STEP, ITEM, ROW) and not is_out:
            parts = [line.body]
    if parts:
        yield role, " ".join(parts)


def _after_code(lines: Iterator[Line]) -> Iterator[tuple[Line, list[str]]]:
    """Each line that is not code, with the lines of code before it; ends with a blank line. Code is fenced, indented below a
    directive, or indented after a line that ends with a colon and a blank line; other indented lines are prose."""
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


def _continues(role: str, before: str, line: str) -> bool:
    """Whether a line without a marker continues the line before it, which belongs to a block of this role."""
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
"""As `_END`, for ASCII: it takes a third of the time."""
_LAST_WORD = regex(r"[\w.]*\Z")
_NEVER_LAST = frozenset("e.g i.e eg ie cf vs viz dr mr mrs ms prof st resp incl excl esp aka approx ca".split())
_NOT_BEFORE_NUMBER = frozenset("no nos fig sec ch p pp ver v vol min max est rev".split())
_NOT_BEFORE_LOWER = frozenset("etc inc ltd corp co al a.m p.m u.s".split())


def read_sentences(prose: str) -> Iterator[tuple[int, str]]:
    """The sentences of a paragraph on one line, each with its offset in characters."""
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
        return word not in "IABCXYZ"  # an initial, unlike "plan B. Then" and "so do I. Then"
    low = word.lower()
    if low in _NOT_BEFORE_NUMBER:
        return following.isdigit()
    return low in _NEVER_LAST or (low in _NOT_BEFORE_LOWER and following.islower())


LONG_ITEM = 450
"""The items of a nested list are blocks of their own from so many characters of the outer item on."""

_UNDERLINE = regex(r" {0,3}(=+|-+|([~^\"'`#*+])\2{2,})[ \t]*\Z")
_LEVELS = "=-~^\"'`#*+"
"""Characters that underline headings, by level: Markdown has the first two, reStructuredText all."""
_BEGINS = (BLANK, FENCE, HEADING, ITEM, STEP)
"""The roles of lines that end the paragraph before them."""
_DIRECTIVE = regex(r"\.\. [\w:-]+::")
_CODE_DIRECTIVE = regex(r"\.\. (?:code-block|code|sourcecode|doctest|testcode|prompt|highlight)::")


def blocks(text: str) -> Iterator[tuple[int, int, str, int]]:
    """The blocks of `text`, which do not nest: start and end in characters, form, and the level of a heading, otherwise 0."""
    lines = list(read_lines(text))
    at = 0
    while at < len(lines):
        if lines[at].role == BLANK:
            at += 1
            continue
        end, form, level = _block(lines, at)
        yield lines[at].start, lines[end - 1].end, form, level
        at = end


def _block(lines: Sequence[Line], at: int) -> tuple[int, str, int]:
    """The index of the line after the block that begins at line `at`, its form, its level."""
    _, _, line, role, _ = lines[at]
    if role in (FENCE, CODE):
        return _fenced(lines, at), CODE, 0
    if role == HEADING:
        title = line.lstrip()
        return at + 1, PROSE, len(title) - len(title.lstrip("#"))
    if role in (ITEM, STEP):
        return _item(lines, at), PROSE, 0
    if line.startswith(("    ", "\t")):
        return _indented(lines, at), CODE, 0
    if line.startswith("..") and _DIRECTIVE.match(line):
        return max(at + 1, _indented(lines, at + 1)), CODE if _CODE_DIRECTIVE.match(line) else PROSE, 0
    end = at + 1
    while end < len(lines) and lines[end].role not in _BEGINS and not _UNDERLINE.match(lines[end].text):
        end += 1
    if end == at + 1 < len(lines) and _UNDERLINE.match(lines[end].text) and line[:1].strip():
        rule = lines[end].text.strip()
        if rule[0] in "=-" or len(rule) >= len(line.rstrip()):
            return end + 1, PROSE, 1 + _LEVELS.index(rule[0])
    return end, PROSE, 0


def _fenced(lines: Sequence[Line], at: int) -> int:
    """The index after the fenced code that begins, or continues, at line `at`."""
    end = at + 1
    while end < len(lines) and lines[end].role == CODE:
        end += 1
    return end + 1 if end < len(lines) and lines[end].role == FENCE else end


def _indented(lines: Sequence[Line], at: int) -> int:
    """The index after the indented lines from `at` on; `at` if there are none."""
    end = behind = at
    while end < len(lines) and (lines[end].text.startswith(("   ", "\t")) or lines[end].role == BLANK):
        end += 1
        behind = end if lines[end - 1].role != BLANK else behind
    return behind


def _item(lines: Sequence[Line], at: int) -> int:
    """The index after the list item at line `at` and the lines indented below it, except the items of a long nested list."""
    indent, end = _width(lines[at].text), at + 1
    while end < len(lines):
        _, behind, line, role, _ = lines[end]
        is_item = role in (ITEM, STEP)
        if role == BLANK:
            following = lines[end + 1] if end + 1 < len(lines) else None
            if following is None or following.role in (ITEM, STEP) or _width(following.text) <= indent:
                break
        elif (_width(line) <= indent and (is_item or role in (HEADING, FENCE))) or (
            is_item and behind - lines[at].start > LONG_ITEM
        ):
            break
        end = _fenced(lines, end) if role == FENCE else end + 1
    return end


def _width(line: str) -> int:
    """The indentation of a line in columns, with tabs of 4."""
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip())


HUNK, MESSAGE, CONTENT, CONTEXT = "hunk", "message", "content", "context"
"""Forms of passages, beside PROSE and CODE. MESSAGE is the message of a commit; CONTENT is stored JSON; CONTEXT is a
snapshot; MARKUP is for tools, a list of links within the document, or a hunk without a word."""

# No one size suited all documents, 900 characters the prose of one repository and 450 the dense lists of another: the
# structure of the text decides first.
LINE = 900
"""The most characters of a passage; longer lines are split."""
PACKED = 450
"""The most characters of neighbouring blocks that are packed into one passage; measured in bench/answers.py."""

_VERSION = regex(r"\bv?\d+\.\d+(?:\.\d+)*\b|\bunreleased\b", re.IGNORECASE)
_TO_TOOLS = regex(
    r"^[ \t]*(?:\.\.|:[\w-]+:).*$|`[^`\n]*`|<[^<>\n]*>|\[!\[[^\n]*|\[[^\[\]\n]*\]\(#[^()\n]*\)", re.MULTILINE
)
_TOOL_SIGNS = ("..", ":", "`", "<", "[")
"""One of these is in every match of `_TO_TOOLS`."""
_WORD = regex(r"[^\W\d_]{3,}")
_WORD_OR_SIGN = regex(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]")
_LEAST_WORDS = 4
_BREAKS = ("\n", ". ", "。", " ")


class Passage(Record):
    """A part of a memory: `text` at `start` to `end` of its raw text (0, 0: of another field), the headings above it inside the
    memory, outermost first, and its form."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    form: str


def passages(memory: Memory) -> list[Passage]:
    """The passages of the memory in order; at least one, unless it has no text."""
    cut = _of_change if memory.kind == "diff" else _of_text
    found = list(cut(memory.raw))
    if memory.metadata.get("source"):
        # A list of links into its own document, or a hunk without a word, answers nothing, so it weighs less.
        found = [replace(one, form=MARKUP) if _is_markup(one) else one for one in found]
    if not memory.raw.strip():
        text = structured(memory) or memory.summary_long or memory.path
        found = [Passage(text[a:b].strip(), 0, 0, (), CONTENT) for a, b in _pieces(text, 0, len(text))]
    # A space file that was edited by hand may have any type here.
    given = [item.get("text") for item in memory.context if isinstance(item, dict)]
    snapshots = [str(text) for text in given if isinstance(text, str | int) and not isinstance(text, bool)]
    return [*found, *(Passage(text[:LINE], 0, 0, (), CONTEXT) for text in snapshots if text.strip())]


def trail(memory: Memory, passage: Passage) -> tuple[str, ...]:
    """The headings above the passage, in the document and inside the memory, outermost first."""
    if passage.form in (HUNK, MESSAGE):
        return passage.headings
    known = memory.metadata.get("headings")
    above = tuple(h for h in known if isinstance(h, str)) if isinstance(known, list | tuple) else ()
    return (*above, *(title for title in passage.headings if title not in above))


def heading(memory: Memory, passage: Passage) -> str:
    """The source and the headings above the passage, as one line for readers and embedders; empty for a note without both."""
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
    """Whether a heading above the passage names a version, as in a changelog: the passage can answer since when something is so."""
    return passage.form not in (HUNK, MESSAGE) and any(map(_VERSION.search, trail(memory, passage)))


_WINDOW_CHARACTERS = 800
"""About the capacity of the embedder's window of 256 word pieces."""


def window_text(before: str, text: str) -> str:
    """The end of a turn and the beginning of the next one, as much as fits into one window of the embedder."""
    return f"{before[-_WINDOW_CHARACTERS // 2 :]}\n{text[: _WINDOW_CHARACTERS // 2 * 3 // 2]}"


def embedded_texts(memory: Memory, cut: Sequence[Passage]) -> list[str]:
    """The text that is embedded for each passage: preceded by its heading, or without one by the title of the memory."""
    title = memory.summary_micro if cut and len(memory.summary_micro) < len(cut[0].text) else memory.path
    found = []
    for n, passage in enumerate(cut):
        above = heading(memory, passage) or (title if n and passage.form not in (MESSAGE, CONTEXT) else "")
        found.append(f"{above}\n{passage.text}" if above else passage.text)
    return found


def structured(memory: Memory) -> str:
    """The texts in the JSON fields of a memory: content and procedure."""
    return "\n".join([*json_texts(memory.content), *json_texts(memory.procedure, keys=False)])


def _is_markup(passage: Passage) -> bool:
    if passage.form == HUNK:  # without a word it is the end of a block, such as `):`
        return not _WORD_OR_SIGN.search(passage.text)
    if passage.form != PROSE:
        return False
    visible = _TO_TOOLS.sub("", passage.text) if any(sign in passage.text for sign in _TOOL_SIGNS) else passage.text
    # The second pattern is used only if the first finds too few words: compiling its ranges takes milliseconds.
    return all(
        len(list(islice(pattern.finditer(visible), _LEAST_WORDS))) < _LEAST_WORDS for pattern in (_WORD, _WORD_OR_SIGN)
    )


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
            title = raw[start:end].strip().partition("\n")[0].strip()
            title = title.strip("#").strip() if title.startswith("#") else title
            above = [*((depth, name) for depth, name in above if depth < level), (level, title)]
            continue
        for a, b in _pieces(raw, start, end):
            # An introduction and its code answer together.
            is_one = open_ and (_introduces(raw, open_[0], open_[1]) or CODE in (form, open_[2]))
            if open_ and b - open_[0] <= (LINE if is_one else PACKED):
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
    elif last < 0:  # only headings
        yield from (Passage(raw[a:b].strip(), a, b, (), PROSE) for a, b in _pieces(raw, 0, len(raw)))


def _introduces(raw: str, start: int, end: int) -> bool:
    """Whether a block ends with a colon or an ellipsis, and so introduces the next one."""
    return raw[start:end].rstrip().endswith((":", "..."))


def _of_change(raw: str) -> Iterator[Passage]:
    """The message of a commit, then its hunks with the title of their file as heading; short neighbours are packed together."""
    lines, at = list[tuple[int, int, str]](), 0
    for line in raw.removesuffix("\n").split("\n"):
        start, at = at, min(at + len(line) + 1, len(raw))
        lines.append((start, at, line.rstrip("\r")))
    first = next((n for n, (_, _, line) in enumerate(lines) if line.startswith("@@")), None)
    if first is None:
        yield from (Passage(raw[a:b].strip(), a, b, (), MESSAGE) for a, b in _pieces(raw, 0, len(raw)))
        return
    at = max(0, first - 1)
    yield from (
        Passage(raw[a:b].strip(), a, b, (), MESSAGE) for a, b in _pieces(raw, 0, lines[at][0]) if raw[a:b].strip()
    )
    title, start, end = lines[at][2], lines[first][0], lines[first][0]
    hunks: list[tuple[int, int, str]] = []
    for a, b, line in lines[first:]:
        is_title = line[:1] not in ("+", "-", " ", "(", "@", "")
        is_new = is_title or line.startswith("@@")
        if end > start and (b - start > LINE or (is_new and b - start > PACKED) or is_title):
            hunks.append((start, end, title))
            start = a
        title = line if is_title else title
        end = b
        start = b if is_title else start
    hunks.append((start, end, title))
    for begin, stop, name in hunks:
        yield from (Passage(raw[a:b].rstrip(), a, b, (name,), HUNK) for a, b in _pieces(raw, begin, stop))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of at most LINE characters of `text` from `start` to `end`, split after a line, a sentence, a word or a character."""
    while end - start > LINE:
        cut = start + LINE
        for mark in _BREAKS:
            at = text.rfind(mark, start + LINE // 3, cut - len(mark) + 1)
            if at > 0:
                cut = at + len(mark)
                break
        else:
            # Without a blank for so long: accents and the parts of an emoji stay with their character.
            cut = character_end(text, cut, start + LINE // 3)
        if text[start:cut].strip():
            yield start, cut
        start = cut
    if text[start:end].strip():
        yield start, end


CHUNK_CHARACTERS = 800
"""About the capacity of a window of 256 word pieces: prose has a little more characters, code a little less."""

_PIECE_BREAKS = (regex(r"\n\s*\n"), regex(r"\n"), regex(r"(?<=[.!?])\s"), regex(r"\s"))


def split(text: str, size: int = CHUNK_CHARACTERS) -> list[str]:
    """`text` in pieces of at most `size` characters, split at the end of a paragraph, line, sentence or word."""
    text = text.strip()
    pieces = []
    start = 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            breaks = ([m.end() for m in pattern.finditer(text, start + size // 2, end)] for pattern in _PIECE_BREAKS)
            end = next((ends[-1] for ends in breaks if ends), end)
        if piece := text[start:end].strip():
            pieces.append(piece)
        start = end
    return pieces
