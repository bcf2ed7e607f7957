"""Small changes of a text that can be taken back to the character; and JSON as people write it, with comments and
trailing commas, changed without touching the rest of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import NamedTuple, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Splice(NamedTuple):
    """What replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str

    def apply(self, whole: str) -> str:
        return whole[: self.start] + self.text + whole[self.end :]

    def undo(self, whole: str) -> Splice:
        """What takes this change of `whole` back again."""
        return Splice(self.start, self.start + len(self.text), whole[self.start : self.end])


def apply_all(whole: str, splices: Sequence[Splice]) -> str:
    """`whole` with one change after the other."""
    for splice in splices:
        whole = splice.apply(whole)
    return whole


def newline_of(text: str) -> str:
    """The line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def at_end(text: str, made: str) -> Splice:
    """What adds a paragraph at the end of a text, below a blank line."""
    nl = newline_of(text)
    first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
    return Splice(len(text), len(text), first + made)


_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\r\n]*)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_MAX_DEPTH = 200


class JsonNode(Record):
    """A value and where it stands. `members` are those of an object, with the place of each key, or of a list."""

    start: int
    end: int
    value: Json
    members: tuple[Member, ...] = ()

    def find(self, key: str) -> Member | None:
        """The member of a name; the last one counts, as for parsers."""
        return next((member for member in reversed(self.members) if member.key == key), None)


class Member(Record):
    """A member of an object or list, from its key, or its value, on."""

    key: str
    start: int
    node: JsonNode


def parse(text: str) -> JsonNode | None:
    """The value that `text` holds; None for an empty text. Raises UsageError naming the line."""
    start = _space(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    if (end := _space(text, node.end)) != len(text):
        raise _wrong(text, end)
    return node


def put(text: str, path: Sequence[str], value: Json) -> Splice | None:
    """What sets the value at `path`; None if it is set. Raises UsageError for a text that is no object on the way."""
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
        node = member.node
    return None if node.value == value else replaced(text, node, value)


def append(text: str, path: Sequence[str], value: Json) -> Splice | None:
    """What appends the value to the list at `path`, which is made if it is not there. Raises UsageError."""
    found = find(text, path)
    if found is None or found.value is None:
        return put(text, path, [value])
    if not isinstance(found.value, list):
        raise UsageError(f"{'.'.join(path)} is not a list")
    return _inserted(text, found, None, value)


def find(text: str, path: Sequence[str]) -> JsonNode | None:
    """The node at `path`, where there is one. Raises UsageError."""
    node = parse(text)
    for key in path:
        member = node.find(key) if node is not None and isinstance(node.value, dict) else None
        if member is None:
            return None
        node = member.node
    return node


def remove(text: str, path: Sequence[str]) -> Splice | None:
    """What removes the member at `path`; None where there is none."""
    holder = find(text, path[:-1])
    if holder is None:
        return None
    places = [n for n, member in enumerate(holder.members) if member.key == path[-1]]
    return removed(text, holder, places[-1]) if places else None


def removed(text: str, holder: JsonNode, index: int) -> Splice:
    """What removes a member of an object or list, with one comma."""
    member = holder.members[index]
    after = _space(text, member.node.end)
    if text[after] == ",":
        return Splice(_begin(text, member.start), after + 1, "")
    if index:  # the last one: the comma before it goes too
        comma = _space(text, holder.members[index - 1].node.end)
        return Splice(comma, member.node.end, text[comma + 1 : _begin(text, member.start)].rstrip())
    return Splice(_begin(text, member.start), member.node.end, "")


def is_bare(text: str) -> bool:
    """Whether nothing but an empty object is in the text, not even a comment."""
    return re.fullmatch(r"\s*(?:\{\s*\})?\s*", text.lstrip("\ufeff")) is not None


def _begin(text: str, start: int) -> int:
    """Where the blanks before `start` begin, with the line end before them."""
    blank = len(text[:start].rstrip(" \t"))
    if blank and text[blank - 1] == "\n":
        return blank - (2 if text[:blank].endswith("\r\n") else 1)
    return start


def _inserted(text: str, holder: JsonNode, key: str | None, value: Json) -> Splice:
    """What adds a member at the end of an object or list."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    close = holder.end - 1
    last = holder.members[-1].node.end if holder.members else holder.start + 1
    is_multiline = "\n" in text[holder.start : holder.end] or not holder.members
    if not is_multiline:
        return Splice(last, last, f", {name}{json.dumps(value, ensure_ascii=False)}")
    nl, unit = newline_of(text), _unit(text)
    indent = _indent_of(text, holder, unit)
    comma = _space(text, last)
    has_comma = bool(holder.members) and text[comma] == ","
    at = comma + 1 if has_comma else last
    if not holder.members:
        at = last + len(text[last:close].rstrip())  # behind the comments
    rest_end = _REST_OF_LINE.match(text, at).end()  # type: ignore[union-attr]
    rest = text[at:rest_end].rstrip(" \t") if rest_end <= close and text[rest_end : rest_end + 1] in "\r\n" else ""
    made = f"{nl}{indent}{name}{_pretty(value, indent, unit, nl)}"
    tail = "" if "\n" in text[at:close] else nl + _indent_at(text, holder.start)
    if rest:
        return Splice(at, at + len(rest), f"{'' if has_comma or not holder.members else ','}{rest}{made}{tail}")
    return Splice(at, at, f"{'' if has_comma or not holder.members else ','}{made}{tail}")


def replaced(text: str, node: JsonNode, value: Json) -> Splice:
    """What puts another value in the place of one."""
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


def _indent_of(text: str, holder: JsonNode, unit: str) -> str:
    """The indentation of the members of an object or list."""
    for member in holder.members:
        line = text[text.rfind("\n", 0, member.start) + 1 : member.start]
        if not line.strip(" \t"):
            return line
    return _indent_at(text, holder.start) + unit


def _indent_at(text: str, place: int) -> str:
    """The indentation of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> JsonNode:
    first = text[at : at + 1]
    if depth > _MAX_DEPTH:
        raise UsageError("nested too deeply")
    if first in ("{", "["):
        is_object = text[at] == "{"
        close = "}" if is_object else "]"
        members: list[Member] = []
        at_next = _space(text, at + 1)
        while text[at_next : at_next + 1] != close:
            member = _member(text, at_next, depth, is_object)
            members.append(member)
            at_next = _space(text, member.node.end)
            if text[at_next : at_next + 1] == ",":
                at_next = _space(text, at_next + 1)
            elif text[at_next : at_next + 1] != close:
                raise _wrong(text, at_next)
        value: Any = {m.key: m.node.value for m in members} if is_object else [m.node.value for m in members]
        return JsonNode(at, at_next + 1, value, tuple(members))
    match = (_STRING if first == '"' else _ATOM).match(text, at)
    if match is None:
        raise _wrong(text, at)
    try:
        return JsonNode(at, match.end(), json.loads(match[0]))
    except ValueError:
        raise _wrong(text, at) from None


def _member(text: str, at: int, depth: int, is_object: bool) -> Member:
    if not is_object:
        return Member("", at, _value(text, at, depth + 1))
    if text[at : at + 1] != '"':
        raise _wrong(text, at)
    key = _value(text, at, depth + 1)
    colon = _space(text, key.end)
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon)
    return Member(key.value, at, _value(text, _space(text, colon + 1), depth + 1))


def _wrong(text: str, at: int) -> UsageError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return UsageError(f"line {line}, column {column}: not valid JSON")
