"""Symbols: where source code defines what has a name, such as `refresh` or `Token.refresh`.

Python is parsed. Other languages are read by their braces, or by `end`, which is cheap and right nearly always.

Definitions: the lines of source code, in any common language, that give something a name.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

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
"""What defines no name of its own, but holds some of what belongs to the one that it names."""
_NAME = r"[A-Za-z_$][\w$]*"
_FUNCTION_VALUE = r"(?:async\s*)?(?:function\b|(?:\([^)\n]{0,120}\)|\w+)\s*(?::[^=\n]{1,60})?=>)"


def _line(words: str) -> str:
    """The pattern of a line that names something with one of `words`, or assigns a function to a name."""
    return (
        rf"[ \t]*{_MODIFIERS}(?:(?P<word>{words})[ \t]+(?:\([^)\n]{{0,80}}\)[ \t]*)?(?:self\.)?(?P<name>{_NAME})"
        rf"|(?:const|let|var)[ \t]+(?P<arrow>{_NAME})\s*(?::[^=\n]{{1,80}})?=\s*{_FUNCTION_VALUE})"
    )


DEFINITION = re.compile(
    rf"^{_line(f'{_FUNCTIONS}|{_TYPES}')}"
    r"|^[ \t]*(?i:create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?P<object>table|view|function|index|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?)(?P<made>[\w.\"]+)"
    r"|^(?P<target>[a-z][\w-]{0,40}):(?!=)[^\n=]*\n\t",
    re.MULTILINE,
)
_OF_CODE = re.compile(_line(f"{_FUNCTIONS}|{_TYPES}|{EXTENSIONS}"))
_HOLDER = re.compile(rf"[ \t]*{_MODIFIERS}(?:{_TYPES}|{EXTENSIONS})(?!\w)")
_CALLABLE = re.compile(_FUNCTIONS)
_FOR = re.compile(rf"\bfor[ \t]+({_NAME})")


def name_of(match: re.Match[str]) -> tuple[str, str]:
    """What a match of DEFINITION names: bare, such as `refresh`, and as it is shown, such as `refresh()`."""
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
    """The name that a line of code gives to what stands below it, such as `Token` for `impl Display for Token {`; empty
    when it gives none."""
    match = _OF_CODE.match(line)
    if match is None:
        return ""
    target = _FOR.search(line, match.end()) if (match["word"] or "").startswith("impl") else None
    return target[1] if target else match["name"] or match["arrow"]


def is_holder(line: str) -> bool:
    """Whether a line of code begins what has members, such as a class."""
    return _HOLDER.match(line) is not None


Lines = tuple[int, int]
"""The first and the last line of something, counted from 1."""

_PARTS = re.compile(r"::|[.#]")
_MAX_PARTS = 20
_MAX_HEAD = 300
_MAX_PARAMETERS = 5_000
_MAX_BODY = 200_000
_MAX_PARSED = 1 << 18
_MAX_LOOKS = 1_000
"""How many places are looked at closely: whoever wrote the file may want to keep us busy."""
_PYTHON = (".py", ".pyi")
_BY_END = (".rb", ".rake", ".ex", ".exs", ".lua", ".jl", ".cr")
_BY_INDENT = (*_PYTHON, ".nim", ".coffee")
_HASH_COMMENTS = (*_BY_END, *_BY_INDENT, ".sh", ".bash", ".pl", ".r", ".php")
_LONG_QUOTES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".php", ".dart", ".rb", ".vue", ".svelte")
_NO_HEAD = re.compile(
    r"[;{}()=.]|\b(?:return|new|else|await|throw|yield|case|delete|goto|in|if|while|for|switch|and|or|not)\b"
)
_RECEIVER = re.compile(r"\([^()]*?\b(\w+)(?:\[[^\]]*\])?\s*\)\s*\Z")
_OWNER = re.compile(r"(\w+)\s*(?:<[^<>]*>)?::\s*~?\Z")
_ANNOTATION = re.compile(r"\A\s*(?:@[\w.]+(?:\([^()]*\))?\s+)+")
_BODY = re.compile(r"[^;{}()=]*(?:\([^()]*\)[^;{}()=]*){0,8}\{")
_ASSIGNED = re.compile(r"\s*[=:]\s*(?:async\b\s*)?(?:function\b|\([^()]*\)[^=;{}\n]*=>|\w+\s*=>)")
_CONSTANT = re.compile(r"\b(?:const|let|var|static|val|final)\b")
_CONTAINER = rf"^[ \t]*(?:[\w()<>:, ]{{0,80}}\s)?(?:{EXTENSIONS})(?!\w)[^;{{}}\n]{{0,120}}?\b"
_GOES_ON = ("{", ")", "]")


def find_symbol(text: str, symbol: str, file: str) -> list[Lines]:
    """Where `text`, the content of `file`, defines `symbol`, in order: more than once when it is overloaded."""
    names = [name for name in _PARTS.split(symbol, _MAX_PARTS) if name]
    if not names or len(names) > _MAX_PARTS:
        return []
    if file.endswith(_PYTHON) and len(text) <= _MAX_PARSED and (tree := parse_python(text)) is not None:
        with suppress(RecursionError):
            return _in_python(tree, names)
    return _Code(text, file).find(names)


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of `text`; None when it is not Python of this version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the code of others
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _in_python(tree: ast.Module, names: list[str]) -> list[Lines]:
    nodes: list[ast.AST] = [tree]
    for depth, name in enumerate(names):
        found = [child for node in nodes for child in _statements(node) if _defines(child, name)]
        if not found and depth == 0:  # a method that is named without its class
            found = [node for node in ast.walk(tree) if _defines(node, name)]
        nodes = found
    return sorted({_extent(node) for node in nodes})


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in the body of `node`, also below `if` and `try`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
            if isinstance(child, ast.If | ast.Try | ast.With):
                yield from _statements(child)
        elif isinstance(child, ast.ExceptHandler):
            yield from _statements(child)


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _extent(node: ast.AST) -> Lines:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return first, node.end_lineno or first  # type: ignore[attr-defined]


class _Code:
    """Source code with its comments and strings blanked out, so that every brace in it counts."""

    def __init__(self, text: str, file: str) -> None:
        self._raw = text
        self._text = _blank(text, file)
        self._by_end = file.endswith(_BY_END)
        self._by_indent = file.endswith(_BY_INDENT)

    def find(self, names: list[str]) -> list[Lines]:
        """As `find_symbol`."""
        *outer, name = names
        found = list(self._definitions(name, outer[-1] if outer else ""))
        if outer:
            inside = self.find(outer) + self._containers(outer[-1])
            return sorted({lines for lines, owner, _ in found if owner or _is_inside(lines, inside)})
        least = min((indent for _, _, indent in found), default=0)
        return sorted({lines for lines, _, indent in found if indent == least})

    def _definitions(self, name: str, owner: str) -> Iterator[tuple[Lines, bool, int]]:
        """Where `name` is defined, whether as of `owner` by its own words (Go, C++), and how far it is indented."""
        text = self._text
        for match, start in islice(_occurrences(text, name), _MAX_LOOKS):
            head = text[start : match.start()]
            if not _is_named(text, start, name) and not self._is_callable(head, match.end()):
                continue
            end = self._end(start, match.end())
            if end is not None:
                told = _RECEIVER.search(head) or _OWNER.search(head)
                lines = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
                yield lines, bool(told and told[1] == owner), len(head) - len(head.lstrip())

    def _containers(self, name: str) -> list[Lines]:
        """What is no definition of `name` itself and holds some of what belongs to it: `impl Token`, `namespace auth`."""
        text, found = self._text, []
        for match in re.finditer(rf"{_CONTAINER}{re.escape(name)}\b", text, re.MULTILINE):
            end = self._end(match.start(), match.end())
            if end is not None:
                found.append((text.count("\n", 0, match.start()) + 1, text.count("\n", 0, end) + 1))
        return found

    def _is_callable(self, head: str, after: int) -> bool:
        """Whether a name behind `head` is that of a function without a keyword: `int refresh(...) {`, `refresh = () => {`."""
        bare = _OWNER.sub("", _ANNOTATION.sub("", head))
        rest = self._text[after : after + _MAX_HEAD]
        if _NO_HEAD.search(bare):
            return False
        if re.match(r"\s*(?:<[^<>;{}]*>)?\s*\(", rest):
            closed = self._closing(after + rest.index("("))
            return closed is not None and bool(_BODY.match(self._text, closed, closed + _MAX_HEAD))
        return bool(_ASSIGNED.match(rest) or (_CONSTANT.search(head) and re.match(r"[^\n=;({]*=", rest)))

    def _closing(self, opening: int) -> int | None:
        """Just behind the parenthesis that closes the one at `opening`."""
        depth = 0
        for match in re.compile(r"[()]").finditer(self._text, opening, opening + _MAX_PARAMETERS):
            depth += 1 if match[0] == "(" else -1
            if not depth:
                return match.end()
        return None

    def _end(self, start: int, after: int) -> int | None:
        """Where the definition that begins at `start` ends: at its last character."""
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
            elif not depth and (sign == ";" or not self._goes_on(match.end(), indent)):
                return match.start() - (sign == "\n")
        return None if depth else min(len(self._text), after + _MAX_BODY) - 1

    def _goes_on(self, start: int, indent: int) -> bool:
        """Whether the line at `start` still belongs to a definition that is indented by `indent` and has no body yet."""
        line = self._text[start : self._text.find("\n", start) % (len(self._text) + 1)]
        return bool(line.strip()) and (line.lstrip().startswith(_GOES_ON) or _indent(self._text, start) > indent)

    def _end_by_indent(self, start: int, after: int) -> int:
        """The last line that is indented more than the first, and the `end` below it."""
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
                end = stop  # a comment, or the end of a long text
            place = stop + 1
        return max(end - 1, start)


def _occurrences(text: str, name: str) -> Iterator[tuple[re.Match[str], int]]:
    """Where `name` stands near the beginning of a line that could define it, and where that line begins."""
    for match in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
        nearest = max(0, match.start() - _MAX_HEAD)
        start = text.rfind("\n", nearest, match.start()) + 1
        if start or not nearest:
            yield match, start


def _is_named(text: str, start: int, name: str) -> bool:
    """Whether the line at `start` defines `name` with a keyword."""
    match = DEFINITION.match(text, start)
    return match is not None and name_of(match)[0] == name.rstrip("?!=")


def _is_inside(lines: Lines, places: list[Lines]) -> bool:
    return any(first <= lines[0] and lines[1] <= last and lines != (first, last) for first, last in places)


def _indent(text: str, start: int) -> int:
    line = text[start : start + _MAX_HEAD]
    return len(line) - len(line.lstrip(" \t"))


def _blank(text: str, file: str) -> str:
    """`text` with spaces for comments and strings; line breaks and lengths stay."""
    # A quote that nothing closes ends with its line, and one of a lifetime (Rust) or of prose (JSX) is none.
    many = file.endswith((*_LONG_QUOTES, *_HASH_COMMENTS))
    single = r"'(?:\\.|[^'\\\n]){0,300}'" if many else r"'(?:\\[^\n']{1,10}|[^'\\\n])'"
    comment = r"#[^\n]*" if file.endswith(_HASH_COMMENTS) else r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    pattern = re.compile(rf'{comment}|"(?:\\.|[^"\\\n])*"?|{single}|`(?:\\.|[^`\\])*`?', re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
