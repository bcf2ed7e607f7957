"""Secrets in tables: the cells of a column whose header is the name of a secret, in Markdown, CSV and text with tabs; and the
values in a Secret of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.safety.secrets.labels import Label, label_of
from memcli.safety.secrets.passwords import is_given_password, is_reference
from memcli.safety.secrets.secret_checks import is_token

_MOST_ROWS = 200
_MOST_COLUMNS = 40
_HEAD = re.compile(r"[\w][\w ./()#-]{0,30}\Z")
_RULER = re.compile(r"[\s|:+=-]+\Z")
_DATA = re.compile(rb"(?P<hunk>@@.* )?[+\t -]*(?P<name>data|stringData):\s*\Z")
_ENTRY = re.compile(rb"([+\t -]*)[\"']?[\w.-]+[\"']?:[\t ]+[\"']?([^\s\"']{6,})[\"']?\s*\Z")
_IS_SECRET = re.compile(rb"(?m)^[+\t -]*kind:[\t ]*[\"']?Secret\b")
_BASE64 = re.compile(
    r"(?=.*[A-Z].*[a-z0-9=]|.*[a-z0-9].*[A-Z])(?:[0-9A-Za-z+/]{4})+(?:[0-9A-Za-z+/]{2}(?:==|[0-9A-Za-z+/]=))?\Z"
)
_WRAPPING = " \t\"'`*_"


Cell = tuple[int, int, str]
"""A cell: the offsets of its begin and end in bytes, and its text."""


def secret_cells(data: bytes, start: int) -> tuple[list[Cell], int]:
    """The secrets in the rows below the header line at `start`, and the offset of the end of the table."""
    end = line_end(data, start)
    if head_of_data := _DATA.match(data[start:end]):
        return _entries(data, start, end, head_of_data), end
    head = data[start:end].decode("utf-8", "replace")
    for delimiter in ("|", "\t", ";", ","):
        names = (
            [name.strip(_WRAPPING) for name in head.strip().strip("|").split(delimiter)] if delimiter in head else []
        )
        columns = {n: label for n, name in enumerate(names) if (label := label_of(name))}
        is_wide = (
            sum(map(bool, names)) > 1 and len(names) <= _MOST_COLUMNS
        )  # one argument before a line break in code is no header
        if is_wide and columns and all(not name or _HEAD.match(name) for name in names):
            return _below(data, end + 1, delimiter, len(names), columns)
    return [], end


def _entries(data: bytes, start: int, end: int, head: re.Match[bytes]) -> list[Cell]:
    """The values below the line `data:` from `start` to `end`, which is `head`, if it is in the manifest of a Secret. As the head
    of a hunk, which does not show the kind of the manifest, it is if its values are in base64; others have no `stringData`."""
    is_hunk = head["hunk"] is not None
    if not is_hunk and not _is_in_a_secret(data, start, end):
        return []
    found: list[Cell] = []
    depth = 1 if is_hunk else _depth(data[start:end])
    must_be_base64 = is_hunk and head["name"] == b"data"
    for _ in range(_MOST_ROWS):
        start, end = end + 1, line_end(data, end + 1)
        line = data[start:end]
        if not line.strip() or _depth(line) <= depth:
            break
        if (entry := _ENTRY.match(line)) is None:
            continue
        value = entry[2].decode("utf-8", "replace")
        if must_be_base64 and not _BASE64.match(value):
            return []
        if not is_reference(value):
            found.append((start + entry.start(2), start + entry.end(2), value))
    return found


def _is_in_a_secret(data: bytes, start: int, end: int) -> bool:
    """Whether the line from `start` to `end` is in the manifest of a Secret."""
    first, last = data.rfind(b"\n---", 0, start) + 1, data.find(b"\n---", end)
    return _IS_SECRET.search(data, first, last if last >= 0 else len(data)) is not None


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip(b"+\t -"))


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
            for n, label in columns.items():
                _, _, value = cells[n]
                if not value or is_reference(value):
                    continue
                if label is Label.PASSWORD:
                    is_secret = not value.isalpha() and is_given_password(value, is_quoted=True, is_config=True)
                else:
                    is_secret = is_token(value, label)
                found += [cells[n]] if is_secret else []
        start = end + 1
    return found, start - 1


def _cells(row: bytes, delimiter: bytes, start: int) -> Iterator[Cell]:
    """The cells of a row, without blanks, quotes and emphasis around them."""
    strip = _WRAPPING.encode() + b"\r"
    inner = row.strip()
    at = start + row.index(inner) if inner else start
    if delimiter == b"|":
        inner, at = inner.removeprefix(b"|"), at + inner.startswith(b"|")
        inner = inner.removesuffix(b"|")
    for cell in inner.split(delimiter):
        value = cell.strip(strip)
        begin = at + (len(cell) - len(cell.lstrip(strip)))
        yield begin, begin + len(value), value.decode("utf-8", "replace")
        at += len(cell) + len(delimiter)


def line_end(data: bytes, start: int) -> int:
    """The offset of the end of the line around `start`."""
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end
