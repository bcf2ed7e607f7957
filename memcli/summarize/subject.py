"""What is to be described: the caller's fields, read once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

HEAD_CHARACTERS = 65_536
"""Summaries, tags and kind come from the head of a text: what matters is said there, and time stays bounded."""

DESCRIBED = ("kind", "path", "tags", "summary_micro", "summary_short", "summary_long", "relevance")
"""The fields that every memory has and a summarizer can fill; `chunks` come on top when the text is long."""

_MAX_DEPTH = 12
_CONTROLS = dict.fromkeys((*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)), " ")
_IS_FILE = re.compile(r"[^\s:*?\"<>|]*(?:/|\.)[^\s:*?\"<>|]*\Z")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_MAX_SOURCE = 400


class Subject(NamedTuple):
    """The text and what is known of where it comes from; empty strings for what is not known."""

    text: str
    """The head of the text, without control characters."""
    raw: str
    """All of the text, as given."""
    source: str
    """The file it comes from, relative."""
    hint: str
    """The path that the caller asked for or hinted at."""
    project: str
    is_rendered: bool
    """Whether the text was made of `content`, one line for each value."""

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> Subject:
        raw = _string(fields, "raw")
        text = raw if raw.strip() else _rendering(fields)
        head = text[:HEAD_CHARACTERS]
        metadata = fields.get("metadata")
        source = _string(metadata, "source") if isinstance(metadata, Mapping) else ""
        return cls(
            text=head if head.isprintable() else head.translate(_CONTROLS).strip(),
            raw=text,
            source=_file_name(source) if source else "",
            hint=_string(fields, "path") or _string(fields, "path_hint"),
            project=_string(fields, "project"),
            is_rendered=not raw.strip() and fields.get("content") is not None,
        )


def _string(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _rendering(fields: Mapping[str, object]) -> str:
    """A text for fields that have none: the content as `key: value` lines, or the longest summary."""
    if fields.get("content") is not None:
        lines: list[str] = []
        length = 0
        for line in _lines(fields["content"], "", _MAX_DEPTH):
            lines.append(line)
            length += len(line)
            if length > HEAD_CHARACTERS:
                break
        return "\n".join(lines)
    names = ("summary_long", "summary_short", "summary_micro")
    return next((text for name in names if (text := _string(fields, name))), "")


def _lines(value: object, key: str, depth: int) -> Iterator[str]:
    """The scalars of a JSON value, one `key: value` line each; a list of scalars is one line."""
    if depth == 0 or value is None:
        return
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _lines(child, f"{key}.{name}" if key else str(name), depth - 1)
    elif isinstance(value, (list, tuple)):
        yield from _list_lines(value, key, depth)
    else:
        text = " ".join(_scalar(value).split())
        if text:
            yield f"{key}: {text}" if key else text


def _list_lines(values: list[object] | tuple[object, ...], key: str, depth: int) -> Iterator[str]:
    scalars = [_scalar(v) for v in values if not isinstance(v, (Mapping, list, tuple)) and v is not None]
    if scalars:
        text = " ".join(", ".join(scalars).split())
        yield f"{key}: {text}" if key else text
    for child in values:
        if isinstance(child, (Mapping, list, tuple)):
            yield from _lines(child, key, depth - 1)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _file_name(source: str) -> str:
    """`source` when it names a file, or empty. An absolute name is cut to its last part: it is this machine's own."""
    if len(source) > _MAX_SOURCE or "://" in source:
        return ""
    name = source.replace("\\", "/")
    if _DRIVE.match(source) or name.startswith(("/", "~")):
        name = name.rpartition("/")[2]
    name = name.removeprefix("./")
    return name if _IS_FILE.match(name) and not name.endswith(("/", ".")) else ""


def missing(fields: Mapping[str, object]) -> list[str]:
    """The fields to describe that the caller left out. An empty list of tags was given; an empty text was not."""
    return [name for name in DESCRIBED if fields.get(name) in (None, "")]
