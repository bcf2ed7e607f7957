"""Sanitize stored text for display: nothing in it can move the cursor, hide, or reverse the line."""

from __future__ import annotations

import re
from functools import cache

from memcli.model.characters import (
    BLANKS,
    CONTROLS,
    DIRECTIONS,
    ESCAPE,
    INVISIBLE,
    MISPLACED,
    SURROGATES,
    TAGS,
    is_plain,
)

_LINE_ENDS = str.maketrans({"\r": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"})


def clean(text: str) -> str:
    """`text` in NFC without escape sequences, control, bidirectional and invisible characters; line breaks and tabs stay.

    Joiners and selectors stay where emoji or scripts need them. Idempotent.
    """
    if is_plain(text):
        return text if text.isascii() else _composed(text)

    text = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    before = ""
    while text != before:  # what goes may leave neighbours that are out of place, at most twice in a row
        before = text
        text = INVISIBLE().sub("", ESCAPE().sub("", text))
        text = text if text.isascii() else _composed(MISPLACED().sub("", text))
    return text


def _composed(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text)


def clean_line(text: str) -> str:
    """Like `clean`, on one line."""
    return " ".join(clean(text).split())


def escape(text: str) -> str:
    """JSON `text` in which characters that `clean` removes, and chat template tokens, are written as `\\uXXXX`: equivalent
    JSON that is harmless on a terminal and for a model.
    """
    if "<|" not in text and "<｜" not in text and is_plain(text):
        return text
    return _unsafe().sub(_escaped, text)


@cache
def _unsafe() -> re.Pattern[str]:
    return re.compile(f"[{CONTROLS}{DIRECTIONS}{BLANKS}{TAGS}{SURROGATES}]|<(?=[|｜])|{MISPLACED().pattern}")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
