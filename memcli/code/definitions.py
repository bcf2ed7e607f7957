"""Definitions: the lines of source code, in any common language, that give something a name."""

from __future__ import annotations

import re

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|override|"
    r"inline|virtual|open|data|sealed|declare)\s+){0,4}"
)
DEFINITION = re.compile(
    rf"^[ \t]*{_MODIFIERS}"
    r"(?P<word>class|def|function\*?|func|fn|struct|enum|trait|interface|module|object|record|type)\s+"
    r"(?:\([^)\n]{0,80}\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
    rf"|^[ \t]*{_MODIFIERS}(?:const|let|var)\s+(?P<arrow>[A-Za-z_$][\w$]*)\s*(?::[^=\n]{{1,80}})?=\s*(?:async\s*)?"
    r"(?:function\b|(?:\([^)\n]{0,120}\)|\w+)\s*(?::[^=\n]{1,60})?=>)"
    r"|^[ \t]*(?i:create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?P<object>table|view|function|index|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?)(?P<made>[\w.\"]+)"
    r"|^(?P<target>[a-z][\w-]{0,40}):(?!=)[^\n=]*\n\t",
    re.MULTILINE,
)
_CALLABLE = frozenset(["def", "function", "function*", "func", "fn"])


def name_of(match: re.Match[str]) -> tuple[str, str]:
    """What a match of DEFINITION names: bare, such as `refresh`, and as it is told, such as `refresh()`."""
    if match["name"]:
        word = match["word"]
        return match["name"], f"{match['name']}()" if word in _CALLABLE else f"{word} {match['name']}"
    if match["arrow"]:
        return match["arrow"], f"{match['arrow']}()"
    if match["made"]:
        made = match["made"].replace('"', "")
        return made, f"{match['object'].lower()} {made}"
    return match["target"], f"target {match['target']}"
