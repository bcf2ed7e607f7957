"""TOML, changed by whole tables only: a table of ours at the end of the file, and the rest as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.agents.splice import Splice, newline_of
from memcli.errors import UsageError

Values = Mapping[str, str | Sequence[str]]


def parse(text: str) -> dict[str, Any]:
    """The tables of the text. Raises UsageError."""
    try:
        return tomllib.loads(text.lstrip("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"not valid TOML: {error}") from None


def table_at(text: str, path: Sequence[str]) -> Any:
    """The value at `path`; None where there is none. Raises UsageError."""
    found: Any = parse(text)
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def put_table(text: str, path: Sequence[str], values: Values) -> Splice | None:
    """What makes the table at `path` hold `values`; None if it does. Raises UsageError where a table cannot be added."""
    before = table_at(text, path)
    if before == _plain(values):
        return None
    nl = newline_of(text)
    span = _span(text, path)
    if before is not None and span is None:
        raise UsageError(f"{'.'.join(path)} is not a table of its own")
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    if span is not None:
        splice = Splice(*span, nl.join([*lines, ""]))
    else:
        first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
        splice = Splice(len(text), len(text), first + nl.join([*lines, ""]))
    try:
        is_set = table_at(splice.apply(text), path) == _plain(values)
    except UsageError:
        is_set = False
    if not is_set:
        raise UsageError(f"cannot add the table {'.'.join(path)}: {path[0]} is not written as tables")
    return splice


def remove_table(text: str, path: Sequence[str]) -> Splice | None:
    """What removes the table at `path`, with the blank line before it; None where there is none."""
    span = _span(text, path)
    if span is None:
        return None
    start, end = span
    before = text[:start]
    if before.endswith(("\n\n", "\r\n\r\n")) and not text[end:].strip():
        start -= 2 if before.endswith("\r\n") else 1
    return Splice(start, end, "")


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """From the header of the table up to the next one, or to the blank lines and comments before that."""
    keys = r"\s*\.\s*".join(rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in path)
    header = re.search(rf"^[ \t]*\[\s*{keys}\s*\][^\n]*(?:\n|\Z)", text, re.MULTILINE)
    if header is None:
        return None
    end = header.end()
    for line in re.finditer(r"[^\n]*(?:\n|\Z)", text[end:]):
        content = line[0].strip()
        if content.startswith("[") or not line[0]:
            break
        if content and not content.startswith("#"):
            end = header.end() + line.end()
    return header.start(), end


def _plain(values: Values) -> dict[str, Any]:
    return {key: value if isinstance(value, str) else list(value) for key, value in values.items()}
