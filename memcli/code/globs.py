"""Globs in gitignore's syntax, as expressions that match in linear time.

Not by a library: pathspec matches the content of a folder along with the folder, so that `!keep` lets in `keep/x.o`
against an earlier `*.o`, and its expressions backtrack: `*a*a*a*a*a*b` can take for ever. An expression from here takes
each part between stars where it first fits, which is all a glob needs, and never goes back on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memcli.errors import UsageError

# The characters of git's named classes, without the slash, which no class matches.
_CLASSES: Mapping[str, str] = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-.0-~", "lower": "a-z", "print": " -.0-~", "punct": "!-.:-@\\[-`{-~", "space": "\\t-\\r ",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = re.compile(r"(?P<stars>\*+)|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|\[:\w+:\]|[^]\\])*)\]|\\(?P<as_is>.)|(?P<one>[^\\[])",
                    re.DOTALL)  # fmt: skip
_PREFIX = re.compile(r"([^*?\[\\]*[^*?\[\\/])(\*\*+(?:/.*)?)", re.DOTALL)
_MEMBER = re.compile(r"\[:(\w+):\]|(\\?.)(?:-(?!\Z)(\\?.))?", re.DOTALL)

_ATOMIC = "(?>"

_Token = re.Match[str]


def name_glob(text: str) -> str:
    """The expression of `re` for a name that `text`, a glob without a slash, matches as a whole. Raises ValueError
    for a glob that matches nothing."""
    return _name(_segments(text)[0])


def path_glob(text: str) -> str:
    """The same for a path from the root, with `/`."""
    # Git compares what stands before the first wildcard by itself, so stars right behind it stand at the beginning.
    prefix, rest = found.groups() if (found := _PREFIX.fullmatch(text)) else ("", text)
    return re.escape(prefix) + _path(_segments(rest))


def glob_expression(glob: str, at: str) -> str:
    """The expression of RE2 for whole paths that `glob` covers; a folder covers all that is below it.

    A glob without a slash inside is looked for in every folder, others from the root. Raises UsageError naming the
    field `at` for one that matches nothing, as with an open bracket, and for syntax that gitignore does not have.
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
    # RE2 has no atomic groups and needs none to be linear. No glob gives these three characters otherwise.
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


def _path(segments: list[list[_Token]]) -> str:
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
    parts += [f"{_ATOMIC}(?:[^/]*/)*?{'/'.join(run)}/)" for run in middle]
    parts.append("(?:[^/]*/)*?" + "/".join(last) if last else "(?s:.*)")
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
    return first + "".join(f"{_ATOMIC}[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _single(token: _Token) -> str:
    if token["as_is"]:
        return re.escape(token["as_is"])
    if token["one"]:
        return "[^/]" if token["one"] == "?" else re.escape(token["one"])
    members = "".join(_member(member) for member in _MEMBER.finditer(token["set"]))
    if token["not"]:
        return f"[^/{members}]"
    if not members:
        raise ValueError(token[0])
    return f"[{members}]"


def _member(match: re.Match[str]) -> str:
    """A part of a class. Raises ValueError for the name of no class, with which git matches nothing."""
    name, low, high = match.groups()
    if name:
        if name not in _CLASSES:
            raise ValueError(name)
        return _CLASSES[name]
    first = low[-1]
    # Git tries the first character by itself, so that a range the wrong way round still holds that one.
    last = high[-1] if high and high[-1] >= first else first
    return "".join(f"{_code(a)}-{_code(b)}" for a, b in _around_slash(first, last))


def _around_slash(first: str, last: str) -> list[tuple[str, str]]:
    parts = [(first, min(last, ".")), (max(first, "0"), last)] if first <= "/" <= last else [(first, last)]
    return [(a, b) for a, b in parts if a <= b]


def _code(char: str) -> str:
    """A character in a class, in both dialects; beyond Latin-1 none is special."""
    return f"\\x{ord(char):02x}" if ord(char) < 256 else char
