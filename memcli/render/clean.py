"""Stored text made safe to show: nothing in it moves a cursor, hides, or turns the line around."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)"  # OSC, DCS, SOS, PM, APC with their text
    r"|\x1b[ -/]*[0-~]"  # the other escapes
    r"|\x9b[0-?]*[ -/]*[@-~]",  # CSI in one byte
    re.DOTALL,
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"  # invisible, bidi
    "\u115f\u1160\u3164\uffa0\ufff9-\ufffb"  # fillers, annotations
    "\ufe00-\ufe0e\U000e0100-\U000e01ef\U000e0000-\U000e007f"  # variation selectors but the emoji one, tags
    "\ud800-\udfff]"  # lone surrogates
)


def clean(text: str) -> str:
    """`text` without escape sequences, control, bidirectional and invisible characters; lines and tabs stay."""
    if text.isprintable() and text.isascii():
        return text
    return _HIDDEN.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def clean_line(text: str) -> str:
    """As `clean`, on one line."""
    return " ".join(clean(text).split())


def escape(text: str) -> str:
    """JSON `text` with what `clean` takes out written as `\\uXXXX`: the same JSON, harmless on a terminal."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
