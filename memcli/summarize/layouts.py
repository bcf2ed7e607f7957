"""What sort of text it is by the look of its lines, whatever the words say."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SAMPLE = 120
"""Lines looked at."""
_SAMPLE_CHARACTERS = 12_000
_GUIDE_CHARACTERS = 600
_MAX_LINE = 400
_FENCE = ("```", "~~~")

# Patterns that only a text of many lines needs are left to be compiled when there is one.
_DIFF_START = r"\s*(?:diff --git |Index: \S|--- [^\n]+\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)"
_LOG_LINE = re.compile(
    r"\s*(?:[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"  # 2026-01-31 09:30
    r"|[\[(]?\d\d:\d\d:\d\d\b"  # 09:30:00
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # Jan 31 09:30:00, as syslog writes it
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[: ]\s*\[?\S+[\]:]"
    r"|\s+at [\w.$<>]+\()"
)
_SETTING = (
    r"\s*(?:export\s+|set\s+)?[\w.-]{1,60}\s?=\s?(?:\S.*)?\Z"  # KEY=value
    r"|\s*(?:- )?[\"']?[\w./-]{1,60}[\"']?:(?:\s+[\"'\[{|>&*]?\S{0,60}[\"'\]}]?,?|\s*)\Z"  # key: value
    r"|\s*\[{1,2}[\w.\" -]{1,60}\]{1,2}\Z"  # [section]
    r"|\s*- [\w./:@-]{1,60}\Z"
)
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?[A-Z][A-Z0-9_]{2,60}=\S*\s*(?:#.*)?\Z")
_CODE_FORMS = (
    # Definitions.
    (r"(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\(\w+\))?|unsafe|const)\s+)*"
     r"(?:class|def|function|func|fn|struct|enum|trait|interface|impl|type|namespace|module|package)\s+[\w$(<*&]+.*"
     r"(?:[:{(;,>)\w]|\.\.\.)\s*\Z"),
    r"(?:const|let|var|val|auto|int|char|void|bool|string)\s+[\w$*&\[\]{},\s]{1,60}\s*(?:=|;|\()",
    r"[\w.$\[\]\"']{1,80}\s*(?::=|[-+*/|&]?=)\s*\S",
    # Imports and decorators.
    r"from\s+[\w.]+\s+import\s",
    r"import\s+[\w.{*\"'(]",
    r"#include\s|#!|using\s+\w+|use\s+[\w:]+::|@\w+[\w.]*(?:\(|\Z)",
    # Statements.
    r"(?:return|yield|raise|throw|await|assert)\b.{0,120}\Z",
    r"(?:if|for|while|elif|switch|match|with|catch|else if)\b.*[:{]\s*\Z",
    r"(?:try|else|finally|do)\s*[:{]?\s*\Z",
    r"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\s+\w+",
    r"[\w.$]{1,60}\(.*\)[;,]?\s*\Z",
    # Punctuation that no prose ends with.
    r"[\w.]+\(\s*\Z",
    r"[})\]]+[;,)]*\s*\Z",
    r".*[;{]\s*\Z",
    r".*=>\s*[\w({].*",
)  # fmt: skip
_CODE = rf"\s*(?:{'|'.join(_CODE_FORMS)})"
_HEADING = r"#{1,6}\s+\S|(?:={4,}|-{4,}|~{4,})\s*\Z"
_COMMENT_LINE = r"\s*(?://|#(?!#)|/\*|\*/|\*\s|--\s|\"\"\"|''')"


def kind_of(text: str) -> str:
    """`diff`, `log`, `config`, `code` or `guide` when the lines of `text` look so, else empty."""
    if "\n" not in text:
        line = _bounded(text)
        return "log" if _LOG_LINE.match(line) else "config" if _ASSIGNMENT.match(line) else ""
    if is_diff(text):
        return "diff"
    lines, is_fenced = _sample(text)
    if is_fenced:
        return "code"
    if _share(_LOG_LINE, lines) >= 0.5 or text.lstrip().startswith("Traceback (most recent call last)"):
        return "log"
    if _share(_ASSIGNMENT, lines) >= 0.5 or _is_settings(lines):
        return "config"
    if _is_code(lines):
        return "code"
    is_heading = re.compile(_HEADING).match
    is_document = len(text) > _GUIDE_CHARACTERS and any(is_heading(line) for line in lines)
    return "guide" if is_document else ""


def is_diff(text: str) -> bool:
    """Whether `text` is a patch: by its header, by a hunk in it, or by many lines with + and -."""
    head = text[:_SAMPLE_CHARACTERS]
    if "\ndiff --git " in head or ("\n@@ -" in head and " @@" in head) or re.match(_DIFF_START, text):
        return True
    if "\n+" not in text or not ("\n-" in text or text.startswith("-")):
        return False
    lines = [line for line in head.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    # `- item` is a list, `-item` and `-    item` are lines of a diff.
    marks = [line[0] for line in lines if line[0] in "+-" and (line[1:2] != " " or line[1:3] == "  ")]
    return "+" in marks and "-" in marks and len(marks) * 2 >= len(lines)


def _sample(text: str) -> tuple[list[str], bool]:
    """The first lines that are not blank and not in a fence; and whether all of them were in one."""
    lines: list[str] = []
    in_fence = has_fence = False
    for line in text[:_SAMPLE_CHARACTERS].split("\n", _SAMPLE)[:_SAMPLE]:
        if line.lstrip().startswith(_FENCE):
            in_fence = not in_fence
            has_fence = True
        elif not in_fence and line and not line.isspace():
            lines.append(_bounded(line))
    return lines, has_fence and not lines


def _bounded(line: str) -> str:
    """`line` with one blank for its indentation, and its middle left out when it is long: the patterns above may take
    the square of a line's length."""
    bare = line.strip()
    if len(bare) > _MAX_LINE:
        bare = f"{bare[: _MAX_LINE // 2]}{bare[-_MAX_LINE // 2 :]}"
    return f" {bare}" if line[:1].isspace() else bare


def _share(pattern: re.Pattern[str], lines: Sequence[str]) -> float:
    return sum(1 for line in lines if pattern.match(line)) / len(lines) if lines else 0.0


def _is_settings(lines: Sequence[str]) -> bool:
    """Most lines are settings, and more than a list or one `Note: word` line."""
    is_comment, is_setting = re.compile(_COMMENT_LINE).match, re.compile(_SETTING).match
    relevant = [line for line in lines if not is_comment(line)]
    hits = [line for line in relevant if is_setting(line)]
    firm = [line for line in hits if not line.lstrip().startswith("- ")]
    return len(firm) >= 2 and len(hits) >= 0.8 * len(relevant)


def _is_code(lines: Sequence[str]) -> bool:
    """At least half of the lines that are no comments are code, and at least two."""
    if any(line.startswith("## ") for line in lines):
        return False
    is_comment, is_code = re.compile(_COMMENT_LINE).match, re.compile(_CODE).match
    relevant = [line for line in lines if not is_comment(line)]
    hits = sum(1 for line in relevant if is_code(line))
    return hits >= 2 and hits * 2 >= len(relevant)
