"""Splices of a text that can be undone to the character; and an editor of JSON with comments and trailing commas that leaves
the rest of the text as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import NamedTuple, Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Splice(NamedTuple):
    """A change of a text: `text` replaces the characters from `start` to `end`, `end` exclusive."""

    start: int
    end: int
    text: str

    def apply(self, whole: str) -> str:
        return whole[: self.start] + self.text + whole[self.end :]

    def undo(self, whole: str) -> Splice:
        """The splice that undoes this one after it was applied to `whole`."""
        return Splice(self.start, self.start + len(self.text), whole[self.start : self.end])


def apply_all(whole: str, splices: Sequence[Splice]) -> str:
    """`whole` after the splices, each applied to the result of the one before."""
    for splice in splices:
        whole = splice.apply(whole)
    return whole


def newline_of(text: str) -> str:
    """The line ending to use in a text."""
    return "\r\n" if "\r\n" in text else "\n"


def at_end(text: str, made: str) -> Splice:
    """The splice that appends a paragraph to a text, below a blank line."""
    nl = newline_of(text)
    first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
    return Splice(len(text), len(text), first + made)


_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\r\n]*)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
# Parsing takes a frame for each level, and must stay far below Python's limit of 1000.
_MAX_DEPTH = 200


class JsonNode(Record):
    """A value and its start and end in the text. `members` are those of an object or a list; empty for other values. A member
    of an object has a `key`, which starts at `begin`; for all other nodes `key` is empty and `begin` is `start`."""

    start: int
    end: int
    value: Json
    begin: int
    key: str = ""
    members: tuple[JsonNode, ...] = ()

    def find(self, key: str) -> JsonNode | None:
        """The member with this key; None if there is none."""
        # Of duplicate keys parsers take the last one.
        return next((member for member in reversed(self.members) if member.key == key), None)


def parse(text: str) -> JsonNode | None:
    """The root node of `text`; None for an empty text. Raises UsageError naming the line and column."""
    start = _space(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    if (end := _space(text, node.end)) != len(text):
        raise _wrong(text, end)
    return node


def put(text: str, path: Sequence[str], value: Json) -> Splice | None:
    """The splice that sets the value at `path`; None if it is set. Raises UsageError where a node on the path is no object."""
    node = parse(text)
    if node is None:
        nl = newline_of(text)
        first = nl if text.strip("\ufeff") and not text.endswith("\n") else ""
        return Splice(len(text), len(text), f"{first}{_pretty(_nested(path, value), '', '  ', nl)}{nl}")
    for depth, key in enumerate(path):
        if node.value is None:
            return replaced(text, node, _nested(path[depth:], value))
        if not isinstance(node.value, dict):
            raise UsageError(f"{'.'.join(path[:depth]) or 'the file'} is not a JSON object")
        member = node.find(key)
        if member is None:
            return _inserted(text, node, key, _nested(path[depth + 1 :], value))
        node = member
    return None if node.value == value else replaced(text, node, value)


def append(text: str, path: Sequence[str], value: Json) -> Splice | None:
    """The splice that appends the value to the list at `path`, which is created if missing. Raises UsageError."""
    found = find(text, path)
    if found is None or found.value is None:
        return put(text, path, [value])
    if not isinstance(found.value, list):
        raise UsageError(f"{'.'.join(path)} is not a list")
    return _inserted(text, found, None, value)


def find(text: str, path: Sequence[str]) -> JsonNode | None:
    """The node at `path`; None if there is none. Raises UsageError for a text that is not JSON."""
    node = parse(text)
    for key in path:
        node = node.find(key) if node is not None and isinstance(node.value, dict) else None
    return node


def remove(text: str, path: Sequence[str]) -> Splice | None:
    """The splice that removes the member at `path`; None if there is none."""
    holder = find(text, path[:-1])
    if holder is None:
        return None
    places = [n for n, member in enumerate(holder.members) if member.key == path[-1]]
    return removed(text, holder, places[-1]) if places else None


def removed(text: str, holder: JsonNode, index: int) -> Splice:
    """The splice that removes the member at `index` of an object or list, with one comma."""
    member = holder.members[index]
    # With the line ending before it, if nothing else is on the line of the member.
    start = member.begin
    blank = len(text[:start].rstrip(" \t"))
    if blank and text[blank - 1] == "\n":
        start = blank - (2 if text[:blank].endswith("\r\n") else 1)
    after = _space(text, member.end)
    if text[after] == ",":
        return Splice(start, after + 1, "")
    if index:  # the last one: the comma before it goes too
        comma = _space(text, holder.members[index - 1].end)
        return Splice(comma, member.end, text[comma + 1 : start].rstrip())
    return Splice(start, member.end, "")


def is_bare(text: str) -> bool:
    """Whether the text is blank or an empty object, without comments."""
    return re.fullmatch(r"\s*(?:\{\s*\})?\s*", text.lstrip("\ufeff")) is not None


def _inserted(text: str, holder: JsonNode, key: str | None, value: Json) -> Splice:
    """The splice that appends a member to an object, or to a list for `key` None, in the style of the members before it."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    close = holder.end - 1
    last = holder.members[-1].end if holder.members else holder.start + 1
    is_multiline = "\n" in text[holder.start : holder.end] or not holder.members
    if not is_multiline:
        return Splice(last, last, f", {name}{json.dumps(value, ensure_ascii=False)}")
    nl, unit = newline_of(text), _unit(text)
    # The indentation of the members before, or else one step from the line of the holder.
    befores = (text[text.rfind("\n", 0, member.begin) + 1 : member.begin] for member in holder.members)
    indent = next((one for one in befores if not one.strip(" \t")), _indent_at(text, holder.start) + unit)
    comma = _space(text, last)
    has_comma = bool(holder.members) and text[comma] == ","
    at = comma + 1 if has_comma else last
    if not holder.members:
        at = last + len(text[last:close].rstrip())  # behind the comments
    # A comment behind the last member stays on its line: the new member goes below it, and the comma before it.
    rest_end = _REST_OF_LINE.match(text, at).end()  # type: ignore[union-attr]
    rest = text[at:rest_end].rstrip(" \t") if rest_end <= close and text[rest_end : rest_end + 1] in "\r\n" else ""
    made = f"{nl}{indent}{name}{_pretty(value, indent, unit, nl)}"
    tail = "" if "\n" in text[at:close] else nl + _indent_at(text, holder.start)
    if rest:
        return Splice(at, at + len(rest), f"{'' if has_comma or not holder.members else ','}{rest}{made}{tail}")
    return Splice(at, at, f"{'' if has_comma or not holder.members else ','}{made}{tail}")


def replaced(text: str, node: JsonNode, value: Json) -> Splice:
    """The splice that replaces the value of a node."""
    made = _pretty(value, _indent_at(text, node.start), _unit(text), newline_of(text))
    return Splice(node.start, node.end, made)


def _nested(path: Sequence[str], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def _pretty(value: Json, indent: str, unit: str, nl: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{nl}{indent}".join(lines)


def _unit(text: str) -> str:
    """One step of indentation."""
    found = re.search(r"\n([ \t]+)\S", text)
    return "  " if found is None else "\t" if found[1][0] == "\t" else found[1] if len(found[1]) <= 8 else "  "


def _indent_at(text: str, place: int) -> str:
    """The indentation of the line that contains the offset `place`."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> JsonNode:
    """The node of the value that starts at `at`, below `depth` others. Raises UsageError."""
    first = text[at : at + 1]
    if depth > _MAX_DEPTH:
        raise UsageError("nested too deeply")
    if first in ("{", "["):
        is_object = text[at] == "{"
        close = "}" if is_object else "]"
        members: list[JsonNode] = []
        at_next = _space(text, at + 1)
        while text[at_next : at_next + 1] != close:
            begin, key = at_next, ""
            if is_object:
                if text[begin : begin + 1] != '"':
                    raise _wrong(text, begin)
                name = _value(text, begin, depth + 1)
                colon = _space(text, name.end)
                if text[colon : colon + 1] != ":":
                    raise _wrong(text, colon)
                key, at_next = name.value, _space(text, colon + 1)
            member = replace(_value(text, at_next, depth + 1), begin=begin, key=key)
            members.append(member)
            at_next = _space(text, member.end)
            if text[at_next : at_next + 1] == ",":
                at_next = _space(text, at_next + 1)
            elif text[at_next : at_next + 1] != close:
                raise _wrong(text, at_next)
        value: Any = {m.key: m.value for m in members} if is_object else [m.value for m in members]
        return JsonNode(at, at_next + 1, value, at, members=tuple(members))
    match = (_STRING if first == '"' else _ATOM).match(text, at)
    if match is None:
        raise _wrong(text, at)
    try:
        return JsonNode(at, match.end(), json.loads(match[0]), at)
    except ValueError:
        raise _wrong(text, at) from None


def _wrong(text: str, at: int) -> UsageError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return UsageError(f"line {line}, column {column}: not valid JSON")
