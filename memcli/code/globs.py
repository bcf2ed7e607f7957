"""Globs and gitignore patterns, matched as in git, one level of a tree at a time, in linear time.

Names, paths and `*.suffix`, the most frequent patterns, are looked up; others become expressions. The library pathspec is not
used: it matches the content of a folder together with the folder, so that `!keep` includes `keep/x.o` against an earlier
`*.o`, and its expressions backtrack, so that `*a*a*a*a*a*b` may take exponential time. The expressions made here match each
part between stars at its first place, which is sufficient for a glob, and never backtrack.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress

from memcli.errors import UsageError
from memcli.regex import regex

# The characters of git's named classes, without the slash, which no class matches.
_CLASSES: Mapping[str, str] = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-.0-~", "lower": "a-z", "print": " -.0-~", "punct": "!-.:-@\\[-`{-~", "space": "\\t-\\r ",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = regex(r"(?P<stars>\*+)|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|\[:\w+:\]|[^]\\])*)\]|\\(?P<as_is>.)|(?P<one>[^\\[])",
                    re.DOTALL)  # fmt: skip
_PREFIX = regex(r"([^*?\[\\]*[^*?\[\\/])(\*\*+(?:/.*)?)", re.DOTALL)
_MEMBER = regex(r"\[:(\w+):\]|(\\?.)(?:-(?!\Z)(\\?.))?", re.DOTALL)

_ATOMIC = "(?>"

_Token = re.Match[str]


def name_glob(text: str) -> str:
    """The `re` expression for names that fully match `text`, a glob without a slash. Raises ValueError for a glob that can
    match nothing."""
    return _name(_segments(text)[0])


def path_glob(text: str) -> str:
    """As `name_glob`, for paths from the root, with `/`."""
    # git compares the text before the first wildcard separately, so that stars after it are at the beginning of a pattern.
    prefix, rest = found.groups() if (found := _PREFIX.fullmatch(text)) else ("", text)
    # `**` matches any number of folders, at the end anything.
    runs: list[list[str]] = [[]]
    for segment in _segments(rest):
        if len(segment) == 1 and len(segment[0]["stars"] or "") > 1:
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append(_name(segment))
    first, *others = runs
    if not others:
        return re.escape(prefix) + "/".join(first)
    *middle, last = others
    parts = [re.escape(prefix), *(f"{name}/" for name in first)]
    parts += [f"{_ATOMIC}(?:[^/]*/)*?{'/'.join(run)}/)" for run in middle]
    parts.append("(?:[^/]*/)*?" + "/".join(last) if last else "(?s:.*)")
    return "".join(parts)


def glob_expression(glob: str, at: str) -> str:
    """The RE2 expression for full paths that match `glob`, or are below a folder that does.

    A glob without an inner slash matches in every folder, others match from the root. Raises UsageError naming the field
    `at` for a glob that can match nothing, such as one with an open bracket, and for syntax that gitignore does not have.
    """
    if glob.startswith("!") or re.search(r"(?<!\\)\{[^{}]*,[^{}]*\}", glob):
        raise UsageError(
            f"{at} is not a path glob: {glob[:80]!a}", "{a,b} and ! are not supported: use one trigger each, or `re:`"
        )
    text = glob.removeprefix("./").rstrip("/")
    try:
        if not text:
            raise ValueError(text)
        path = path_glob(text.removeprefix("/")) if "/" in text else f"(?:[^/]*/)*?{name_glob(text)}"
    except ValueError:
        raise UsageError(
            f"{at} is not a path glob: {glob[:80]!a}", "close the brackets, or use `re:` for a pattern"
        ) from None
    # RE2 has no atomic groups, and is linear without them. Escaping makes these three characters impossible elsewhere.
    return path.replace(_ATOMIC, "(?:") + "(?s:/.*)?"


def _segments(text: str) -> list[list[_Token]]:
    """The tokens between slashes. Raises ValueError for an open bracket or a last backslash, which match nothing."""
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


def _name(tokens: list[_Token]) -> str:
    """The expression for one name. Raises ValueError for a class that matches nothing."""
    pieces = [""]
    for token in tokens:
        if token["stars"]:
            pieces.append("")
        elif token["as_is"]:
            pieces[-1] += re.escape(token["as_is"])
        elif token["one"]:
            pieces[-1] += "[^/]" if token["one"] == "?" else re.escape(token["one"])
        else:
            members = "".join(_member(member) for member in _MEMBER.finditer(token["set"]))
            if not (members or token["not"]):
                raise ValueError(token[0])
            pieces[-1] += f"[^/{members}]" if token["not"] else f"[{members}]"
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"{_ATOMIC}[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _member(match: re.Match[str]) -> str:
    """The expression for a part of a class. Raises ValueError for an unknown class name, with which git matches nothing."""
    name, low, high = match.groups()
    if name:
        if name not in _CLASSES:
            raise ValueError(name)
        return _CLASSES[name]
    first = low[-1]
    # git compares the first character separately, so that a reversed range still matches it.
    last = high[-1] if high and high[-1] >= first else first
    # In git no class matches the slash.
    ranges = [(first, min(last, ".")), (max(first, "0"), last)] if first <= "/" <= last else [(first, last)]
    # As hex codes, which `re` and RE2 both accept; no character beyond Latin-1 is special.
    ends = ("-".join(f"\\x{ord(c):02x}" if ord(c) < 256 else c for c in pair) for pair in ranges if pair[0] <= pair[1])
    return "".join(ends)


_MAX_LINE = 4096
_MAX_GLOBS = 5_000
_SPECIAL = regex(r"[*?\[\\]")


_GlobRule = tuple[int, bool, bool]
"""The index of a line in the file, whether it ignores (`x`) or includes (`!x`) what matches, and whether it is for folders only."""


class Patterns:
    """The patterns on the lines of one file. The last one that matches an entry decides.

    Comments, invalid lines and patterns that can match nothing are skipped, as in git.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._names: dict[str, list[_GlobRule]] = {}
        self._paths: dict[str, list[_GlobRule]] = {}
        self._suffixes: list[tuple[str, _GlobRule]] = []
        self._globs: list[tuple[re.Pattern[str], _GlobRule, bool]] = []
        for rank, line in enumerate(lines):
            text = line.decode("latin-1").removesuffix("\r")
            # Blanks at the end of a line count only when they are escaped.
            while text.endswith(" ") and not text.endswith("\\ "):
                text = text[:-1]
            if not text.startswith("#") and len(text) <= _MAX_LINE:
                bare = text.removeprefix("!")
                pattern, rule = bare.removesuffix("/"), (rank, bare == text, bare.endswith("/"))
                is_name, path = "/" not in pattern, pattern.removeprefix("/")
                if not _SPECIAL.search(path):
                    (self._names if is_name else self._paths).setdefault(path, []).append(rule)
                elif is_name and path[0] == "*" and not _SPECIAL.search(path, 1):
                    self._suffixes.append((path[1:], rule))
                elif len(self._globs) < _MAX_GLOBS:
                    with suppress(ValueError, re.error):
                        self._globs.append((re.compile(name_glob(path) if is_name else path_glob(path)), rule, is_name))

    def __bool__(self) -> bool:
        return bool(self._names or self._paths or self._suffixes or self._globs)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True when the entry is ignored, False when it is included, None when no pattern matches."""
        if not path.isascii():
            # One character for each byte, since git matches bytes; file names need not be UTF-8.
            path = path.encode(sys.getfilesystemencoding(), "surrogateescape").decode("latin-1")
        name = path.rpartition("/")[2]
        found = [*self._names.get(name, ()), *self._paths.get(path, ())]
        found += [rule for suffix, rule in self._suffixes if name.endswith(suffix)]
        last = max(((rank, refuses) for rank, refuses, of_folder in found if is_folder or not of_folder), default=None)
        for expression, (rank, refuses, of_folder), is_name in reversed(self._globs):
            if last is not None and rank < last[0]:
                break
            if (is_folder or not of_folder) and expression.fullmatch(name if is_name else path):
                return refuses
        return None if last is None else last[1]
