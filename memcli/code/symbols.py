"""Symbols: the places where source code defines a name, such as `refresh` or `Token.refresh`; the parts of source code; and the
symbols that a diff changes.

Python is parsed. Definitions in other languages end by braces, `end` or indentation, which is fast and mostly right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.code.diff import HUNK
from memcli.regex import regex

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([a-z]+\))?|public|private|protected|internal|static|final|abstract|async|"
    r'unsafe|override|inline|virtual|open|data|sealed|partial|extern(?:[ \t]+"C")?)[ \t]+){0,5}'
)
_FUNCTIONS = r"def|defp|function\*?|func|fun|fn|macro_rules!"
_TYPES = (
    r"class|struct|enum(?:[ \t]+(?:class|struct))?|trait|interface|module|defmodule|object|record|protocol|type|"
    r"typedef[ \t]+struct|union(?![ \t]+(?:all|distinct|select)\b)"
)
EXTENSIONS = r"impl(?:<[^>\n]{0,80}>)?|namespace|extension|mod(?=[^;\n]*\{)"
"""Words that define no new name, but contain members of the one that they name."""
_NAME = r"[A-Za-z_$][\w$]*"
_FUNCTION_VALUE = r"(?:async\s*)?(?:function\b|(?:\([^)\n]{0,120}\)|\w+)\s*(?::[^=\n]{1,60})?=>)"


def _line(words: str) -> str:
    """The pattern of a line that defines a name by one of `words`, or assigns a function to a name."""
    return (
        rf"[ \t]*{_MODIFIERS}(?:(?P<word>{words})[ \t]+(?:\([^)\n]{{0,80}}\)[ \t]*)?(?:self\.)?(?P<name>{_NAME})"
        rf"|(?:const|let|var)[ \t]+(?P<arrow>{_NAME})\s*(?::[^=\n]{{1,80}})?=\s*{_FUNCTION_VALUE})"
    )


DEFINITION = regex(
    rf"^{_line(f'{_FUNCTIONS}|{_TYPES}')}"
    r"|^[ \t]*(?i:create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?P<object>table|view|function|index|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?)(?P<made>[\w.\"]+)"
    r"|^(?P<target>[a-z][\w-]{0,40}):(?!=)[^\n=]*\n\t",
    re.MULTILINE,
)
_OF_CODE = regex(_line(f"{_FUNCTIONS}|{_TYPES}|{EXTENSIONS}"))
HOLDER = regex(rf"[ \t]*{_MODIFIERS}(?:{_TYPES}|{EXTENSIONS})(?!\w)")
"""The beginning of a definition with members, such as a class."""
_CALLABLE = regex(_FUNCTIONS)
_FOR = regex(rf"\bfor[ \t]+({_NAME})")


def name_of(match: re.Match[str]) -> tuple[str, str]:
    """The name that a match of DEFINITION defines, such as `refresh`, and its form for users, such as `refresh()`."""
    if match["name"]:
        word = match["word"]
        return match["name"], f"{match['name']}()" if _CALLABLE.fullmatch(word) else f"{word} {match['name']}"
    if match["arrow"]:
        return match["arrow"], f"{match['arrow']}()"
    if match["made"]:
        made = match["made"].replace('"', "")
        return made, f"{match['object'].lower()} {made}"
    return match["target"], f"target {match['target']}"


def defined(line: str) -> str:
    """The name that a line of code defines or extends, such as `Token` for `impl Display for Token {`; empty for none."""
    match = _OF_CODE.match(line)
    if match is None:
        return ""
    target = _FOR.search(line, match.end()) if (match["word"] or "").startswith("impl") else None
    return target[1] if target else match["name"] or match["arrow"]


Lines = tuple[int, int]
"""A first and a last line, counted from 1."""

_PARTS = regex(r"::|[.#]")
_MAX_PARTS = 20
_MAX_HEAD = 300
"""The most characters of a line before the name that it defines, and after it to the beginning of the body."""
_MAX_PARAMETERS = 5_000
"""The most characters of a list of parameters."""
_MAX_BODY = 200_000
"""The most characters of a definition."""
_MAX_PARSED = 1 << 18
"""The most characters of Python that are parsed; longer code is read as other languages are."""
_MAX_LOOKS = 1_000
"""The most occurrences of a name to examine: a file from a stranger may have any number."""
_PYTHON = (".py", ".pyi")
_BY_END = (".rb", ".rake", ".ex", ".exs", ".lua", ".jl", ".cr")
_BY_INDENT = (*_PYTHON, ".nim", ".coffee")
_HASH_COMMENTS = (*_BY_END, *_BY_INDENT, ".sh", ".bash", ".pl", ".r", ".php")
_LONG_QUOTES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".php", ".dart", ".rb", ".vue", ".svelte")
_NO_HEAD = regex(
    r"[;{}()=.]|\b(?:return|new|else|await|throw|yield|case|delete|goto|in|if|while|for|switch|and|or|not)\b"
)
_RECEIVER = regex(r"\([^()]*?\b(\w+)(?:\[[^\]]*\])?\s*\)\s*\Z")
_OWNER = regex(r"(\w+)\s*(?:<[^<>]*>)?::\s*~?\Z")
_ANNOTATION = regex(r"\A\s*(?:@[\w.]+(?:\([^()]*\))?\s+)+")
_BODY = regex(r"[^;{}()=]*(?:\([^()]*\)[^;{}()=]*){0,8}\{")
_ASSIGNED = regex(r"\s*[=:]\s*(?:async\b\s*)?(?:function\b|\([^()]*\)[^=;{}\n]*=>|\w+\s*=>)")
_CONSTANT = regex(r"\b(?:const|let|var|static|val|final)\b")
_CONTAINER = rf"^[ \t]*(?:[\w()<>:, ]{{0,80}}\s)?(?:{EXTENSIONS})(?!\w)[^;{{}}\n]{{0,120}}?\b"
_GOES_ON = ("{", ")", "]")


def find_symbol(text: str, symbol: str, file: str) -> list[Lines]:
    """The lines on which `text`, the content of `file`, defines `symbol`, in order; several for overloads."""
    names = [name for name in _PARTS.split(symbol, _MAX_PARTS) if name]
    if not names or len(names) > _MAX_PARTS:
        return []
    if file.endswith(_PYTHON) and len(text) <= _MAX_PARSED:
        from memcli.code import python

        if (found := python.find(text, names)) is not None:
            return found
    return _Code(text, file).find(names)


class _Code:
    """Source code with its comments and strings blanked out, so that every brace is structure."""

    def __init__(self, text: str, file: str) -> None:
        self._raw = text
        # Blanks of the same length keep every offset and line break. An unclosed quote ends with its line, and a single quote
        # may be a lifetime (Rust) or an apostrophe (JSX).
        many = file.endswith((*_LONG_QUOTES, *_HASH_COMMENTS))
        single = r"'(?:\\.|[^'\\\n]){0,300}'" if many else r"'(?:\\[^\n']{1,10}|[^'\\\n])'"
        comment = r"#[^\n]*" if file.endswith(_HASH_COMMENTS) else r"//[^\n]*|/\*.*?(?:\*/|\Z)"
        pattern = re.compile(rf'{comment}|"(?:\\.|[^"\\\n])*"?|{single}|`(?:\\.|[^`\\])*`?', re.DOTALL)
        self._text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self._by_end = file.endswith(_BY_END)
        self._by_indent = file.endswith(_BY_INDENT)

    def find(self, names: list[str]) -> list[Lines]:
        """The lines of the definitions of the last of `names`, inside of those of the names before it."""
        *outer, name = names
        found = list(self._definitions(name, outer[-1] if outer else ""))
        if outer:
            inside = self.find(outer)
            # Members are also in blocks that do not define the name, such as `impl Token`.
            for match in re.finditer(rf"{_CONTAINER}{re.escape(outer[-1])}\b", self._text, re.MULTILINE):
                if (end := self._end(match.start(), match.end())) is not None:
                    inside.append(self._lines(match.start(), end))
            return sorted(
                {
                    (first, last)
                    for (first, last), owner, _ in found
                    if owner or any(a <= first and last <= b and (first, last) != (a, b) for a, b in inside)
                }
            )
        least = min((indent for _, _, indent in found), default=0)
        return sorted({lines for lines, _, indent in found if indent == least})

    def _definitions(self, name: str, owner: str) -> Iterator[tuple[Lines, bool, int]]:
        """The lines of each definition of `name`, whether it names `owner` itself (Go, C++), and its indentation."""
        text = self._text
        looks = 0
        for match in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
            nearest = max(0, match.start() - _MAX_HEAD)
            start = text.rfind("\n", nearest, match.start()) + 1
            if nearest and not start:  # on a line too long to be a definition
                continue
            looks += 1
            if looks > _MAX_LOOKS:
                return
            head = text[start : match.start()]
            keyword = DEFINITION.match(text, start)
            is_named = keyword is not None and name_of(keyword)[0] == name.rstrip("?!=")
            if not is_named and not self._is_callable(head, match.end()):
                continue
            end = self._end(start, match.end())
            if end is not None:
                holder = _RECEIVER.search(head) or _OWNER.search(head)
                yield self._lines(start, end), bool(holder and holder[1] == owner), len(head) - len(head.lstrip())

    def _lines(self, start: int, end: int) -> Lines:
        return self._text.count("\n", 0, start) + 1, self._text.count("\n", 0, end) + 1

    def _is_callable(self, head: str, after: int) -> bool:
        """Whether the name after `head` defines a function without a keyword: `int refresh(...) {`, `refresh = () => {`."""
        bare = _OWNER.sub("", _ANNOTATION.sub("", head))
        rest = self._text[after : after + _MAX_HEAD]
        if _NO_HEAD.search(bare):
            return False
        if re.match(r"\s*(?:<[^<>;{}]*>)?\s*\(", rest):
            depth, opening = 0, after + rest.index("(")
            for sign in re.compile(r"[()]").finditer(self._text, opening, opening + _MAX_PARAMETERS):
                depth += 1 if sign[0] == "(" else -1
                if not depth:
                    return bool(_BODY.match(self._text, sign.end(), sign.end() + _MAX_HEAD))
            return False
        return bool(_ASSIGNED.match(rest) or (_CONSTANT.search(head) and re.match(r"[^\n=;({]*=", rest)))

    def _end(self, start: int, after: int) -> int | None:
        """The offset of the last character of the definition that begins at `start`; None where it has no end."""
        if self._by_end or self._by_indent:
            return self._end_by_indent(start, after)
        depth = 0
        indent = _indent(self._text, start)
        for match in re.compile(r"[(){}\[\];\n]").finditer(self._text, after, after + _MAX_BODY):
            sign = match[0]
            if sign in "({[":
                depth += 1
            elif sign in ")}]":
                depth -= 1
                if depth < 0:
                    return match.start() - 1
                if sign == "}" and not depth and not re.compile(r"[ \t>]*\{").match(self._text, match.end()):
                    return match.start()
            elif not depth:
                start = match.end()
                line = self._text[start : self._text.find("\n", start) % (len(self._text) + 1)]
                goes_on = line.lstrip().startswith(_GOES_ON) or _indent(self._text, start) > indent
                if sign == ";" or not (goes_on and line.strip()):  # a declaration without a body
                    return match.start() - (sign == "\n")
        return None if depth else min(len(self._text), after + _MAX_BODY) - 1

    def _end_by_indent(self, start: int, after: int) -> int:
        """The offset of the last character of the lines indented more than the first, with the `end` below them."""
        text, indent = self._text, _indent(self._text, start)
        end = text.find("\n", after) % (len(text) + 1)
        place = end + 1
        while place < len(text):
            stop = text.find("\n", place) % (len(text) + 1)
            line = text[place:stop]
            if line.strip():
                if _indent(text, place) <= indent and not line.lstrip().startswith(_GOES_ON):
                    return stop - 1 if self._by_end and re.match(r"\s*end\b", line) else end - 1
                end = stop
            elif self._raw[place:stop].strip() and _indent(self._raw, place) > indent:
                end = stop  # a comment, or the last line of a long string, blanked out in `_text`
            place = stop + 1
        return max(end - 1, start)


def _indent(text: str, start: int) -> int:
    line = text[start : start + _MAX_HEAD]
    return len(line) - len(line.lstrip(" \t"))


_LEAD = ("//", "/*", " *", "*/", "#", "@", "--", ";;", "[", '"""')
_CLOSERS = ("}", ")", "]", "{", "end", "else", "where", "begin")


Definition = tuple[str, str, tuple[Lines, ...]]
"""The name and the text of a definition, and the first and last line of each of its parts, counted from 1. The rest of the file
(imports, constants) is the first one, without a name and lines."""


def cut(file: str, text: str) -> list[Definition]:
    """The definitions of the source code `text`, and the rest of it. Overloads of a name are one part."""
    lines = text.split("\n")
    spans = None
    if file.endswith(_PYTHON):
        from memcli.code import python

        if (known := python.functions_and_classes(text)) is not None:
            spans = [(name, _with_comment(lines, start - 1, ("#",)), end) for name, start, end in known]
    if spans is None:
        spans = list(_parts_by_look(lines))
    found: dict[str, list[tuple[int, int]]] = {}
    rest: list[str] = []
    at = 0
    for name, start, end in spans:
        rest += lines[at:start]
        found.setdefault(name, []).append((start, end))
        at = end
    rest += lines[at:]
    # Cutting leaves runs of empty lines.
    parts: list[Definition] = [("", re.sub(r"\n{3,}", "\n\n", "\n".join(rest)).strip("\n"), ())]
    for name, places in found.items():
        texts = ("\n".join(lines[start:end]).strip("\n") for start, end in places)
        parts.append((name, "\n\n".join(texts), tuple((start + 1, end) for start, end in places)))
    return parts


def _parts_by_look(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """The name, the index of the first line and that after the last, of each definition in a language whose top level is not
    indented: it ends at the next line without indentation that does not close it."""
    at = 0
    while at < len(lines):
        name = defined(lines[at]) if lines[at][:1] not in (" ", "\t") else ""
        if not name:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (not lines[end] or lines[end][0] in " \t" or lines[end].startswith(_CLOSERS)):
            end += 1
        yield name, _with_comment(lines, at, _LEAD), end
        at = end


def _with_comment(lines: list[str], start: int, marks: tuple[str, ...]) -> int:
    """The index of the first of the comments and decorators directly above a line."""
    while start > 0 and lines[start - 1].startswith(marks):
        start -= 1
    return start


MAX_SYMBOLS = 20
_MAX_NAME = 80
_MAX_CONTEXT = 400
REACH = 1 << 18
"""The most bytes of a diff that are read."""
_MARKDOWN = (".md", ".markdown", ".mdx")
_HEADING = regex(r"[ \t]{0,3}#{1,6}[ \t]+([^\n]{1,80})")
# Lines that belong to the definition below them: decorators, attributes, comments.
_AHEAD = regex(r"@\w|#\[|#(?!\w)|//|/\*|\*|--[ \t]|\"\"\"")
_CLOSING = ("}", "end")
_CONTINUATION = (")", "]", "{", "#if", "#el", "#en")


def touched(hunks: bytes, file: str) -> list[str]:
    """The names of definitions that a diff changes, in order; headings in a Markdown file. Blank lines are ignored."""
    names: dict[str, None] = {}
    is_text = file.lower().endswith(_MARKDOWN)
    for context, lines in _hunks(hunks[:REACH]):
        for name in _headings(context, lines) if is_text else _scopes(context, lines):
            names[name[:_MAX_NAME]] = None
    return list(names)[:MAX_SYMBOLS]


def _hunks(hunks: bytes) -> Iterator[tuple[str, list[str]]]:
    """The context in the header of each hunk, which is a line above it, and its lines."""
    context, lines = "", list[str]()
    for line in hunks.decode("utf-8", errors="replace").replace("\0", "").split("\n"):
        if line.startswith("@@") and (head := HUNK.match(line.encode())):
            yield context, lines
            context, lines = line[head.end() :][:_MAX_CONTEXT].strip(), []  # the head is ASCII: bytes are characters
        else:
            lines.append(line)
    yield context, lines


def _headings(context: str, lines: list[str]) -> Iterator[str]:
    heading = _HEADING.match(context)
    current = heading[1] if heading else context[:_MAX_NAME]
    for line in lines:
        if heading := _HEADING.match(line[1:]):
            current = heading[1]
        if line[:1] in ("+", "-") and line[1:].strip() and current:
            yield current


def _scopes(context: str, lines: list[str]) -> Iterator[str]:
    """The name of the innermost definition around each changed line of a hunk. `context` is the text in its header."""
    # Git names the last definition above a hunk, which a new function below it or a constant does not touch.
    # The indentation of `context` is unknown, because git strips it: it is around the definitions in the hunk until a line shows
    # otherwise.
    outer, is_holder = defined(context) or context[:_MAX_NAME], HOLDER.match(context) is not None
    inner: list[tuple[str, int]] = []  # the open definitions in the hunk with their indentation, innermost last
    body: int | None = None  # the least indentation outside of these
    ahead: int | None = None  # that of a changed comment or decorator, which belongs to the next definition
    for line in lines:
        sign, code = line[:1], line[1:]
        text = code.strip()
        if not text or sign == "\\":
            continue
        wide = code.expandtabs(8)
        indent = len(wide) - len(wide.lstrip())
        if _AHEAD.match(text):
            ahead = ahead if sign == " " else indent
            continue
        name = defined(code)
        if not text.startswith((*_CONTINUATION, *_CLOSING)):
            while inner and inner[-1][1] >= indent:
                inner.pop()
            if not inner:
                is_beside = bool(name) and not is_holder and (body is None or indent < body)
                outer = "" if indent == 0 or is_beside else outer
                body = indent if body is None else min(body, indent)
        if name:
            if sign != " " and is_holder and outer and not inner:
                yield outer  # the line adds or removes a member of it
            inner.append((name, indent))
        if (sign != " " or ahead is not None) and (name := inner[-1][0] if inner else outer):
            yield name
        ahead = None
        is_end = text.startswith(_CLOSING)
        if is_end and inner and inner[-1][1] == indent:
            inner.pop()
        elif is_end and not inner and indent == 0:
            outer = ""
    if ahead and (name := inner[-1][0] if inner else outer):
        yield name
