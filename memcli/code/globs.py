"""Globs: patterns of files as in a .gitignore, as RE2 expressions, which take linear time whatever the glob."""

from __future__ import annotations

import re

from memcli.errors import UsageError

_TOKEN = re.compile(r"/?\*\*(?:/|\Z)|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|[^\[\\]", re.DOTALL)


def glob_expression(glob: str, at: str) -> str:
    """The expression that whole paths match which `glob` covers; a folder covers all that is below it.

    One without a slash inside is looked for in every folder, others from the root. Raises UsageError naming the
    field `at` for a bracket that stays open, and for what other globs have and these do not.
    """
    if glob.startswith("!") or re.search(r"(?<!\\)\{[^{}]*,[^{}]*\}", glob):
        raise UsageError(
            f"{at} is no path glob: {glob[:80]!a}", "there are no {a,b} and no !: give a trigger for each, or a `re:`"
        )
    text = glob.removeprefix("./").rstrip("/")
    anywhere = "/" not in text
    pieces, end = [], 0
    for token in _TOKEN.finditer(text.removeprefix("/")):
        if token.start() != end:
            break
        pieces.append(_piece(token[0]))
        end = token.end()
    if not pieces or end != len(text.removeprefix("/")):
        raise UsageError(f"{at} is no path glob: {glob[:80]!a}", "close its brackets, or write `re:` for an expression")
    return f"{'(?:.*/)?' if anywhere else ''}{''.join(pieces)}(?:/.*)?"


def _piece(part: str) -> str:
    if part.strip("/") == "**":
        # In the middle any number of folders, none too; at the end whatever is below.
        return {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.+", "**": ".*"}[part]
    if part[0] == "*":
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if part[0] == "[" and len(part) > 2:
        body = part[1:-1]
        negated = body[0] in "!^"
        members = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negated else body)
        return f"[^/{members}]" if negated else f"[{members}]"
    return re.escape(part[1:] if part[0] == "\\" else part)
