"""Anchors: references of a memory to code, and checks whether that code is still the same, by content and never by date."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from memcli.errors import NotFoundError, UsageError
from memcli.model.anchors import FRESH, GONE, MOVED, STALE, Checked
from memcli.model.memory import Json
from memcli.model.names import show
from memcli.record import NamedTuple

Lines = tuple[int, int]

MAX_FILE = 1_000
"""The longest path of a file, in characters."""
_MAX_SEARCHED = 32 << 20
"""The most bytes to hash in search of a moved block of lines."""
_MAX_SEARCHED_ELSEWHERE = 4 << 20
"""The same for each other file to which the block may have moved."""
_NEAR = 100_000
"""The most lines to hash until a block is found again; even long lines stay below _MAX_SEARCHED."""
_LINES = re.compile(r"(?P<file>.+):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?\Z", re.DOTALL)
_LEAF = re.compile(r"\w+")
_TELLING_LINES, _TELLING_CHARACTERS = 3, 60
"""A block with fewer lines and characters occurs in many files, so that finding it in another one is no evidence."""
# `git~1` is the short name of `.git` on NTFS, where case and trailing dots and blanks are ignored too.
_OFF_LIMITS = frozenset(["", ".git", "git~1", ".memory"])


class Anchor(NamedTuple):
    """A stored anchor, decoded."""

    file: str
    lines: Lines | None = None
    symbol: str = ""
    hash: str = ""


def parse(text: str) -> dict[str, Json]:
    """`FILE`, `FILE:a-b`, `FILE:a` or `FILE::symbol`, as fields of an anchor."""
    file, sign, symbol = text.partition("::")
    if sign:
        return {"file": file, "symbol": symbol}
    if match := _LINES.match(text):
        first = int(match["first"])
        return {"file": match["file"], "lines": [first, int(match["last"] or first)]}
    return {"file": text}


def read(stored: Json) -> Anchor | None:
    """The anchor in a stored JSON value; None for any other value."""
    if not isinstance(stored, Mapping):
        return None
    file, symbol, digest = (stored.get(name, "") for name in ("file", "symbol", "hash"))
    if not (file and isinstance(file, str) and isinstance(symbol, str) and isinstance(digest, str)):
        return None
    return Anchor(file, _range(stored.get("lines")), symbol, digest)


def is_inside(file: str) -> bool:
    """Whether `file` is a valid path from the root of a work tree, outside of .git and .memory."""
    parts = file.split("/")
    is_plain = file.isprintable() and len(file) <= MAX_FILE and "\\" not in file
    return is_plain and not any(part.lower().rstrip(". ") in _OFF_LIMITS for part in parts)


def make(given: Mapping[str, Json], text: str) -> dict[str, Json]:
    """The anchor to store: `given`, with its lines and their hash in `text`, the content of the file.

    Raises UsageError, and NotFoundError when the file has no such lines or symbol.
    """
    file, symbol = given["file"], given.get("symbol") or ""
    lines = _range(given.get("lines"))
    code = CodeLines(text)
    if "symbol" in given and not symbol:
        raise UsageError(f"no symbol after {show(file)}::", "use FILE::NAME, or FILE for the whole file")
    if symbol:
        found = _find(text, symbol, file)
        if not found:
            raise NotFoundError(
                f"{show(file)} does not define {show(symbol)}", "name a function or class, or lines: FILE:10-42"
            )
        lines = found[0]
    elif given.get("lines") is not None and lines is None:
        text_of_range = given["lines"]
        if isinstance(text_of_range, list | tuple):
            text_of_range = "-".join(map(str, text_of_range))
        raise UsageError(
            f"not a range of lines: {show(str(text_of_range))}", "use FILE:10-42; lines are counted from 1"
        )
    elif lines and lines[1] > code.size:
        raise NotFoundError(f"{show(file)} has {code.size} lines, not {lines[1]}", "name existing lines")
    return {"file": file, **_where(lines, symbol), "hash": code.hash(lines)}


def make_each(file: str, code: CodeLines, spans: Sequence[Lines]) -> list[dict[str, Json]]:
    """Anchors to blocks of lines, without empty lines around them; a block of all lines becomes an anchor to the file."""
    blocks = [block for span in spans if (block := code.trimmed(span)) is not None]
    whole = code.trimmed((1, code.size))
    found = (None if block == whole else block for block in blocks)
    return [{"file": file, **_where(lines, ""), "hash": code.hash(lines)} for lines in found]


def is_same_block(stored: Mapping[str, Json], made: Mapping[str, Json]) -> bool:
    """Whether a new anchor is to the same block of the same file as a stored one, and so near that `state` finds the block
    from the stored lines."""
    before, now = read(stored), read(made)
    if not before or not now or (before.file, before.hash, before.symbol) != (now.file, now.hash, now.symbol):
        return False
    if before.lines is None or now.lines is None:
        return before.lines == now.lines
    return abs(now.lines[0] - before.lines[0]) * (now.lines[1] - now.lines[0] + 1) <= _NEAR


def state(anchor: Anchor, code: CodeLines | None) -> Checked:
    """The state of an anchor. `code` is the content of its file, None for a missing file."""
    file, lines, symbol, digest = anchor
    if code is None:
        return Checked(file, lines, symbol, GONE)
    if lines is None and not symbol:
        return Checked(file, None, "", FRESH if digest in ("", code.hash(None)) else STALE)
    # A definition that grew below its stored lines still has their hash.
    if lines and code.holds(lines, digest) and not (symbol and code.goes_on(lines)):
        return Checked(file, lines, symbol, FRESH)
    if symbol:
        found = _find(code.text, symbol, file)
        if not found:
            return Checked(file, lines, symbol, GONE)
        same = [place for place in found if digest in ("", code.hash(place))]
        nearest = min(same or found, key=lambda place: abs(place[0] - (lines or place)[0]))
        return Checked(file, nearest, symbol, STALE if not same else FRESH if lines in (None, nearest) else MOVED)
    assert lines
    if not digest:  # a hand-written anchor without a hash: its content is unknown
        return Checked(file, lines, "", FRESH if lines[1] <= code.size else STALE)
    place = next(code.search(lines, digest), None)
    return Checked(file, place or lines, "", MOVED if place else STALE)


def state_elsewhere(anchor: Anchor, file: str, code: CodeLines, block: bytes | None = None) -> Checked | None:
    """The place in another file with exactly the anchored code; None when there is none, or the code is too short to be
    evidence.

    `block` is the anchored code, where it is known.
    """
    # Rules out nearly every file before a line is hashed.
    if block is not None and block not in code.bare:
        return None
    place: Lines | None
    if anchor.symbol:
        found = _find(code.text, anchor.symbol, file) if _leaf(anchor.symbol) in code.text else []
        place = next((lines for lines in found if code.hash(lines) == anchor.hash), None)
        return Checked(file, place, anchor.symbol, MOVED) if place else None
    if anchor.lines is None:
        place = (1, code.size) if code.hash(None) == anchor.hash else None
    elif block is not None:
        place = code.find(block)
    else:
        place = next(code.search(anchor.lines, anchor.hash, _MAX_SEARCHED_ELSEWHERE), None)
    if place is None or not code.is_telling(place):
        return None
    return Checked(file, place if anchor.lines else None, "", MOVED)


def block_of(anchor: Anchor, text: str | None) -> bytes | None:
    """The anchored code in `text`, an earlier content of the file; None when it is not in it."""
    code = CodeLines(text) if text is not None and anchor.hash else None
    lines = (anchor.lines or (1, code.size)) if code else (1, 0)
    return code.block(lines) if code and code.holds(lines, anchor.hash) else None


def symbol_elsewhere(anchor: Anchor, file: str, code: CodeLines) -> Checked | None:
    """The only definition of the anchor's symbol in another file, even if its content differs; None for none or several."""
    found = _find(code.text, anchor.symbol, file) if anchor.symbol and _leaf(anchor.symbol) in code.text else []
    return Checked(file, found[0], anchor.symbol, STALE) if len(found) == 1 else None


def renewed(stored: Mapping[str, Json], now: Checked, text: str) -> dict[str, Json] | None:
    """The anchor to store when a user accepts the current code; None when the code is gone."""
    code = CodeLines(text)
    if now.state == GONE or (now.lines and now.lines[0] > code.size):
        return None
    rest = {name: value for name, value in stored.items() if name not in ("lines", "hash", "commit")}
    lines = (now.lines[0], min(now.lines[1], code.size)) if now.lines else None
    return {**rest, "file": now.file, **_where(lines, now.symbol), "hash": code.hash(lines)}


def _where(lines: Lines | None, symbol: str) -> dict[str, Json]:
    return {**({"lines": list(lines)} if lines else {}), **({"symbol": symbol} if symbol else {})}


def _leaf(symbol: str) -> str:
    return _LEAF.findall(symbol)[-1] if _LEAF.search(symbol) else symbol


def _find(text: str, symbol: str, file: str) -> list[Lines]:
    from memcli.code.symbols import find_symbol

    return find_symbol(text, symbol, file)


def _range(value: Json) -> Lines | None:
    """A first and a last line, counted from 1; None for any other value."""
    is_pair = isinstance(value, list | tuple) and len(value) == 2 and all(type(n) is int for n in value)
    return (value[0], value[1]) if is_pair and 1 <= value[0] <= value[1] else None


class CodeLines:
    """The lines of a text. White space at their ends is ignored."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")
        if not self._lines[-1].strip():
            self._lines.pop()
        self.size = len(self._lines)

    @cached_property
    def bare(self) -> bytes:
        """All lines, without white space at their ends."""
        return b"".join(map(_bare, self._lines))

    def block(self, lines: Lines) -> bytes:
        """These lines, without white space at their ends."""
        return b"".join(map(_bare, self._lines[lines[0] - 1 : lines[1]]))

    def find(self, block: bytes) -> Lines | None:
        """The first place of the lines `block`; None when they do not occur."""
        at = 0 if self.bare.startswith(block) else self.bare.find(b"\n" + block) + 1
        if not block or (at == 0 and not self.bare.startswith(block)):
            return None
        first = self.bare.count(b"\n", 0, at) + 1
        return first, first + block.count(b"\n") - 1

    def hash(self, lines: Lines | None) -> str:
        """`sha256:<hex>` over these lines, or over all."""
        return _hash(self.block(lines or (1, self.size)))

    def holds(self, lines: Lines, digest: str) -> bool:
        """Whether these lines exist and have the hash."""
        return lines[1] <= self.size and self.hash(lines) == digest

    def goes_on(self, lines: Lines) -> bool:
        """Whether a definition on these lines may continue below: the next line with text is indented more than their first."""
        indent = _indent(self._lines[lines[0] - 1])
        after = next((line for line in self._lines[lines[1] :] if line.strip()), "")
        return bool(after) and _indent(after) > indent

    def search(self, lines: Lines, digest: str, room: int | None = None) -> Iterator[Lines]:
        """Blocks with as many lines and this hash, nearest first; hashes at most `room` bytes."""
        room = _MAX_SEARCHED if room is None else room
        bare = [_bare(line) for line in self._lines]
        data = memoryview(b"".join(bare))
        starts = list(accumulate(map(len, bare), initial=0))
        length = lines[1] - lines[0] + 1
        for first in sorted(range(1, self.size - length + 2), key=lambda n: (abs(n - lines[0]), n)):
            block = data[starts[first - 1] : starts[first - 1 + length]]
            room -= len(block)
            if room < 0:
                return
            if _hash(block) == digest:
                yield first, first + length - 1

    def is_telling(self, lines: Lines) -> bool:
        """Whether these lines are long enough to identify code."""
        bare = [line.strip() for line in self._lines[lines[0] - 1 : lines[1]] if line.strip()]
        return len(bare) >= _TELLING_LINES or sum(map(len, bare)) >= _TELLING_CHARACTERS

    def trimmed(self, lines: Lines) -> Lines | None:
        """These lines without empty ones at both ends; None when all are empty."""
        first, last = lines[0], min(lines[1], self.size)
        while first <= last and not self._lines[first - 1].strip():
            first += 1
        while last >= first and not self._lines[last - 1].strip():
            last -= 1
        return (first, last) if first <= last else None


def _hash(block: bytes | memoryview) -> str:
    import hashlib  # here, since it loads OpenSSL, and a recall seldom hashes a block

    return f"sha256:{hashlib.sha256(block).hexdigest()}"


def _bare(line: str) -> bytes:
    return line.rstrip().encode("utf-8", "surrogatepass") + b"\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
