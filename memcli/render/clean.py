"""Stored text made safe to print: without characters that move the cursor, hide or reverse text, and inert for a language
model. And its layout on a terminal: columns, wrapping, colours."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
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
from memcli.model.memory import Json
from memcli.regex import regex

# The marks of styles are private characters, which `clean` removes from stored text: a memory cannot style the output.
_FIRST_STYLE = 0xF0000
_STYLES = {"bold": "1", "dim": "2", "warning": "33", "error": "31", "plain": "0"}
_PAINT = {_FIRST_STYLE + n: f"\x1b[{code}m" for n, code in enumerate(_STYLES.values())}
_BARE = dict.fromkeys(_PAINT)
_LINE_ENDS = str.maketrans({"\r": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"})


def clean(text: str) -> str:
    """`text` in NFC without escape sequences, control, bidirectional and invisible characters, and the marks of `styled`.

    Line breaks and tabs stay, and joiners and selectors where emoji or scripts need them. Idempotent.
    """
    return clean_marked(text if text.isascii() else text.translate(_BARE))


def clean_marked(text: str) -> str:
    """Like `clean`, but the marks of `styled` stay: for a text that was built from clean parts."""
    if is_plain(text):
        return text if text.isascii() else unicodedata.normalize("NFC", text)

    text = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    before = ""
    while text != before:  # what goes may leave neighbours that are out of place, at most twice in a row
        before = text
        text = INVISIBLE().sub("", ESCAPE().sub("", text))
        text = text if text.isascii() else unicodedata.normalize("NFC", MISPLACED().sub("", text))
    return text


def clean_line(text: str) -> str:
    """Like `clean`, on one line."""
    return " ".join(clean(text).split())


def clean_value(value: Json) -> Json:
    """A JSON value whose strings and keys are cleaned by `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(name): clean_value(item) for name, item in value.items()}
    return [clean_value(item) for item in value] if isinstance(value, list | tuple) else value


def escape(text: str) -> str:
    """JSON `text` in which characters that `clean` removes, and chat template tokens, are written as `\\uXXXX`: equivalent
    JSON that is harmless on a terminal and for a model.
    """
    if "<|" not in text and "<｜" not in text and is_plain(text):
        return text

    def escaped(match: re.Match[str]) -> str:
        # JSON has no escape for a character beyond 16 bits: it is written as a surrogate pair.
        units = match[0].encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))

    return _unsafe().sub(escaped, text)


# Compiled on the first call, as MISPLACED is: plain text needs neither.
@cache
def _unsafe() -> re.Pattern[str]:
    return re.compile(f"[{CONTROLS}{DIRECTIONS}{BLANKS}{TAGS}{SURROGATES}]|<(?=[|｜])|{MISPLACED().pattern}")


_TAGS = (
    "memory memories system assistant human user developer instructions function_calls function_call function_results "
    "function_result function invoke parameter antml tool_calls tool_call tool_results tool_result tool_response "
    "tool_use tool_code system-reminder system_prompt system-prompt system_message system_instruction start_of_turn "
    "end_of_turn think thinking img image picture source video audio iframe script link object embed style svg base "
    "meta form"
).split()
_ROLES = "System|SYSTEM|system|Developer|DEVELOPER|Assistant|ASSISTANT|Human|HUMAN|User|USER"
_HINTS = (
    "<", "](", "![", "[/", "[INST", "[TOOL", "[SYS", "[AVAIL", "]:", "##", "ystem:", "STEM:", "per:", "PER:", "tant:", "TANT:",
    "man:", "MAN:", "ser:", "SER:", "prompt:", "message:", "*:", "_:",
)  # fmt: skip
"""One of these is in every text that `inert` changes: looking for them is quicker than the pattern."""


def inert(text: str) -> str:
    """`text` with a backslash in everything that a model or a Markdown viewer could act on: tags, chat template tokens, role
    names, images, links. Idempotent."""
    if not any(hint in text for hint in _HINTS):
        return text
    return _ACTING.sub(r"\g<0>\\", text)


_ACTING = regex(
    r"(?P<token><)(?=[|｜][\w▁ ]{1,60}[|｜]>|</?SYS>>)"
    # Longest first: an alternation takes the first that matches.
    rf"|(?P<tag><)(?=/?(?:[a-zA-Z]{{2,8}}:)?(?:{'|'.join(sorted(_TAGS, key=len, reverse=True))})(?![a-zA-Z]))"
    r"|(?P<bracket>\[)(?=/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|SYSTEM)\])"
    # A viewer fetches an image by itself, and its address can carry away what the model has read.
    r"|(?P<image>!)(?=\[)"
    r"|(?P<link>\])(?=\([ \t]*<?(?:[a-zA-Z][a-zA-Z+.-]{1,10}:)?//|\([ \t]*<?(?:data|javascript|vbscript):)"
    r"|(?P<reference>\])(?=:[ \t]*<?(?:[a-zA-Z][a-zA-Z+.-]{1,10}:)?//)"
    rf"|(?P<role>^[ \t>*_#]{{0,8}}(?:{_ROLES})(?: prompt| message)?[*_]{{0,3}})(?=:(?:\s|$|[*_]))"
    r"|(?P<alpaca>^[ \t>]{0,8}#{2,4})(?= ?(?:Instruction|Response|Input|System|Human|Assistant|User)s?[ ]?:)",
    re.MULTILINE,
)


coloured: ContextVar[str] = ContextVar("coloured", default="auto")
"""Whether standard output gets colours: `always`, `never`, or `auto`, for a terminal alone."""


def is_coloured() -> bool:
    """Whether the output has colours, by `--color`, else by NO_COLOR, CLICOLOR_FORCE and the terminal."""
    # The variables are those of other tools: no-color.org, and CLICOLOR_FORCE of the BSDs.
    if (wanted := coloured.get()) != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str) -> str:
    """`text` in one of the styles `bold`, `dim`, `warning` or `error`, between marks that `paint` replaces.

    Marks are private characters, not escape sequences, so that the text can still be cleaned as a whole.
    """
    if not text or not style or not is_coloured():
        return text
    names = list(_STYLES)
    return f"{chr(_FIRST_STYLE + names.index(style))}{text}{chr(_FIRST_STYLE + names.index('plain'))}"


def paint(text: str) -> str:
    """`text` with escape sequences in the place of the marks of `styled`."""
    return text.translate(_PAINT) if not text.isascii() else text


def terminal_width() -> int | None:
    """The columns of the terminal on standard output, at least 20; None if standard output is no terminal."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return max(_LEAST_WIDTH, shutil.get_terminal_size((80, 24)).columns)


def wrapped(line: str, width: int | None, indent: str = "", below: str | None = None) -> list[str]:
    """A line wrapped to `width` columns; without a width, one line. Following lines have the indent of the first, or `below`.

    A word that is longer than the line stays whole.
    """
    if width is None:
        return [f"{indent}{line}".rstrip()]
    import textwrap

    hanging = indent + " " * (len(line) - len(line.lstrip()))
    lines = textwrap.wrap(
        line, min(width, _WIDEST), initial_indent=indent, subsequent_indent=hanging if below is None else below,
        drop_whitespace=below is not None, replace_whitespace=False, break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return [one.rstrip() for one in lines] or [""]


def fitted(text: str, below: str | None = None) -> str:
    """The text with its lines `wrapped` to the terminal; unchanged where standard output is none."""
    width = terminal_width()
    return (
        text
        if width is None
        else "\n".join(part for line in text.split("\n") for part in wrapped(line, width, below=below))
    )


def age(then: str, now: str) -> str:
    """The time from `then` to `now` in one unit: `5m`, `3h`, `13d`, `2w`, `2y` (weeks from two on); `now` for less than a
    minute and for the future."""
    from datetime import datetime

    seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds()
    units = (("y", 365 * 86400), ("w", 7 * 86400), ("d", 86400), ("h", 3600), ("m", 60))
    return next(
        (f"{int(seconds // size)}{unit}" for unit, size in units if seconds >= size * (2 if unit == "w" else 1)), "now"
    )


_LEAST_WIDTH = 20
_WIDEST = 91
"""Columns of prose: longer lines are hard to read."""
_GAP = "  "
_LEAST_LAST = 24
_MOST_OTHER = 30


_WHOLE, _LEAST_TEXT = 16, 8


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """`rows` under `header`, aligned. On a terminal, or with `width`, long cells are truncated with `…`; otherwise they are complete."""
    cells = [[clean_line(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    width = terminal_width() if width is None else width
    if width is not None:
        widths = [min(max(_MOST_OTHER, width // 3), w) for w in widths]
        free = width - len(_GAP) * (len(widths) - 1)
        # Ids, kinds and dates are of no use in part: texts give way first, then the last column.
        words = [w <= _WHOLE and not any(" " in row[n] for row in cells[1:]) for n, w in enumerate(widths[:-1])]
        least = sum(w if is_word else min(w, _LEAST_TEXT) for w, is_word in zip(widths, words, strict=False))
        last = min(widths[-1], max(_LEAST_TEXT, min(_LEAST_LAST, free - least)))
        while len(widths) > 1 and sum(widths[:-1]) + last > free and max(widths[:-1]) > 1:
            texts = [n for n, is_word in enumerate(words) if not is_word and widths[n] > _LEAST_TEXT]
            widths[max(texts or range(len(words)), key=widths.__getitem__)] -= 1
        widths[-1] = max(last, free - sum(widths[:-1]))
    cells = [[cut(cell, w) for cell, w in zip(row, widths, strict=True)] for row in cells]
    lines = [_GAP.join(pad(cell, w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines)


def columns(text: str) -> int:
    """The display width of `text`: wide characters take two columns, combining ones none."""
    if text.isascii():
        return len(text)
    text = text.translate(_BARE)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """`text` truncated to `width` columns with `…`."""
    if columns(text) <= width:
        return text
    shown = ""
    for c in text:
        if columns(shown + c) >= width:
            break
        shown += c
    return shown.rstrip() + "…"


def pad(text: str, width: int) -> str:
    """`text` padded with spaces to `width` columns."""
    return text + " " * (width - columns(text))
