"""Addresses of pages. What was stored is in them as quoted text alone."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

_IN_PATH = "/:@+"
"""What an id may have that need not be quoted in a path."""


def memory(space: str, name: str, part: str = "") -> str:
    """The page of a memory, or a part of it such as `edit`."""
    end = f"?{urlencode({'show': part})}" if part else ""
    return f"/memory/{_quoted(space)}/{_quoted(name)}{end}"


def session(space: str, name: str) -> str:
    """The page of a session."""
    return f"/sessions/{_quoted(space)}/{_quoted(name)}"


def query(path: str, values: Mapping[str, object], **changed: object) -> str:
    """`path` with the values that are not empty, some of them changed."""
    given = {name: value for name, value in {**values, **changed}.items() if value not in (None, "", False, 0)}
    text = urlencode([(name, "1" if value is True else str(value)) for name, value in given.items()], errors="replace")
    return f"{path}?{text}" if text else path


def _quoted(name: str) -> str:
    return quote(name, safe=_IN_PATH, errors="replace")
