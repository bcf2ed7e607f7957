"""What RE2 reads in place of patterns and texts of `re`: a looser pattern, and a text in ASCII."""

from __future__ import annotations

import re
from functools import lru_cache


class _StandIns(dict[int, str]):
    """For each character one of ASCII that is a letter, a digit, a blank or a sign, as it is."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isspace():
            found = char if char in "\t\n\f\r " else "\f"  # and not a space, which `[^ ]` would refuse
        elif char.isascii():
            found = char
        else:
            found = "0" if char.isdecimal() else "x" if char.isalnum() else ";"
        self[code] = found
        return found


_STAND_INS = _StandIns()
_OTHERS = "[^\t\n\f\r -~\x00-\x08\x0e-\x1b]+"


@lru_cache(8)  # one pattern after the other is tried on the same text
def in_ascii(text: str) -> bytes:
    r"""`text` such that `\b`, `\d`, `\s` and `\w` mean the same to RE2, which knows them for ASCII alone."""
    if not text.isascii() or any(blank in text for blank in "\v\x1c\x1d\x1e\x1f"):
        text = re.sub(_OTHERS, lambda run: run[0].translate(_STAND_INS), text)
    return text.encode()


_LOOK_BEHIND = r"\(\?<!(?:\\.|[^()\\\[])*\)"
_LOOK_AHEAD_FOR_NONE = r"\(\?!(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()\\\[])*\)"
_OPTIONAL_REPEAT = r"\{0,\d+\}\??"
_REPEAT = r"\{[1-9]\d*(?:,\d*)?\}\??"


def looser(pattern: str) -> str:
    """A pattern that RE2 takes, and runs as a small automaton, and that matches wherever `pattern` does: bounded
    repetitions are unbounded, what must follow is part of the match, what must not stand beside it is forgotten."""
    pattern = re.sub(_LOOK_BEHIND, "", pattern)
    pattern = re.sub(_LOOK_AHEAD_FOR_NONE, "", pattern)
    pattern = pattern.replace("(?=", "(?:")
    return re.sub(_REPEAT, "+", re.sub(_OPTIONAL_REPEAT, "*", pattern))
