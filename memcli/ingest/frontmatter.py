"""Front matter: the lines between `---` at the head of a Markdown file, read as the little of YAML that notes use.

Scalars, quoted texts, and lists of them. Whatever else YAML can say is not guessed at: then the whole file is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_MAX_CHARACTERS = 65_536
_MAX_LINE = 2_000
_FRAME = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"([^\s#:\[\]{},'\"&*!|>%@`-][^:#\n]*?)[ \t]*:(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")
_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,"'\[\]{}#][^,"\[\]{}]*)\s*(?:,|\Z)""")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?:#.*)?\Z""")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_SPECIAL = "[]{}&*!|>%@`\"'"

Value = object
"""None, a bool, an int, a text, or a list of these."""


class _StrangeError(Exception):
    """What is more YAML than is read here."""


def split(text: str) -> tuple[dict[str, Value] | None, str]:
    """The fields of the front matter and the text below it: no fields and all of the text where there is none.

    None for the fields when they are not understood; then all of the text comes with it too.
    """
    match = _FRAME.match(text)
    if not match:
        return {}, text
    try:
        return _fields(match[1]), text[match.end() :].lstrip("\n")
    except _StrangeError:
        return None, text


def frame_lines(text: str) -> int:
    """How many lines at the head of `text` are front matter, whether they are understood or not."""
    match = _FRAME.match(text)
    return text.count("\n", 0, match.end()) if match else 0


def texts(value: Value) -> list[str]:
    """The texts in a list, or in one line with commas, or with spaces and `#` as tags may be written."""
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        return [part.strip().lstrip("#") for part in parts if part.strip("# ")]
    if isinstance(value, list):
        return [str(item).lstrip("#") for item in value if isinstance(item, (str, int)) and str(item).strip("# ")]
    return []


def _fields(text: str) -> dict[str, Value]:
    if len(text) > _MAX_CHARACTERS:
        raise _StrangeError
    found: dict[str, Value] = {}
    items: list[Value] | None = None
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(line) > _MAX_LINE:
            raise _StrangeError
        item = _ITEM.match(line)
        if item and items is not None:
            items.append(_scalar(item[1] or ""))
            continue
        pair = _PAIR.match(line)
        if not pair or pair[1] in found:
            raise _StrangeError
        value = _COMMENT.sub("", pair[2] or "").strip() if not (pair[2] or "").startswith(('"', "'", "[")) else pair[2]
        items = None if value else []
        found[pair[1]] = items if items is not None else _value(value)
    return {name: value if value != [] else None for name, value in found.items()}


def _value(text: str) -> Value:
    inner = re.fullmatch(r"\[(.*)\][ \t]*(?:#.*)?", text)
    if not inner:
        return _scalar(text)
    rest, found = inner[1].strip(), []
    while rest:
        part = _PART.match(rest)
        if not part:
            raise _StrangeError
        found.append(_scalar(part[1].strip()))
        rest = rest[part.end() :]
    return found


def _scalar(text: str) -> Value:
    quoted = _QUOTED.match(text)
    if quoted:
        return _unquoted(quoted[1])
    text = _COMMENT.sub("", text).strip()
    if (text[:1] in _SPECIAL and text) or text.startswith(("- ", "? ")) or ": " in text or text.endswith(":"):
        raise _StrangeError
    if _INTEGER.match(text):
        return int(text)
    return _WORDS.get(text.lower(), text)


def _unquoted(text: str) -> str:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    try:
        value = json.loads(text)
        value.encode()
    except (ValueError, AttributeError):
        raise _StrangeError from None
    return str(value)
