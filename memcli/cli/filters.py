"""Filters for memories: kinds, tags and paths as users type them."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator

from memcli.cli.input import decode
from memcli.cli.verb import Session
from memcli.errors import UsageError
from memcli.model.names import slug
from memcli.model.shapes import KINDS

_SIMILAR = 0.75


def kinds(session: Session, values: Iterable[str] | None) -> tuple[str, ...]:
    """The kinds in the values of `--kind`; warns about likely typing errors."""
    found = tuple(_separated(values, "--kind"))
    note_similar(session, found)
    return found


def tags(values: Iterable[str] | None, option: str = "--tag") -> tuple[str, ...]:
    """The tags in the values of `option`, as they are stored."""
    return tuple(slug(tag) or tag for tag in _separated(values, option))


def path(value: str, option: str) -> str:
    """`value` in NFC, as paths are stored. Raises UsageError if it is not UTF-8."""
    return unicodedata.normalize("NFC", decode(os.fsencode(value), option))


def one_kind(session: Session, value: str | None) -> str | None:
    """The kind of a memory to store. Raises UsageError for several."""
    if value is not None:
        if "," in value:
            raise UsageError(f"a memory has one kind, not {value!r}", "use --tag to classify further")
        note_similar(session, [value])
    return value


def note_similar(session: Session, names: Iterable[str]) -> None:
    """Warns if a kind resembles a known one."""
    for name in dict.fromkeys(names):
        if known := similar_kind(name):
            session.output.note(f"unknown kind {name!r}; did you mean {known!r}?")


def similar_kind(name: str) -> str:
    """The known kind that `name` resembles; empty if `name` is known or resembles none."""
    if name in KINDS or not isinstance(name, str):
        return ""
    from difflib import get_close_matches

    plain = name.strip().casefold()
    close = [plain] if plain in KINDS else get_close_matches(plain, KINDS, 1, _SIMILAR)
    # `customer` is a word of its own rather than a `custom` with a slip.
    return "" if not close or (plain.startswith(close[0]) and len(plain) > len(close[0]) + 1) else close[0]


def parts(values: Iterable[str]) -> list[str]:
    """The values, split at commas. A blank value is kept, so that its reader can reject it."""
    return [part for value in values for part in ([p for p in value.split(",") if p.strip()] or [value])]


def _separated(values: Iterable[str] | None, option: str) -> Iterator[str]:
    for part in parts(values or ()):
        if not part.strip(" ,"):
            raise UsageError(f"{option} is empty", "omit it to match all")
        yield decode(os.fsencode(part.strip()), option)
