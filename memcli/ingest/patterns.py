"""Patterns: gitignore's syntax, matched as git does, one level of a tree at a time.

Not by a library: the one at hand matches a folder's content along with the folder, so that `!keep` lets in `keep/x.o`
against an earlier `*.o`; and it leaves a clone's patterns to backtracking expressions, on which `*a*a*a*a*a*b` can take
for ever. Plain names, paths and `*.suffix`, most of what is ever written, are looked up; the rest are expressions
that take each part between stars where it first fits, which is all a glob needs, and never go back on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from memcli.record import Record

_MAX_LINE = 4096
_MAX_GLOBS = 5_000
# The characters of git's named classes, without the slash, which no class matches.
_CLASSES: Mapping[str, str] = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-.0-~", "lower": "a-z", "print": " -.0-~", "punct": "!-.:-@\\[-`{-~", "space": "\\t-\\r ",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_SPECIAL = re.compile(r"[*?\[\\]")
_TOKEN = re.compile(r"(?P<stars>\*+)|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|\[:\w+:\]|[^]\\])*)\]|\\(?P<as_is>.)|(?P<one>[^\\[])",
                    re.DOTALL)  # fmt: skip
_MEMBER = re.compile(r"\[:(\w+):\]|(\\?.)(?:-(?!\Z)(\\?.))?", re.DOTALL)

_Token = re.Match[str]


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
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


def _trim(text: str) -> str:
    text = text.removesuffix("\r")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    return text


def _expression(text: str, *, is_name: bool) -> re.Pattern[str] | None:
    try:
        segments = _segments(text)
        return re.compile(_name(segments[0]) if is_name else _folders(segments), re.DOTALL)
    except (ValueError, re.error):
        return None


def _segments(text: str) -> list[list[_Token]]:
    """The parts between slashes. Raises ValueError for an open bracket or a last backslash, which match nothing."""
    segments: list[list[_Token]] = [[]]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            raise ValueError(text)
        at = token.end()
        if token["one"] == "/":
            segments.append([])
        else:
            segments[-1].append(token)
    return segments


def _folders(segments: list[list[_Token]]) -> str:
    """The expression for a path: `**` is any number of folders, and anything at all at the end."""
    runs: list[list[str]] = [[]]
    for segment in segments:
        if len(segment) == 1 and len(segment[0]["stars"] or "") > 1:
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append(_name(segment))
    first, *others = runs
    if not others:
        return "/".join(first)
    *middle, last = others
    parts = [f"{name}/" for name in first]
    parts += [f"(?>(?:[^/]+/)*?{'/'.join(run)}/)" for run in middle]
    parts.append("(?:[^/]+/)*?" + "/".join(last) if last else ".+")
    return "".join(parts)


def _name(tokens: list[_Token]) -> str:
    """The expression for one name."""
    pieces = [""]
    for token in tokens:
        if token["stars"]:
            pieces.append("")
        else:
            pieces[-1] += _single(token)
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _single(token: _Token) -> str:
    if token["as_is"]:
        return re.escape(token["as_is"])
    if token["one"]:
        return "[^/]" if token["one"] == "?" else re.escape(token["one"])
    members = "".join(_member(member) for member in _MEMBER.finditer(token["set"]))
    if token["not"]:
        return f"[^/{members}]"
    return f"[{members}]" if members else "(?!)"


def _member(match: re.Match[str]) -> str:
    name, low, high = match.groups()
    if name:
        return _CLASSES.get(name, "")
    first = low[-1]
    # Git tries the first character by itself, so that a range the wrong way round still holds that one.
    last = high[-1] if high and high[-1] >= first else first
    return "".join(f"\\x{ord(a):02x}-\\x{ord(b):02x}" for a, b in _around_slash(first, last))


def _around_slash(first: str, last: str) -> list[tuple[str, str]]:
    parts = [(first, min(last, ".")), (max(first, "0"), last)] if first <= "/" <= last else [(first, last)]
    return [(a, b) for a, b in parts if a <= b]
