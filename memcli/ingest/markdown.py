"""Markdown: headings, and the lines in fenced blocks and comments. Blocks follow CommonMark.

There are two exceptions: Markdown below a tag that HTML does not have, such as `<rules>`, is read, because agents read it; and a
heading in HTML, `<h3>Title</h3>`, is a heading.

AsciiDoc: headings, as `== Title` or as a title with a line of signs of about its length below it.

reStructuredText: headings, which have a line of signs below them, or one above and one below.

Outline: the sections of a document, by its headings.

Front matter: the YAML between `---` lines at the beginning of a Markdown file, as JSON values. It is read from YAML's events,
because `safe_load` turns `2024-01-02` into a date, `007` into 7 and `yes` into True; and reading stops at the first alias, tag or
repeated key, before anything is expanded.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memcli.record import NamedTuple


class Heading(NamedTuple):
    """`level` counts from 1; `first` and `last` are the first and last line of the heading, counted from 1."""

    level: int
    title: str
    first: int
    last: int


_ATX = re.compile(r"#{1,6}(?= |\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+) *\Z")
_FENCE = re.compile(r"`{3,}(?=[^`]*\Z)|~{3,}")
_ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])( +|\Z)")
_DEFINITION = re.compile(r" {0,3}\[[^\[\]]{1,200}\]:[ \t]*[^ \t]+(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*\Z")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?: [^<>]*)?/?> *\Z")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_BLANK = re.compile(r"\A *\Z")
# Kinds 1 to 6 of HTML blocks in CommonMark; _TAG is kind 7.
_HTML = (
    (re.compile(r"<(?:script|pre|style|textarea)(?: |>|\Z)", re.IGNORECASE),
     re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?: |/?>|\Z)", re.IGNORECASE), _BLANK),
)  # fmt: skip
"""The patterns of the beginning of an HTML block, and of its last line."""
# Lists of questions in wikis are written with these; without them such a page would be a single memory.
_HTML_HEADING = re.compile(r"<h([1-6])(?: [^<>]*)?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_MAX_HEIGHT = 8
"""The most lines of a heading in HTML."""
_QUOTE = -1
_MAX_DEPTH = 32
"""The most nested containers; deeper ones are read as text, so that the work for each line is bounded."""
_MAX_INDENT = 3
"""A line with more indentation is code, or continues a paragraph."""


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings of the document itself, without those in block quotes and lists."""
    reader = _MarkdownReader(lines)
    for number in range(1, len(lines) + 1):
        if heading := reader.read(number):
            yield heading


def verbatim(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yields each line, and whether it is part of a fenced block or a comment, with its first and last line."""
    reader = _MarkdownReader(lines)
    for number, line in enumerate(lines, 1):
        reader.read(number)
        yield line, reader.is_verbatim


# A reader of our own, with markdown-it-py as the oracle of its tests: that parses all inline text too, and does not
# say which lines in a list are fenced or commented out.
class _MarkdownReader:
    """A reader of one line after the other, with the open blocks as its state."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.is_verbatim = False
        """Whether the last line read is part of a fenced block or a comment."""
        self._lines = lines
        self._containers: list[int] = []
        """The open containers, outermost first: _QUOTE, or the indentation of the text of a list item."""
        self._is_empty_item = False
        """Whether the last line began a list item that has no text yet."""
        self._fence = ""
        self._end: re.Pattern[str] | None = None
        """The pattern of the last line of the open HTML block; None for no open block."""
        self._first = 0
        """The number of the first line of the open paragraph; 0 for none."""

    def read(self, number: int) -> Heading | None:
        """Reads a line and returns the heading that ends there; a heading in HTML is returned at its first line."""
        line = self._lines[number - 1]
        text, depth = self._enter(line.expandtabs(4) if "\t" in line else line)
        self.is_verbatim = self._is_empty_item = False
        if depth < len(self._containers):
            self._fence, self._end = "", None
        if self._fence or self._end:
            # A line of the open fenced block or block of HTML.
            self.is_verbatim = self._end is not _BLANK
            if self._end:
                self._end = None if self._end.search(text) else self._end
                return None
            bare = text.strip(" ")
            is_end = bare.startswith(self._fence) and not bare.strip(self._fence[0])
            if is_end and len(text) - len(text.lstrip(" ")) <= _MAX_INDENT:
                self._fence = ""
            return None
        if not text.strip(" "):
            self._leave(depth)
            return None
        marks, text = self._open(text, depth)
        if marks:
            self._leave(depth)
            self._containers += marks
            depth += len(marks)
        return self._read_block(text, depth, number)

    def _enter(self, text: str) -> tuple[str, int]:
        """The rest of a line after the marks of open containers, and the number of containers that it continues."""
        for depth, width in enumerate(self._containers):
            bare = text.lstrip(" ")
            indent = len(text) - len(bare)
            if width == _QUOTE:
                if indent > _MAX_INDENT or not bare.startswith(">"):
                    return text, depth
                text = bare[1:].removeprefix(" ")
            elif bare and indent >= width:
                text = text[width:]
            elif bare or (self._is_empty_item and depth == len(self._containers) - 1):
                return text, depth
        return text, len(self._containers)

    def _open(self, text: str, depth: int) -> tuple[list[int], str]:
        """The containers that begin in a line, and the rest of the line after their marks."""
        marks: list[int] = []
        is_paragraph = self._first and depth == len(self._containers)
        while depth + len(marks) < _MAX_DEPTH:
            bare = text.lstrip(" ")
            indent = len(text) - len(bare)
            item = _ITEM.match(bare)
            if indent > _MAX_INDENT:
                break
            if bare.startswith(">"):
                marks.append(_QUOTE)
                text = bare[1:].removeprefix(" ")
            elif item and not _is_rule(bare):
                # In CommonMark only an item with text, and of a numbered list only number 1, can interrupt a paragraph.
                interrupts = item.end() < len(bare) and (item[2] is None or int(item[2]) == 1)
                if is_paragraph and not interrupts:
                    break
                is_code = len(item[3]) > _MAX_INDENT + 1 or not bare[item.end() :]
                marks.append(indent + len(item[1]) + (1 if is_code else len(item[3])))
                text = bare[len(item[1]) + 1 :] if is_code else bare[item.end() :]
            else:
                break
            is_paragraph = False
        return marks, text

    def _read_block(self, text: str, depth: int, number: int) -> Heading | None:
        body = text.lstrip(" ")
        is_inside = depth == len(self._containers)
        if not body:
            self._is_empty_item = self._containers[-1] != _QUOTE
        elif len(text) - len(body) > _MAX_INDENT:
            if not self._first:
                self._leave(depth)
        elif mark := _ATX.match(body):
            self._leave(depth)
            return None if depth else Heading(mark.end(), _title(self._lines[number - 1]), number, number)
        elif self._first and is_inside and _UNDERLINE.match(body):
            return self._underlined(number, is_top=not depth)
        elif self._begins(body) or _is_rule(body) or (not self._first and _TAG.match(body)):
            self._leave(depth)
            mark = None if depth else _HTML_HEADING.match(body)
            return self._tagged(int(mark[1]), number) if mark else None
        elif not self._first:
            self._leave(depth)
            self._first = number
        return None

    def _begins(self, body: str) -> bool:
        """Whether a fenced block or an HTML block begins at a line, which it then opens."""
        if fence := _FENCE.match(body):
            self._fence, self.is_verbatim = fence[0], True
            return True
        for start, end in _HTML if body[0] == "<" else ():
            if start.match(body):
                self._end = None if end.search(body) else end
                self.is_verbatim = end is not _BLANK
                return True
        return False

    def _underlined(self, number: int, *, is_top: bool) -> Heading | None:
        """The heading that the open paragraph and its underline make, without link definitions at its beginning."""
        first, self._first = self._first, 0
        while first < number and _DEFINITION.match(self._lines[first - 1]):
            first += 1
        level = 1 if "=" in self._lines[number - 1] else 2
        if first == number:
            self._first = number if level == 1 else 0
            return None
        title = " ".join(line.strip(" \t") for line in self._lines[first - 1 : number - 1])
        return Heading(level, title, first, number) if is_top else None

    def _tagged(self, level: int, number: int) -> Heading | None:
        """The heading in HTML that begins at a line; None unless its end tag ends a line before the next blank one."""
        end = f"</h{level}>"
        for last in range(number, min(number + _MAX_HEIGHT, len(self._lines) + 1)):
            line = self._lines[last - 1].rstrip(" \t")
            if line.lower().endswith(end):
                text = _ANY_TAG.sub(" ", "\n".join(self._lines[number - 1 : last]))
                title = " ".join(html.unescape(text).split())
                return Heading(level, title, number, last) if title else None
            if not line:
                break
        return None

    def _leave(self, depth: int) -> None:
        del self._containers[depth:]
        self._first = 0


def _is_rule(body: str) -> bool:
    marks = body.replace(" ", "")
    return len(marks) > 2 and marks[0] in "*-_" and not marks.strip(marks[0])


def _title(line: str) -> str:
    text = line.strip(" \t").lstrip("#").strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if bare != text and bare[-1:] in ("", " ", "\t") else text


_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(?=\S)")
_DELIMITER = re.compile(r"(?:([-.=*_/+])\1{3,}|[|,:!]={3,}|`{3,}.*)[ \t]*\Z")
_ASCIIDOC_UNDERLINE = re.compile(r"([=~^+-])\1+[ \t]*\Z")
_BEFORE = ("[", ":", "//")
"""The beginnings of lines that may be directly above a title: attributes, anchors, comments."""
_LEVELS = "=-~^+"
_SLACK = 1
"""The largest difference in length of a title and its underline."""


def asciidoc_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings of an AsciiDoc document, outside of blocks of code, comments and tables."""
    block = ""
    number = end = 0
    while number < len(lines):
        is_start = number == end or not lines[number - 1].strip() or lines[number - 1].startswith(_BEFORE)
        line = lines[number].rstrip()
        number += 1
        rule = lines[number].rstrip() if number < len(lines) else ""
        is_title = line[:1].isalnum() and abs(len(line) - len(rule)) <= _SLACK and not _DELIMITER.match(line)
        if block:
            block = "" if line == block else block
        elif mark := _TITLE.match(line):
            yield Heading(len(mark[1]), line[mark.end() :].removesuffix(f" {mark[1]}").rstrip(), number, number)
            end = number
        elif is_start and is_title and _ASCIIDOC_UNDERLINE.match(rule):
            yield Heading(_LEVELS.index(lines[number][0]) + 1, line, number, number + 1)
            number = end = number + 1
        elif _DELIMITER.match(line):
            block = "```" if line.startswith("```") else line


_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+ *\Z")
_LABEL = re.compile(r"\.\. _[^:]*: *\Z")
_OTHER = re.compile(r"\s|\.\. |[-*+•‣⁃] |>>> |\|")
"""The beginnings of lines that are not titles."""
_SURE = 4
"""An underline of at least so many signs may be shorter than its title."""


def restructured_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings of a reStructuredText document, with the labels before them. The order in which signs occur gives their levels."""
    levels: dict[tuple[str, bool], int] = {}
    number = end = 0
    while number < len(lines):
        before = lines[number - 1] if number > end else ""
        is_start = not before.strip() or before.startswith((" ", "\t", ".. "))
        title, is_framed, height = _at(lines, number, is_start=is_start)
        if not height:
            number += 1
            continue
        level = levels.setdefault((lines[number + height - 1][0], is_framed), len(levels) + 1)
        first = at = number
        while at and (not lines[at - 1].strip() or _LABEL.match(lines[at - 1])):
            at -= 1
            first = at if lines[at].strip() else first
        yield Heading(level, title, first + 1, number + height)
        number = end = number + height


def _at(lines: Sequence[str], number: int, *, is_start: bool) -> tuple[str, bool, int]:
    """The title of a heading at an index, whether it has a line of signs above, and its number of lines; 0 for none."""
    first, second, third = (*lines[number : number + 3], "", "")[:3]
    if _RULE.match(first):
        is_heading = first.rstrip() == third.rstrip() and not _RULE.match(second) and _fits(second.strip(), first)
        return second.strip(), True, 3 if is_heading else 0
    is_heading = is_start and bool(_RULE.match(second)) and not _OTHER.match(first) and _fits(first.strip(), second)
    return first.strip(), False, 2 if is_heading else 0


def _fits(title: str, rule: str) -> bool:
    return bool(title) and len(rule.rstrip()) >= min(len(title), _SURE)


class OutlinePart(NamedTuple):
    """A section: its headings, outermost first, and its lines, without those of subsections."""

    headings: tuple[str, ...]
    lines: Sequence[str]
    start: int = 1
    """The number of its first line, which is that of its heading, if any."""
    height: int = 0
    """The number of lines of its heading."""

    @property
    def end(self) -> int:
        """The number of its last line."""
        return self.start + self.height + len(self.lines) - 1


def parts(text: str, headings: Callable[[Sequence[str]], Iterator[Heading]] = headings) -> Iterator[OutlinePart]:
    """The sections in order, and first the lines before the first heading, without headings."""
    lines = text.split("\n")
    frame = _FRAME.match(text)  # also if it cannot be parsed
    head = text.count("\n", 0, frame.end()) if frame else 0
    above: list[tuple[int, str]] = []
    names: tuple[str, ...] = ()
    start, height = 1, 0
    for level, title, first, last in headings(lines[head:]):
        yield OutlinePart(names, lines[start + height - 1 : head + first - 1], start, height)
        above = [*((depth, name) for depth, name in above if depth < level), (level, title)]
        names = tuple(name for _, name in above)
        start, height = head + first, last - first + 1
    yield OutlinePart(names, lines[start + height - 1 :], start, height)


_MAX_CHARACTERS = 65_536
_MAX_NESTED = 8
_FRAME = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TAB = re.compile(r"(?<=\S)[ \t]*\t[ \t]*")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}

Value = object
"""None, a bool, an int, a text, a list of values, or a dict of them."""


def split_front_matter(text: str) -> tuple[dict[str, Value] | None, str]:
    """The fields of the front matter and the text below it; without front matter no fields and the whole text.

    For front matter that cannot be parsed, the fields are None and the text is the whole text.
    """
    match = _FRAME.match(text)
    if not match:
        return {}, text
    fields = _fields(match[1])
    return (None, text) if fields is None else (fields, text[match.end() :].lstrip("\n"))


def front_texts(value: Value) -> list[str]:
    """The texts of a list, or of a line with separators: commas, or else blanks, and `#` before tags."""
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        return [part.strip().lstrip("#") for part in parts if part.strip("# ")]
    if isinstance(value, list):
        return [str(item).lstrip("#") for item in value if isinstance(item, (str, int)) and str(item).strip("# ")]
    return []


def _fields(text: str) -> dict[str, Value] | None:
    """The mapping in `text`; None for other values, invalid YAML, or one beyond the limits."""
    import yaml

    if len(text) > _MAX_CHARACTERS:
        return None
    # The parser in C is 20 times faster; PyYAML may be built without it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # A tab after a colon or a value is valid YAML, which only the parser in C accepts.
        events = yaml.parse(_TAB.sub(" ", text), Loader=loader)
        next(events)  # the start of the stream
        if isinstance(next(events), yaml.StreamEndEvent):
            return {}
        value = _value(events, next(events), 0)
        if len(list(events)) > 2:  # more than the ends of document and stream; an error may follow too
            return None
    except (yaml.YAMLError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _value(events: Iterator[Any], event: Any, depth: int) -> Value:
    """The value that begins with `event`. Raises ValueError for a value without a JSON form, one nested too deep, and half of a
    surrogate pair, which UTF-8 cannot encode."""
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag or depth > _MAX_NESTED:
        raise ValueError(event)
    if isinstance(event, yaml.ScalarEvent):
        text: str = event.value
        text.encode()
        if event.style:
            return text
        return int(text) if _INTEGER.match(text) else _WORDS.get(text.lower(), text)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(events, event, depth + 1))
        return items or None
    found: dict[str, Value] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
            raise ValueError(event)
        name = event.value
        if name in found or name == "<<":
            raise ValueError(event)
        found[name] = _value(events, next(events), depth + 1)
        name.encode()
    return found
