"""Small changes of a text that can be taken back to the character: a block between markers in Markdown, and a table in TOML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memcli.errors import UsageError


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


BEGIN = "<!-- memcli: begin. `memcli agent uninstall` removes this block. -->"
END = "<!-- memcli: end -->"
_BLOCK = re.compile(r"<!-- memcli: begin\b[^\n]*-->.*?<!-- memcli: end -->(?:\r?\n)?", re.DOTALL)


def put_block(text: str, body: str) -> Splice | None:
    """What makes the block hold `body`, at the end of the text if there is none; None if it does."""
    nl = newline_of(text)
    made = nl.join([BEGIN, *body.strip().split("\n"), END]) + nl
    found = _BLOCK.search(text)
    if found is not None:
        made = made if found[0].endswith("\n") else made.removesuffix(nl)
        return None if found[0] == made else Splice(found.start(), found.end(), made)
    first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
    return Splice(len(text), len(text), first + made)


def remove_block(text: str) -> Splice | None:
    """What removes the block, with the blank line before it; None if there is none."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    start = found.start()
    before = text[:start]
    if before.endswith(("\n\n", "\n\r\n")):
        start -= 2 if before.endswith("\r\n") else 1
    return Splice(start, found.end(), "")


def has_block(text: str) -> bool:
    """Whether there is a block, whatever it holds."""
    return _BLOCK.search(text) is not None


TomlValues = Mapping[str, str | Sequence[str]]


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of the text. Raises UsageError."""
    try:
        return tomllib.loads(text.lstrip("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"not valid TOML: {error}") from None


def table_at(text: str, path: Sequence[str]) -> Any:
    """The value at `path`; None where there is none. Raises UsageError."""
    found: Any = parse_toml(text)
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def put_table(text: str, path: Sequence[str], values: TomlValues) -> Splice | None:
    """What makes the table at `path` hold `values`; None if it does. Raises UsageError where a table cannot be added."""
    before = table_at(text, path)
    if before == _plain_values(values):
        return None
    nl = newline_of(text)
    span = _table_span(text, path)
    if before is not None and span is None:
        raise UsageError(f"{'.'.join(path)} is not a table of its own")
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    if span is not None:
        splice = Splice(*span, nl.join([*lines, ""]))
    else:
        first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
        splice = Splice(len(text), len(text), first + nl.join([*lines, ""]))
    try:
        is_set = table_at(splice.apply(text), path) == _plain_values(values)
    except UsageError:
        is_set = False
    if not is_set:
        raise UsageError(f"cannot add the table {'.'.join(path)}: {path[0]} is not written as tables")
    return splice


def remove_table(text: str, path: Sequence[str]) -> Splice | None:
    """What removes the table at `path`, with the blank line before it; None where there is none."""
    span = _table_span(text, path)
    if span is None:
        return None
    start, end = span
    before = text[:start]
    if before.endswith(("\n\n", "\r\n\r\n")) and not text[end:].strip():
        start -= 2 if before.endswith("\r\n") else 1
    return Splice(start, end, "")


def _table_span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
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


def _plain_values(values: TomlValues) -> dict[str, Any]:
    return {key: value if isinstance(value, str) else list(value) for key, value in values.items()}
