"""A parser of the output of `git diff` and `diff -u` into files with their names and hunks.

It is strict where the caller must not miss a changed line, and lenient where a text only looks like a diff.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import lt

from memcli.errors import UsageError
from memcli.record import Record, field

BEGINNING = b"diff --git "
NO_FILE = "/dev/null"
SIGNATURE = b"-- "
"""The line that mailers add below a patch."""
_ENDS = (b"diff -", b"Index: ", b"--", b"@@")
"""The beginnings of lines that may end a hunk whose size is unknown."""

# `@@ -1,2 +1,3 @@`; of a merge, one range more for each parent: `@@@ -1,2 -1,2 +1,3 @@@`.
HUNK = re.compile(
    rb"(?P<sign>@{2,17}) (?P<old>(?:-\d{1,10}(?:,\d{1,10})? ){1,16})\+(?P<new>\d{1,10})(?:,(?P<size>\d{1,10}))? (?P=sign)"
)
_RANGE = re.compile(rb"-(\d+)(?:,(\d+))?")
_COMBINED = (b"diff --cc ", b"diff --combined ")
_OF_OTHERS = (b"diff -", b"Index: ")
_PREFIX = re.compile(r"[abciow12]/")
_NAMED = (b"rename from ", b"rename to ", b"copy from ", b"copy to ", b"--- ", b"+++ ")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_TWO_NAMES = re.compile(rb"a/(.+?) b/(.+)")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


_Line = tuple[bytes, int, bytes]


class Names(Record):
    """The names of a file before and after a change, equal for a new or deleted file. Bytes that are not UTF-8 are
    surrogates."""

    was: str
    file: str
    is_new: bool = False
    is_deleted: bool = False
    is_renamed: bool = False


class Hunk(Record):
    """One hunk: `context`, the text after its line numbers, and for each line its sign (space, plus or minus), its number in
    the old file if it is removed, else in the new one, and its text. Numbers are 0 in an incomplete hunk."""

    context: bytes
    lines: Iterable[_Line]

    def having(self, sign: bytes) -> Iterator[tuple[int, bytes]]:
        """Yields the number and the text of each line with this sign."""
        return ((number, text) for own, number, text in self.lines if own == sign)

    def count(self, sign: bytes) -> int:
        """The number of lines with this sign."""
        if isinstance(self.lines, _HunkWalk):
            return self.lines.counts.get(sign, 0)
        return sum(own == sign for own, _, _ in self.lines)

    def source(self) -> Iterator[bytes]:
        """The lines of the hunk as in a diff of one parent, with zeros for its line numbers."""
        yield b"@@ -0 +0 @@" + self.context
        yield from (sign + text for sign, _, text in self.lines)


class DiffSection(Record, frozen=False):
    """The part of a diff about one file: the lines before its first hunk, and its hunks."""

    head: list[bytes] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)


def read(data: bytes, *, strict: bool) -> tuple[list[bytes], list[DiffSection]]:
    """The lines before a diff, such as the message of a commit, and the files of the diff.

    With `strict`, raises UsageError for a hunk whose lines do not match its header, since some of them would be missed.
    Otherwise such a hunk extends as far as its lines look like one, and a fragment may have no headers at all.
    """
    reader = _DiffReader(data, strict=strict)
    at = 0
    while at < len(reader.lines):
        at = reader.take(at)
    return reader.before, reader.files


def names(head: Sequence[bytes]) -> Names:
    """The names of a file, from the lines before its first hunk."""
    first = head[0] if head else b""
    fields = {key: line[len(key) :] for line in head[1:] for key in _NAMED if line.startswith(key)}
    if first.startswith(b"--- "):
        fields[b"--- "] = first[4:]
    for way in (b"rename ", b"copy "):
        if way + b"to " in fields:
            was, now = (_name(fields.get(way + end, b"")) for end in (b"from ", b"to "))
            return Names(was, now, is_renamed=way == b"rename ")
    both = _both(first)
    # For a binary or an empty file, or a change of mode, only the first line has names.
    old, new = (_name(fields.get(key, b"")) or name for key, name in zip((b"--- ", b"+++ "), both, strict=True))
    known = both if first.startswith(BEGINNING) else (old, new)
    is_new = old == NO_FILE or any(line.startswith(b"new file mode ") for line in head)
    is_deleted = new == NO_FILE or any(line.startswith(b"deleted file mode ") for line in head)
    # The prefixes of the two sides differ, so equal names have none.
    if known[0] != known[1] and all(name == NO_FILE or _PREFIX.match(name) for name in (old, new)):
        old, new = (name if name == NO_FILE else name[2:] for name in (old, new))
    return Names(new if old == NO_FILE else old, old if new == NO_FILE else new, is_new, is_deleted)


def as_name(name: bytes) -> str:
    """The name of a file as git prints it, without its C-style quoting; bytes that are not UTF-8 become surrogates."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescape, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


class _DiffReader:
    """Reads the lines of a diff once, in order."""

    def __init__(self, data: bytes, *, strict: bool) -> None:
        self.lines = _Lines(data)
        self._strict = strict
        self._has_heads = strict or b"@@ -" in data or BEGINNING in data
        self.before: list[bytes] = []
        self.files: list[DiffSection] = []

    def take(self, at: int) -> int:
        """Reads the line at `at`, or the hunk that begins there; returns the index of the next line."""
        line = self.lines[at]
        if self._begins_file(at):
            self.files.append(DiffSection())
        section = self.files[-1] if self.files else None
        hunk = HUNK.match(line)
        if hunk and (section or not self._strict):
            return self._take_hunk(at, hunk)
        if section and self._strict and line.startswith((b"@@ ", b"@@@")):
            raise _malformed(at)
        if not self._has_heads and not self._begins_names(at):
            is_name = line.startswith((b"--- ", b"+++ ")) and section is not None and not section.hunks
            if line.startswith((b"+", b"-")) and line.removesuffix(b"\r") != SIGNATURE and not is_name:
                return self._take_loose(at, 1, b"")
        if section is None:
            self.before.append(line)
        elif not section.hunks:
            section.head.append(line.removesuffix(b"\r"))
        return at + 1

    def _begins_file(self, at: int) -> bool:
        if self.lines[at].startswith((BEGINNING, *_COMBINED, *(() if self._strict else _OF_OTHERS))):
            return True
        # `diff -u` prints no line before the two names.
        return self._begins_names(at) and (not self.files or bool(self.files[-1].hunks))

    def _begins_names(self, at: int) -> bool:
        if not self.lines[at].startswith(b"--- ") or at + 1 == len(self.lines):
            return False
        return self.lines[at + 1].startswith(b"+++ ")

    def _take_hunk(self, at: int, head: re.Match[bytes]) -> int:
        """Reads the hunk whose header is at `at`. One whose lines do not match the header, or that changes nothing, is read
        leniently, or with `strict` raises UsageError."""
        columns = len(_RANGE.findall(head["old"]))
        context = self.lines[at][head.end() :]
        walk = _HunkWalk(self.lines, at + 1, head)
        walk.counts = Counter(sign for sign, _, _ in walk)
        # A further line of a hunk after its end shows a wrong header; mails end with `-- `, a file begins with `--- `.
        after = self.lines[walk.end] if walk.end < len(self.lines) else b""
        if self._strict:
            goes_on = columns == 1 and after.startswith((b"+", b"-"))
            goes_on = goes_on and not after.startswith((b"--- ", SIGNATURE, b"+++ "))
        else:
            goes_on = after.startswith((b" ", b"+", b"-")) and not self._ends_hunk(walk.end)
        if walk.is_whole and walk.counts.keys() - {b" "} and not goes_on:
            return self._add(Hunk(context, walk), walk.end)
        if self._strict:
            raise _malformed(at)
        return self._take_loose(at + 1, columns, context)

    def _take_loose(self, at: int, columns: int, context: bytes) -> int:
        """Reads a hunk with a missing or wrong header, up to a line that begins something else."""
        lines: list[_Line] = []
        count = len(self.lines)
        while at < count:
            line = self.lines[at]
            # The first test rules out nearly every line of a long text without headers; the second is slow.
            if line.startswith(_ENDS) and self._ends_hunk(at):
                break
            line = line.removesuffix(b"\r")
            signs = line[:columns]
            lines.append((b"-" if b"-" in signs else b"+" if b"+" in signs else b" ", 0, line[columns:]))
            at += 1
        return self._add(Hunk(context, lines), at)

    def _ends_hunk(self, at: int) -> bool:
        line = self.lines[at]
        is_other = self._begins_file(at) or self._begins_names(at) or line.removesuffix(b"\r") == SIGNATURE
        return is_other or HUNK.match(line) is not None

    def _add(self, hunk: Hunk, end: int) -> int:
        if not self.files:
            self.files.append(DiffSection())
        self.files[-1].hunks.append(hunk)
        return end


class _Lines:
    """The lines of a diff. Beside its bytes only the offsets of lines are in memory: as objects they would take 12 times the size."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = array("Q", chain([0], (match.end() for match in re.finditer(rb"\n", data)), [len(data) + 1]))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, n: int) -> bytes:
        return self._data[self._starts[n] : self._starts[n + 1] - 1]


class _HunkWalk:
    """The lines of a hunk according to its header, decoded on each iteration. After one, `end` is the index of the line after
    the hunk, and `is_whole` is whether the hunk has the lines that its header states."""

    def __init__(self, lines: _Lines, at: int, head: re.Match[bytes]) -> None:
        self._lines, self._at, self._head = lines, at, head
        self.end = at
        self.is_whole = False
        self.counts: Mapping[bytes, int] = {}

    def __iter__(self) -> Iterator[_Line]:
        lines, at, head = self._lines, self._at, self._head
        ranges = [(int(m[1]), int(m[1]) + int(m[2] or 1)) for m in _RANGE.finditer(head["old"])]
        olds, ends = [begin for begin, _ in ranges], [end for _, end in ranges]
        new = int(head["new"])
        new_end = new + int(head["size"] or 1)
        columns = len(ranges)
        while at < len(lines) and (new < new_end or any(map(lt, olds, ends))):
            line = lines[at]
            signs, text = _signs(line, columns), line[columns:].removesuffix(b"\r")
            if signs is None:
                break
            at += 1
            if not signs:
                continue
            is_removed = b"-" in signs
            # In a merge, a line with a plus is new to at least one parent.
            sign = b"-" if is_removed else b"+" if b"+" in signs else b" "
            yield sign, olds[signs.index(b"-")] if is_removed else new, text
            has = ord("-" if is_removed else " ")  # the sign of a parent that has the line
            olds = [number + (own == has) for number, own in zip(olds, signs, strict=True)]
            new += not is_removed
        self.end = at
        self.is_whole = olds == ends and new == new_end and columns == len(head["sign"]) - 1


def _signs(line: bytes, columns: int) -> bytes | None:
    """The signs before a line of a hunk, one for each parent; empty for a remark of git, None for a line of no hunk."""
    if line[:1] == b"\\" or (columns > 1 and line.strip() == b"\\ No newline at end of file"):
        return b""
    signs = line.removesuffix(b"\r")[:columns].ljust(columns)  # editors strip the blanks of an empty line
    is_line = not signs.strip(b" +") or not signs.strip(b" -")
    return signs if is_line else None


def _malformed(at: int) -> UsageError:
    return UsageError(
        f"the hunk at line {at + 1} of the diff does not match its header",
        "use the complete output of `git diff`, without colors or --word-diff",
    )


def _both(line: bytes) -> tuple[str, str]:
    """The two names in `diff --git a/x b/x`. Names may have spaces, so the line is split where both halves are alike."""
    for beginning in (*_COMBINED, b"Index: "):
        if line.startswith(beginning):
            name = _name(line[len(beginning) :].strip())
            return name, name
    if not line.startswith(BEGINNING):
        return "", ""
    line = line.removeprefix(BEGINNING)
    if quoted := _QUOTED.match(line):
        return _name(quoted[0]), _name(line[quoted.end() :].strip())
    middle = len(line) // 2
    if line[middle : middle + 1] != b" " and (two := _TWO_NAMES.fullmatch(line)):
        return _name(b"a/" + two[1]), _name(b"b/" + two[2])
    return _name(line[:middle]), _name(line[middle + 1 :])


def _name(text: bytes) -> str:
    """A name as git prints it: quoted, or followed by a tab (and by a date from `diff -u`)."""
    quoted = _QUOTED.match(text)
    return as_name(quoted[0] if quoted else text.partition(b"\t")[0])


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)
