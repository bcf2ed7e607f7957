"""Tables: the cells below a column whose head is the name of a secret, in Markdown, CSV and text with tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memcli.safety.secrets.labels import Label, label_of
from memcli.safety.secrets.named import is_token
from memcli.safety.secrets.passwords import is_given_password, is_reference

_MOST_ROWS = 200
_MOST_COLUMNS = 40
_HEAD = re.compile(r"[\w][\w ./()#-]{0,30}\Z")
_RULER = re.compile(r"[\s|:+=-]+\Z")
_WRAPPING = " \t\"'`*_"


class Cell(NamedTuple):
    """What stands in a table from `start` to `end`, in bytes."""

    start: int
    end: int
    value: str


def secret_cells(data: bytes, start: int) -> tuple[list[Cell], int]:
    """The secrets in the rows below the head that the line at `start` is, and where the table ends."""
    end = line_end(data, start)
    head = data[start:end].decode("utf-8", "replace")
    for delimiter in ("|", "\t", ";", ","):
        names = (
            [name.strip(_WRAPPING) for name in head.strip().strip("|").split(delimiter)] if delimiter in head else []
        )
        columns = {n: label for n, name in enumerate(names) if (label := label_of(name))}
        if 1 < len(names) <= _MOST_COLUMNS and columns and all(not name or _HEAD.match(name) for name in names):
            return _below(data, end + 1, delimiter, len(names), columns)
    return [], end


def _below(data: bytes, start: int, delimiter: str, width: int, columns: dict[int, Label]) -> tuple[list[Cell], int]:
    found: list[Cell] = []
    for _ in range(_MOST_ROWS):
        end = line_end(data, start)
        row = data[start:end]
        if not row.strip():
            break
        if not _RULER.match(row.decode("utf-8", "replace")):
            cells = list(_cells(row, delimiter.encode(), start))
            if len(cells) != width:
                break
            found += [cells[n] for n, label in columns.items() if _is_secret(cells[n].value, label)]
        start = end + 1
    return found, start - 1


def _cells(row: bytes, delimiter: bytes, start: int) -> Iterator[Cell]:
    """The cells of a row, without what stands around them."""
    strip = _WRAPPING.encode() + b"\r"
    inner = row.strip()
    at = start + row.index(inner) if inner else start
    if delimiter == b"|":
        inner, at = inner.removeprefix(b"|"), at + inner.startswith(b"|")
        inner = inner.removesuffix(b"|")
    for cell in inner.split(delimiter):
        value = cell.strip(strip)
        begin = at + (len(cell) - len(cell.lstrip(strip)))
        yield Cell(begin, begin + len(value), value.decode("utf-8", "replace"))
        at += len(cell) + len(delimiter)


def _is_secret(value: str, label: Label) -> bool:
    if not value or is_reference(value):
        return False
    if label is Label.PASSWORD:
        return any(not char.isalpha() for char in value) and is_given_password(value, is_quoted=True, is_config=True)
    return is_token(value, label)


def line_end(data: bytes, start: int) -> int:
    """Where the line that `start` is in ends."""
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end
