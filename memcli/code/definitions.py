"""Definitions: the lines of source code, in any common language, that give something a name."""

from __future__ import annotations

import re

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([a-z]+\))?|public|private|protected|internal|static|final|abstract|async|"
    r'unsafe|override|inline|virtual|open|data|sealed|partial|extern(?:[ \t]+"C")?)[ \t]+){0,5}'
)
_FUNCTIONS = r"def|defp|function\*?|func|fun|fn|macro_rules!"
_TYPES = (
    r"class|struct|enum(?:[ \t]+(?:class|struct))?|trait|interface|module|defmodule|object|record|protocol|type|"
    r"typedef[ \t]+struct|union(?![ \t]+(?:all|distinct|select)\b)"
)
EXTENSIONS = r"impl(?:<[^>\n]{0,80}>)?|namespace|extension|mod(?=[^;\n]*\{)"
"""What defines no name of its own, but holds some of what belongs to the one that it names."""
_NAME = r"[A-Za-z_$][\w$]*"
_FUNCTION_VALUE = r"(?:async\s*)?(?:function\b|(?:\([^)\n]{0,120}\)|\w+)\s*(?::[^=\n]{1,60})?=>)"


def _line(words: str) -> str:
    """The pattern of a line that names something with one of `words`, or assigns a function to a name."""
    return (
        rf"[ \t]*{_MODIFIERS}(?:(?P<word>{words})[ \t]+(?:\([^)\n]{{0,80}}\)[ \t]*)?(?:self\.)?(?P<name>{_NAME})"
        rf"|(?:const|let|var)[ \t]+(?P<arrow>{_NAME})\s*(?::[^=\n]{{1,80}})?=\s*{_FUNCTION_VALUE})"
    )


DEFINITION = re.compile(
    rf"^{_line(f'{_FUNCTIONS}|{_TYPES}')}"
    r"|^[ \t]*(?i:create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?P<object>table|view|function|index|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?)(?P<made>[\w.\"]+)"
    r"|^(?P<target>[a-z][\w-]{0,40}):(?!=)[^\n=]*\n\t",
    re.MULTILINE,
)
_OF_CODE = re.compile(_line(f"{_FUNCTIONS}|{_TYPES}|{EXTENSIONS}"))
_HOLDER = re.compile(rf"[ \t]*{_MODIFIERS}(?:{_TYPES}|{EXTENSIONS})(?!\w)")
_CALLABLE = re.compile(_FUNCTIONS)
_FOR = re.compile(rf"\bfor[ \t]+({_NAME})")


def name_of(match: re.Match[str]) -> tuple[str, str]:
    """What a match of DEFINITION names: bare, such as `refresh`, and as it is shown, such as `refresh()`."""
    if match["name"]:
        word = match["word"]
        return match["name"], f"{match['name']}()" if _CALLABLE.fullmatch(word) else f"{word} {match['name']}"
    if match["arrow"]:
        return match["arrow"], f"{match['arrow']}()"
    if match["made"]:
        made = match["made"].replace('"', "")
        return made, f"{match['object'].lower()} {made}"
    return match["target"], f"target {match['target']}"


def defined(line: str) -> str:
    """The name that a line of code gives to what stands below it, such as `Token` for `impl Display for Token {`; empty
    when it gives none."""
    match = _OF_CODE.match(line)
    if match is None:
        return ""
    target = _FOR.search(line, match.end()) if (match["word"] or "").startswith("impl") else None
    return target[1] if target else match["name"] or match["arrow"]


def is_holder(line: str) -> bool:
    """Whether a line of code begins what has members, such as a class."""
    return _HOLDER.match(line) is not None
