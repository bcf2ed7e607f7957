"""Deceptive characters: they move the cursor of a terminal, are invisible, or reverse the direction of a line.

The patterns are compiled at the first use: plain ASCII never needs them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
BLANKS = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
"""Invisible characters: soft hyphens, joiners, fillers, annotations and noncharacters."""
TAGS = "\U000e0000-\U000e0fff"
"""Tags and the supplement of variation selectors, which can encode a whole text invisibly."""
SURROGATES = "\ud800-\udfff"
SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f"
JOINERS = "\u200c\u200d"

EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25aa-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
JOINED_SCRIPTS = (
    "\u0600-\u060b\u060d-\u061a\u0620-\u074f\u0750-\u07ff\u0800-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3"
    "\u17b6-\u17ff\u1800-\u180a\u1810-\u18af\u1a00-\u1cff\ua840-\ua8ff\ua930-\ua9ff\uaa00-\uaaff\uabc0-\uabff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
"""Scripts whose letters change their shape at a joiner."""
_PRINTABLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u180b\u180c\u180d\u180f\ufffc").union(
    map(chr, range(0xFE00, 0xFE10)), map(chr, range(0xE0100, 0xE01F0))
)
"""Invisible characters for which `str.isprintable` is True."""
VIRAMAS = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"


def is_plain(text: str) -> bool:
    """Whether `text` has none of the characters of this module. Fast; may return False for a harmless text."""
    shown = text.replace("\n", "").replace("\t", "")
    return shown.isprintable() and (shown.isascii() or _PRINTABLE.isdisjoint(shown))


_MARKS = ("Mn", "Mc", "Me")
"""The Unicode categories of marks, which belong to the character before them: accents, vowel signs, selectors."""
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
"""The modifiers for skin tones, which belong to the emoji before them."""
_JOINER = "\u200d"


def character_end(text: str, end: int, least: int = 0) -> int:
    """The place to cut `text`: `end`, or the start of the character (with its marks) that `end` falls into, but `end` where that
    character begins at or before `least`."""
    place = end
    while place > least:
        around = text[place - 1 : place + 1]
        is_mark = unicodedata.category(text[place]) in _MARKS or text[place] in _TONES
        if around.isascii() or not (is_mark or _JOINER in around):
            break
        place -= 1
    return place if place > least else end


@cache
def ESCAPE() -> re.Pattern[str]:  # noqa: N802 - a constant that is made when it is needed
    """Escape sequences of terminals, 7-bit and 8-bit. An unterminated string sequence extends to the end of its line."""
    return re.compile(
        r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
        # Among them OSC 52, which writes the clipboard, and OSC 8, which hides where a link leads.
        r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
        r"|\x1b[ -/]*[0-~]"  # two-character sequences
        r"|\x1b"
    )


@cache
def INVISIBLE() -> re.Pattern[str]:  # noqa: N802
    """Characters that printed text never contains, in any context; not tabs and line ends."""
    return re.compile(f"[{CONTROLS}{DIRECTIONS}{BLANKS}{TAGS}{SURROGATES}]")


@cache
def MISPLACED() -> re.Pattern[str]:  # noqa: N802
    """Variation selectors and joiners at places where no emoji and no script needs them."""
    joiner_stays = (
        f"(?<=[{JOINED_SCRIPTS}])[{JOINERS}](?=[{JOINED_SCRIPTS}])"
        f"|(?<=[{VIRAMAS}])[{JOINERS}](?![{JOINERS}{SELECTORS}])"
        f"|(?<=[{EMOJI}])\u200d(?=[{EMOJI}])"
        f"|(?<=[{EMOJI}]\ufe0f)\u200d(?=[{EMOJI}])"
    )
    selector_stays = (
        f"(?<=[{EMOJI}])[\ufe0e\ufe0f](?![{SELECTORS}])"
        "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
        f"|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f](?![{SELECTORS}])"
    )
    return re.compile(f"(?!{joiner_stays}|{selector_stays})[{JOINERS}{SELECTORS}]")


@cache
def SMUGGLED() -> re.Pattern[str]:  # noqa: N802
    """Invisible characters in numbers, or at places, that occur only in texts that hide something."""
    unseen = f"\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff{SELECTORS}"
    flag = "(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])"  # regional flags are a black flag and tags
    return re.compile(
        f"{flag}[{TAGS}]"
        f"|[{unseen}]{{3}}"
        "|[\u200b\u2060\ufeff][\u200b-\u200d\u2060-\u2064\ufeff]"
        "|[a-zA-Z][\u200b-\u200d\u2060-\u2064\ufeff\u180e][a-zA-Z]"
        "|[\u202d\u202e\u206a-\u206f\ufff9-\ufffb\u3164\u115f\u1160]"
        "|\U000e0001"
        "|(?:[^\u0590-\u08ff\ufb1d-\ufefc]|^)[\u202a\u202b\u2066-\u2068][ -~]"
    )
