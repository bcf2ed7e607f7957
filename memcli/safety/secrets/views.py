"""Views: other readings of a text in which a secret may stand whole, each with the way back to the text as it is.

`plain` is a text without escape sequences and invisible characters; `unescaped` has the escapes of URLs, JSON, HTML and
mail decoded and split literals joined; `joined` has lines joined at which a long word was wrapped. The last two hold
only what stands near such a place.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache

from memcli.model.characters import ESCAPE, INVISIBLE, JOINERS, SELECTORS
from memcli.record import Record
from memcli.regex import regex
from memcli.safety.patterns import BytesPattern, BytesPatterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEAR = 200
_FAR = 4096
_SHORT = 40_000
_LEAST_BLOB = 24
_GAP = b"\n\x00\n"
_FORMS = "\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\u2070-\u2079"
"""Letters in another form: full width, mathematical, in circles."""
_FORM = regex(f"[{_FORMS}]")
_TWINS = dict(zip("асԁеһіјӏоорԛѕухАВСЕНІЈКМОРЅТХοα", "acdehijloopqsyxABCEHIJKMOPSTXoa", strict=True))
"""Letters of other alphabets that look like those of ASCII; beside one of these they are meant to."""


Change = tuple[int, int, bytes]
"""The bytes from, to, and what stands for them."""
Part = tuple[bytes, int, int, bool]
"""What stands in a view for the bytes from, to, and whether it is these bytes themselves."""


class ViewPiece(Record):
    """A part of a view and the part of the text that it stands for, in bytes; equally long, or one for the other."""

    at: int
    start: int
    end: int
    is_literal: bool


class TextView:
    """A text to search, and where its parts come from: `data` in `windows`, with `changes`, both in order."""

    def __init__(self, data: bytes, changes: Sequence[Change], windows: Sequence[tuple[int, int]]) -> None:
        self._source = data, changes, windows
        self.text = b"".join([part[0] for part in _parts(*self._source)]).decode("utf-8", "replace")

    @cached_property
    def pieces(self) -> list[ViewPiece]:
        """The parts of the text, none empty; most texts hold nothing whose origin is asked for."""
        pieces, at = [], 0
        for part, start, end, is_literal in _parts(*self._source):
            if part:
                pieces.append(ViewPiece(at, start, end, is_literal))
                at += len(part)
        return pieces

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the text that those of the view at `start` to `end` stand for."""
        starts = [piece.at for piece in self.pieces]
        first, last = (self.pieces[bisect_right(starts, at) - 1] for at in (start, end - 1))
        begin = first.start + (start - first.at) if first.is_literal else first.start
        return begin, last.start + (end - last.at) if last.is_literal else last.end


_VISIBLE = bytes([*range(0x20, 0x7F), *b"\t\n\f\r"])
_UNSEEN = BytesPattern(r"[^ -~\t\n\f\r]")


def plain(text: str, data: bytes) -> TextView | None:
    """The text as it is seen; None where it is seen as it stands."""
    if _UNSEEN not in _tried(data):
        return None
    rest = data.translate(None, _VISIBLE)  # what is left of UTF-8 is UTF-8
    if not rest or not _maybe_hidden().search(rest.decode("utf-8", "surrogatepass")):
        return None
    changes, at, position = [], 0, 0
    for match in _hidden().finditer(text):
        at += _size(text[position : match.start()])
        hidden = match[0]
        shown = _TWINS.get(hidden)
        if shown is None:
            shown = unicodedata.normalize("NFKC", hidden) if _FORM.match(hidden) else ""
        changes.append((at, at + _size(hidden), shown.encode()))
        at, position = changes[-1][1], match.end()
    return TextView(data, changes, [(0, len(data))]) if changes else None


def unescaped(data: bytes) -> TextView | None:
    """What stands near escapes, decoded; None where there are none."""
    if _tried(data).isdisjoint((_ESCAPES, _SPLIT, _OPENED, _WORD_DIFF)):
        return None
    changes: list[Change] = []
    for change in sorted([*_decoded(data), *_split(data)]):
        if not changes or change[0] >= changes[-1][1]:
            changes.append(change)
    return TextView(data, changes, _windows(data, changes)) if changes else None


def joined(data: bytes) -> TextView | None:
    """What stands near line ends at which a long word was wrapped, without those; None where there are none."""
    spans = [match.span() for match in _matches(_WRAPPED, data)]
    changes = [(start + _BEFORE_WRAP, end - _AFTER_WRAP, b"") for start, end in spans]
    return TextView(data, changes, _windows(data, changes)) if changes else None


def blobs(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Words that are text in base 64 or hex: the bytes from, to, and the text."""
    if _tried(data).isdisjoint((_BASE64, _HEX, _DUMP)) or (
        len(data) < _SHORT and all(len(word) < _LEAST_BLOB for word in data.split()) and not re.search(_SPREAD, data)
    ):
        return
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for match in _matches(pattern, data):
            start, end = match.span(1)
            inner = decode(b"".join(data[start:end].split()))
            if inner is not None:
                yield start, end, inner
    for match in _matches(_DUMP, data):
        start, end = match.span(1)
        inner = _from_hex(b"".join(b"".join(line.split()) for line in re.findall(_DUMPED, data[start:end])))
        if inner:
            yield start + (data[start:end][:1] == b"\n"), end, inner


@cache
def _hidden() -> re.Pattern[str]:
    twins = "".join(_TWINS)
    return re.compile(
        f"{ESCAPE().pattern}|{INVISIBLE().pattern}|[{SELECTORS}{JOINERS}]|[{_FORMS}]|(?<=[A-Za-z])[{twins}]|[{twins}](?=[A-Za-z])"
    )


@cache
def _maybe_hidden() -> re.Pattern[str]:
    return re.compile(f"{_hidden().pattern}|[{''.join(_TWINS)}]")


_ESCAPES = BytesPattern(
    r"\\(?:0?33|x1[bB]|u001[bB]|e)\[[0-9;]{0,20}m|%(?:25)*[0-9A-Fa-f]{2}|\\{1,4}u00[0-7][0-9A-Fa-f]|\\{1,4}x[2-7][0-9A-Fa-f]|\\[01][0-7]{2}|&(?:amp;)*(?:[a-zA-Z]{2,8}|#[0-9]{2,5}|#[xX][0-9A-Fa-f]{2,4});"
    r"|\\[abefnrtv0][0-9A-Za-z_.-]{12}|=3[Dd]|=[CDE][0-9A-F](?:=[89AB][0-9A-F]){1,2}|=\r?\n",
    (b"\\", b"%", b"&", b"="),
)
_SPREAD = rb"(?:[0-9A-Fa-f]{2}[ :]){8}|[0-9A-Fa-f]{4}(?: [0-9A-Fa-f]{4}){4}"
_BLANKS = {ord(blank): " " for blank in "\t\n\r"}
_OPENED = BytesPattern(r"[=:][\t ]?(\([\t ]{0,4}\r?\n[\t ]{0,40})[brfu]?[\"']", (b"(",))
_WORD_DIFF = BytesPattern(r"(\[-)[^\s\[\]-][^\s\[\]]{3,80}(-\])", (b"[-",))
_SPLIT = BytesPattern(
    r"[0-9A-Za-z_+/=-]{4}([\"'][\t ]{0,4}(?:\\?\r?\n[\t ]{0,40})?[+.&]?[\t ]{0,4}(?:\\?\r?\n[\t ]{0,40})?[brfu]?[\"']|\\\r?\n[\t ]{0,40})[0-9A-Za-z_+/=-]{4}",
    (b'"', b"'", b"\\"),
)
_BEFORE_WRAP = 16
_AFTER_WRAP = 6
_WRAPPED = BytesPattern(
    rf"[0-9A-Za-z_+/=.-]{{{_BEFORE_WRAP}}}\r?\n[\t >#|*+]{{0,40}}[0-9A-Za-z_+/=.-]{{{_AFTER_WRAP}}}", (b"\n",)
)
_BASE64 = BytesPattern(
    r"(?:^|[^0-9A-Za-z+/_-])((?:[CDI-Za-f][0-9A-Za-z+/_-]{3}(?:\r?\n[\t ]{0,40})?){6,}(?:[CDI-Za-f][0-9A-Za-z+/_-]{1,2}={0,2})?)"
)
_HEX = BytesPattern(r"(?:^|[^0-9A-Za-z]|\b0[xX])((?:[2-7][0-9A-Fa-f][ :]?|0[aAdD9][ :]?){16,})(?:[^0-9A-Za-z]|$)")
_DUMP = BytesPattern(
    r"((?:(?:^|\n)[\t ]{0,8}[0-9A-Fa-f]{4,8}:?[\t ]{1,3}(?:[0-9A-Fa-f]{2,4}[\t ]{1,2}){1,16}[^\n]{0,40})+)",
    (b"00",),
)
_DUMPED = rb"(?m)^[\t ]*[0-9A-Fa-f]{4,8}:?[\t ]{1,3}((?:(?:[0-9A-Fa-f]{2}){1,2}[\t ]{1,2}){1,16})"
_TRACES = BytesPatterns([_UNSEEN, _ESCAPES, _OPENED, _WORD_DIFF, _SPLIT, _WRAPPED, _BASE64, _HEX, _DUMP])


@lru_cache(2)  # every kind of view asks for the same text
def _tried(data: bytes) -> frozenset[BytesPattern]:
    """The patterns that are worth trying on a text."""
    return _TRACES.within(data)


def _matches(pattern: BytesPattern, data: bytes) -> Iterator[Any]:
    return pattern.finditer(data) if pattern in _tried(data) else iter(())


def _decoded(data: bytes) -> Iterator[Change]:
    for match in _matches(_ESCAPES, data):
        start, end = match.span()
        escape = data[start:end]
        char = _character(escape)
        yield start, (start + 2 if char == b"\n" and escape[:1] == b"\\" else end), char


def _character(escape: bytes) -> bytes:
    """What an escape stands for."""
    if escape.endswith(b"m") and b"[" in escape:
        return b""
    if escape[:1] == b"&":
        # The character that HTML names; nothing for one that is not seen, the escape itself for a name of none.
        import html

        text = html.unescape(escape.replace(b"amp;", b"", escape.count(b"amp;") - (escape.count(b";") == 1)).decode())
        if text[:1] == "&" and len(text) > 1:
            return escape
        return b"" if INVISIBLE().match(text) else _ascii(ord(text)) if text.isascii() else text.encode()
    if escape[:1] == b"=" and len(escape) > len(b"=3D"):
        return bytes.fromhex(escape.replace(b"=", b"").decode())
    if escape[:1] in b"%=":
        return b"" if escape.endswith(b"\n") else _ascii(int(escape[-2:], 16))
    name = escape.lstrip(b"\\")
    if name[:1] in b"ux":
        return _ascii(int(name[1:], 16))
    return _ascii(int(name, 8)) if len(name) == len(b"075") and name.isdigit() else b"\n"


def _ascii(code: int) -> bytes:
    return bytes([code]) if code < 0x80 else b"?"


def _split(data: bytes) -> Iterator[Change]:
    for pattern in (_SPLIT, _OPENED):
        for match in _matches(pattern, data):
            yield *match.span(1), b""
    for match in _matches(_WORD_DIFF, data):
        yield *match.span(1), b""
        yield *match.span(2), b" "


def _windows(data: bytes, changes: Sequence[Change]) -> list[tuple[int, int]]:
    """The surroundings of the changes, none overlapping another, each to the end of a word."""
    found: list[tuple[int, int]] = []
    for start, end, _ in changes:
        begin = max(0, start - _NEAR)
        if found and begin <= found[-1][1]:
            begin = found.pop()[0]
        at = end + _NEAR
        blank = re.search(rb"\s", data[at : at + _FAR])
        found.append((begin, at + blank.start() if blank else min(len(data), at + _FAR)))
    return found


def _parts(data: bytes, changes: Sequence[Change], windows: Sequence[tuple[int, int]]) -> Iterator[Part]:
    """What a view of `data` is made of, some of it empty."""
    number = 0
    for n, (begin, end) in enumerate(windows):
        if n:
            yield _GAP, begin, begin, False
        position = begin
        while number < len(changes) and changes[number][0] < end:
            start, stop, char = changes[number]
            number += 1
            yield data[position:start], position, start, True
            yield char, start, stop, False
            position = stop
        yield data[position:end], position, end, True


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _from_base64(word: bytes) -> str | None:
    from base64 import b64decode, urlsafe_b64decode

    decode: Callable[[bytes], bytes] = urlsafe_b64decode if b"-" in word or b"_" in word else b64decode
    word = word.rstrip(b"=")
    try:
        return _printable(decode(word[: len(word) - (len(word) % 4 == 1)] + b"=" * (-len(word) % 4)))
    except (binascii.Error, ValueError):
        return None


def _from_hex(word: bytes) -> str | None:
    digits = word.replace(b":", b"").decode()
    return None if len(digits) % 2 else _printable(bytes.fromhex(digits))


def _printable(data: bytes) -> str | None:
    text = data.decode("ascii", "ignore")
    return text if len(text) == len(data) and text.translate(_BLANKS).isprintable() else None
