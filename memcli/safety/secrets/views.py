"""Views: transformed texts in which a hidden secret is whole, with a map from their offsets to those of the text.

`plain` has no escape sequences and invisible characters; `unescaped` has the escapes of URLs, JSON, HTML and mail decoded and
split string literals joined; `armoured` has the lines of a key below a header, where they have none; `joined` has lines joined
where a long word was wrapped. The last three have only the text near such places. `blobs` are words that encode a text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache

from memcli.model.characters import ESCAPE, INVISIBLE, JOINERS, SELECTORS
from memcli.regex import regex
from memcli.safety.patterns import BytesPattern, compiled, worth_trying

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEAR = 200
"""The number of bytes before and after a change that are part of a view."""
_FAR = 4096
"""The most bytes after these up to the end of a word."""
_SHORT = 40_000
"""In a text of fewer bytes, the length of all words is checked before encoded ones are searched."""
_LEAST_BLOB = 24
"""The least bytes of a word that may be an encoded text."""
_GAP = b"\n\x00\n"
_FORMS = "\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\u2070-\u2079"
"""Letters in another form: full width, mathematical, in circles."""
_FORM = regex(f"[{_FORMS}]")
_TWINS = dict(zip("асԁеһіјӏоорԛѕухАВСЕНІЈКМОРЅТХοα", "acdehijloopqsyxABCEHIJKMOPSTXoa", strict=True))
"""Letters of other alphabets that look like ASCII letters; beside one of those they are read as such."""


Change = tuple[int, int, bytes]
"""A range of bytes (start, end) and its replacement."""
Part = tuple[bytes, int, int, bool]
"""A part of a view, the range of bytes (start, end) that it stands for, and whether it is equal to them."""
ViewPiece = tuple[int, int, int, bool]
"""The offset of a part in its view, and the range of bytes and the flag as in a Part."""


class TextView:
    """A text to search with the origin of its parts: the `windows` of `data` with the `changes` applied, both in order."""

    def __init__(self, data: bytes, changes: Sequence[Change], windows: Sequence[tuple[int, int]]) -> None:
        self._source = data, changes, windows
        self.text = b"".join([part[0] for part in _parts(*self._source)]).decode("utf-8", "replace")

    @cached_property
    def pieces(self) -> list[ViewPiece]:
        """The parts of the text that are not empty; computed for a hit only, which most texts do not have."""
        pieces, at = [], 0
        for part, start, end, is_literal in _parts(*self._source):
            if part:
                pieces.append((at, start, end, is_literal))
                at += len(part)
        return pieces

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The range of bytes of the text for the range `start` to `end` of the view."""
        starts = [at for at, *_ in self.pieces]
        first, last = (self.pieces[bisect_right(starts, at) - 1] for at in (start, end - 1))
        at, begin, _, is_literal = first
        begin += start - at if is_literal else 0
        at, last_start, stop, is_literal = last
        return begin, last_start + (end - at) if is_literal else stop


_VISIBLE = bytes([*range(0x20, 0x7F), *b"\t\n\f\r"])
_TYPOGRAPHY = frozenset("–—‘’“”„…•→←✓✗")
_FIRST_MARK = "\u0300"
"""The first character after the Latin letters; below it all hidden characters are unprintable."""
_UNSEEN = BytesPattern(r"[^ -~\t\n\f\r]")


def plain(text: str, data: bytes) -> TextView | None:
    """The view of a text as it is displayed; None where it has no hidden characters."""
    if _UNSEEN not in _tried(data):
        return None
    rest = data.translate(None, _VISIBLE)  # without ASCII bytes UTF-8 stays valid
    unseen = set(rest.decode("utf-8", "surrogatepass")) - _TYPOGRAPHY
    # Western text has no more than accents and typography, and compiling the patterns takes longer than searching a page.
    if not unseen or (max(unseen) < _FIRST_MARK and "".join(unseen).isprintable()):
        return None
    pattern, loose = _hidden()
    if not loose.search("".join(unseen)):
        return None
    changes, at, position = [], 0, 0
    for match in pattern.finditer(text):
        at += _size(text[position : match.start()])
        hidden = match[0]
        shown = _TWINS.get(hidden)
        if shown is None:
            shown = unicodedata.normalize("NFKC", hidden) if _FORM.match(hidden) else ""
        changes.append((at, at + _size(hidden), shown.encode()))
        at, position = changes[-1][1], match.end()
    return TextView(data, changes, [(0, len(data))]) if changes else None


def unescaped(data: bytes) -> TextView | None:
    """The view of the text near escapes, decoded; None where there are none."""
    if _tried(data).isdisjoint((_ESCAPES, _SPLIT, _OPENED, _WORD_DIFF)):
        return None
    found: list[Change] = []
    for match in _matches(_ESCAPES, data):
        start, end = match.span()
        escape = data[start:end]
        char = _character(escape)
        found.append((start, start + 2 if char == b"\n" and escape[:1] == b"\\" else end, char))
    for pattern in (_SPLIT, _OPENED):
        found += [(*match.span(1), b"") for match in _matches(pattern, data)]
    for match in _matches(_WORD_DIFF, data):
        found += [(*match.span(1), b""), (*match.span(2), b" ")]
    changes: list[Change] = []
    for change in sorted(found):
        if not changes or change[0] >= changes[-1][1]:
            changes.append(change)
    return TextView(data, changes, _windows(data, changes)) if changes else None


def armoured(data: bytes) -> TextView | None:
    """The view of the lines of keys, one below the other under a header, without the signs and quotation marks around them; None
    where there are none. A hunk of a diff, a string in code or the end of a file may have a key without its first line."""
    # Most short texts have no word as long as a line, and the pattern takes milliseconds to compile.
    least = _LEAST_BLOB if _KEY_FOOTER in data else _KEY_LINE_LENGTH
    if len(data) < _SHORT and all(len(word) < least for word in data.split()):
        return None
    spans = [match.span(1) for match in _matches(_KEY_LINES, data)]
    keys = [span for span in spans if _may_be_of_a_key(data, *span)]
    if not keys:
        return None
    changes: list[Change] = []
    windows: list[tuple[int, int]] = []
    for (start, end), following in zip(keys, [*(start for start, _ in keys[1:]), len(data)], strict=True):
        changes.append((start, start, _KEY_HEADER))
        footer = data.find(_KEY_FOOTER, start, end)
        gaps = compiled(_BETWEEN_KEY_LINES).finditer(data, start, footer if footer >= 0 else end)
        changes += [(*gap.span(), b"\n") for gap in gaps]
        windows.append((start, min(end + _NEAR, following)))  # with the rest of a last line, which is shorter
    return TextView(data, changes, windows)


def _may_be_of_a_key(data: bytes, start: int, end: int) -> bool:
    """Whether the lines from `start` to `end` may be those of a private key: each full one has letters in both cases and digits,
    unlike names, paths, words and digests, and above them is no header of something else, such as a certificate or an image."""
    above = data[max(0, start - _HEADER) : start]
    begin = above.rfind(b"BEGIN ")
    if _IMAGE in above or (begin >= 0 and compiled(_OTHER_HEADER).match(above, begin)):
        return False
    lines = re.findall(_KEY_LINE, data[start:end])
    return all(re.search(sign, line) for line in lines for sign in _KEY_SIGNS)


def joined(data: bytes) -> TextView | None:
    """The view of the text near line ends within a long word, without these; None where there are none."""
    spans = [match.span() for match in _matches(_WRAPPED, data)]
    changes = [(start + _BEFORE_WRAP, end - _AFTER_WRAP, b"") for start, end in spans]
    return TextView(data, changes, _windows(data, changes)) if changes else None


def blobs(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yields words that encode text in base64 or hex: the range of bytes (start, end) and the text."""
    if _tried(data).isdisjoint((_BASE64, _HEX, _DUMP)):
        return
    if len(data) < _SHORT and all(len(word) < _LEAST_BLOB for word in data.split()):
        has_numerals = len(data.translate(None, _NUMERALS)) < len(data)  # as the hex of ASCII has in each byte
        if not has_numerals or not re.search(_SPREAD, data):
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
def _hidden() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The pattern of hidden characters, and a looser one of single characters, without regard to those beside them."""
    twins = "".join(_TWINS)
    exact = f"{ESCAPE().pattern}|{INVISIBLE().pattern}|[{SELECTORS}{JOINERS}]|[{_FORMS}]|(?<=[A-Za-z])[{twins}]|[{twins}](?=[A-Za-z])"
    return re.compile(exact), re.compile(f"{exact}|[{twins}]")


_ESCAPES = BytesPattern(
    r"\\(?:0?33|x1[bB]|u001[bB]|e)\[[0-9;]{0,20}m|%(?:25)*[0-9A-Fa-f]{2}|\\{1,4}u00[0-7][0-9A-Fa-f]|\\{1,4}x[2-7][0-9A-Fa-f]|\\[01][0-7]{2}|&(?:amp;)*(?:[a-zA-Z]{2,8}|#[0-9]{2,5}|#[xX][0-9A-Fa-f]{2,4});"
    r"|\\[abefnrtv0][0-9A-Za-z_.-]{12}|=3[Dd]|=[CDE][0-9A-F](?:=[89AB][0-9A-F]){1,2}|=\r?\n",
    (b"\\", b"%", b"&", b"="),
)
_SPREAD = rb"(?:[0-9A-Fa-f]{2}[ :]){8}|[0-9A-Fa-f]{4}(?: [0-9A-Fa-f]{4}){4}"
_NUMERALS = b"0123456789"
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
_KEY_HEADER, _KEY_FOOTER = b"-----BEGIN PRIVATE KEY-----\n", b"-----END "
_HEADER = 200
"""The number of bytes before the lines of a key in which a header is searched."""
_OTHER_HEADER = rb"BEGIN (?![A-Z0-9 ]{0,40}PRIVATE KEY)[A-Z0-9 ]{1,40}----"
_IMAGE = b";base64,"
_KEY_SIGNS = (b"[A-Z]", b"[a-z]", b"[0-9]", b"[G-Zg-z]")
_KEY_LINE_LENGTH = 60
"""The least bytes of a full line of a key."""
_KEY_LINE = rb"[0-9A-Za-z+/]{60,}"
_GAP_BETWEEN = (
    r"(?:[^0-9A-Za-z+/=\r\n][^0-9A-Za-z/=\r\n]{0,7})?(?:\\{1,4}[nr][^0-9A-Za-z+/=\r\n]{0,4}){0,2}\r?\n[^0-9A-Za-z/=\r\n]{0,40}(?:[brfu]{1,2}[\"'])?"
    r"|(?:\\{1,4}r)?\\{1,4}n"
)
_BETWEEN_KEY_LINES = _GAP_BETWEEN.encode()
_KEY_END = rf"(?:{_GAP_BETWEEN})(?:[0-9A-Za-z+/=]{{1,77}}(?:{_GAP_BETWEEN})){{0,3}}-----END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINES = BytesPattern(
    rf"(?:^|[^0-9A-Za-z/=])([0-9A-Za-z+/]{{60,77}}(?:(?:{_GAP_BETWEEN})[0-9A-Za-z+/]{{60,77}})+(?:{_KEY_END})?"
    rf"|[0-9A-Za-z+/]{{20,77}}={{0,2}}{_KEY_END})",
    (b"\n", b"\\n"),
)
# The code of a printable ASCII character, a tab or a line end begins with one of these letters.
_BASE64 = BytesPattern(
    r"(?:^|[^0-9A-Za-z+/_-])((?:[CDI-Za-f][0-9A-Za-z+/_-]{3}(?:\r?\n[\t ]{0,40})?){6,}(?:[CDI-Za-f][0-9A-Za-z+/_-]{1,2}={0,2})?)"
)
_HEX = BytesPattern(r"(?:^|[^0-9A-Za-z]|\b0[xX])((?:[2-7][0-9A-Fa-f][ :]?|0[aAdD9][ :]?){16,})(?:[^0-9A-Za-z]|$)")
_DUMP = BytesPattern(
    r"((?:(?:^|\n)[\t ]{0,8}[0-9A-Fa-f]{4,8}:?[\t ]{1,3}(?:[0-9A-Fa-f]{2,4}[\t ]{1,2}){1,16}[^\n]{0,40})+)",
    (b"00",),
)
_DUMPED = rb"(?m)^[\t ]*[0-9A-Fa-f]{4,8}:?[\t ]{1,3}((?:(?:[0-9A-Fa-f]{2}){1,2}[\t ]{1,2}){1,16})"
_TRACES = (_UNSEEN, _ESCAPES, _OPENED, _WORD_DIFF, _SPLIT, _KEY_LINES, _WRAPPED, _BASE64, _HEX, _DUMP)


@lru_cache(2)  # all views are made from the same text
def _tried(data: bytes) -> frozenset[BytesPattern]:
    """The patterns that may match the text."""
    return worth_trying(_TRACES, data)


def _matches(pattern: BytesPattern, data: bytes) -> Iterator[Any]:
    return pattern.finditer(data) if pattern in _tried(data) else iter(())


def _character(escape: bytes) -> bytes:
    """The character of an escape; empty for one that is not displayed."""
    if escape.endswith(b"m") and b"[" in escape:
        return b""
    if escape[:1] == b"&":
        # An unknown name in HTML is no escape, so it is returned unchanged.
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


def _windows(data: bytes, changes: Sequence[Change]) -> list[tuple[int, int]]:
    """The ranges of bytes around the changes, joined where they overlap, each up to the end of a word."""
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
    """The parts of a view of `data`, of which some may be empty."""
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
    except ValueError:
        return None


def _from_hex(word: bytes) -> str | None:
    digits = word.replace(b":", b"").decode()
    return None if len(digits) % 2 else _printable(bytes.fromhex(digits))


def _printable(data: bytes) -> str | None:
    text = data.decode("ascii", "ignore")
    return text if len(text) == len(data) and text.translate(_BLANKS).isprintable() else None
