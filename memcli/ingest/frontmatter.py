"""Front matter: the YAML between `---` at the head of a Markdown file, as JSON values.

Values are read by YAML's events rather than by `safe_load`, which makes dates of `2024-01-02`, `7` of `007` and True
of `yes`; and the first alias, tag or repeated key ends the reading before anything is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_MAX_CHARACTERS = 65_536
_MAX_DEPTH = 8
_FRAME = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TAB = re.compile(r"(?<=\S)[ \t]*\t[ \t]*")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}

Value = object
"""None, a bool, an int, a text, a list of values, or a dict of them."""


class _UnsupportedError(Exception):
    """YAML that has no plain JSON value, or too much of it."""


def split(text: str) -> tuple[dict[str, Value] | None, str]:
    """The fields of the front matter and the text below it: no fields and all of the text where there is none.

    None for the fields when they are not understood; then all of the text comes with it too.
    """
    match = _FRAME.match(text)
    if not match:
        return {}, text
    fields = _fields(match[1])
    return (None, text) if fields is None else (fields, text[match.end() :].lstrip("\n"))


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


def _fields(text: str) -> dict[str, Value] | None:
    """The mapping in `text`, or None where it is no mapping, no YAML, or more than is read."""
    import yaml

    if len(text) > _MAX_CHARACTERS:
        return None
    # The parser in C where PyYAML was built with it: 20 times faster.
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
    except (yaml.YAMLError, ValueError, _UnsupportedError):
        return None
    return value if isinstance(value, dict) else None


def _value(events: Iterator[Any], event: Any, depth: int) -> Value:
    """The value that begins with `event`."""
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag or depth > _MAX_DEPTH:
        raise _UnsupportedError
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event.value, is_plain=event.style is None or event.style == "")
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(events, event, depth + 1))
        return items or None
    found: dict[str, Value] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
            raise _UnsupportedError
        name = event.value
        if name in found or name == "<<":
            raise _UnsupportedError
        found[name] = _value(events, next(events), depth + 1)
        _check_text(name)
    return found


def _scalar(text: str, *, is_plain: bool) -> Value:
    _check_text(text)
    if not is_plain:
        return text
    if _INTEGER.match(text):
        return int(text)
    return _WORDS.get(text.lower(), text)


def _check_text(text: str) -> None:
    """Raises ValueError for half of a surrogate pair, which no file can hold."""
    text.encode()
