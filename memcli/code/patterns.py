"""Patterns: the lines of a .gitignore, matched as git does, one level of a tree at a time.

Plain names, paths and `*.suffix`, most of what is ever written, are looked up; the rest are expressions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from memcli.code.globs import name_glob, path_glob
from memcli.record import Record

_MAX_LINE = 4096
_MAX_GLOBS = 5_000
_SPECIAL = re.compile(r"[*?\[\\]")


class _Rule(Record):
    """One line: where in the file it stands, and whether what matches is refused (`x`) or let in again (`!x`)."""

    rank: int
    refuses: bool
    only_folders: bool


class Patterns:
    """The patterns of one file, of which the last that matches an entry decides."""

    def __init__(self) -> None:
        self._names: dict[str, list[_Rule]] = {}
        self._paths: dict[str, list[_Rule]] = {}
        self._suffixes: list[tuple[str, _Rule]] = []
        self._globs: list[tuple[re.Pattern[str], _Rule, bool]] = []
        self._lines = 0

    def __bool__(self) -> bool:
        return bool(self._names or self._paths or self._suffixes or self._globs)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True when the entry is refused, False when it is let in, None when no pattern matches."""
        path = _git_text(path)
        name = path.rpartition("/")[2]
        found = [*self._names.get(name, ()), *self._paths.get(path, ())]
        found += [rule for suffix, rule in self._suffixes if name.endswith(suffix)]
        last = max((rule for rule in found if is_folder or not rule.only_folders), key=_rank, default=None)
        for expression, rule, is_name in reversed(self._globs):
            if last is not None and rule.rank < last.rank:
                break
            if (is_folder or not rule.only_folders) and expression.fullmatch(name if is_name else path):
                return rule.refuses
        return None if last is None else last.refuses

    def add(self, line: bytes) -> None:
        """Takes one more line; one that is no pattern, or that can match nothing, counts for nothing, as in git."""
        text = _trim(line.decode("latin-1"))
        if not text or text.startswith("#") or len(text) > _MAX_LINE:
            return
        refuses = not text.startswith("!")
        text = text if refuses else text[1:]
        self._lines += 1
        rule = _Rule(self._lines, refuses, text.endswith("/"))
        text = text.removesuffix("/")
        if text:
            self._place(text.removeprefix("/"), rule, is_name="/" not in text)

    def _place(self, text: str, rule: _Rule, *, is_name: bool) -> None:
        if not _SPECIAL.search(text):
            (self._names if is_name else self._paths).setdefault(text, []).append(rule)
        elif is_name and text[0] == "*" and not _SPECIAL.search(text, 1):
            self._suffixes.append((text[1:], rule))
        elif (expression := _expression(text, is_name=is_name)) and len(self._globs) < _MAX_GLOBS:
            self._globs.append((expression, rule, is_name))


def compile_patterns(lines: Iterable[bytes]) -> Patterns:
    """The patterns of these lines."""
    patterns = Patterns()
    for line in lines:
        patterns.add(line)
    return patterns


def _rank(rule: _Rule) -> int:
    return rule.rank


def _git_text(path: str) -> str:
    """One character for each byte, since git matches bytes; file names need not be UTF-8."""
    return path if path.isascii() else path.encode(sys.getfilesystemencoding(), "surrogateescape").decode("latin-1")


def _trim(text: str) -> str:
    text = text.removesuffix("\r")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    return text


def _expression(text: str, *, is_name: bool) -> re.Pattern[str] | None:
    try:
        return re.compile(name_glob(text) if is_name else path_glob(text))
    except (ValueError, re.error):
        return None
