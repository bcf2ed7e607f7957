"""Patches: parsers of `git diff` and `diff -u` into edits of files, and of a stream of `git log --raw -p` into commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from memcli.code.diff import BEGINNING, HUNK, DiffSection, as_name, names, read
from memcli.code.symbols import REACH, touched
from memcli.errors import MemcliError, UsageError
from memcli.model.anchors import FileEdit, Line
from memcli.model.names import readable
from memcli.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.git.repository import Repository

MAX_BYTES = 256 << 20
"""The most bytes of a diff. A longer one is refused, because a part of it would give an incomplete answer."""

_OPTIONS = (
    "--cached", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
)  # fmt: skip
_STORE = ".memory"
_UNMERGED = b"* Unmerged path "
"""The beginning of the line that git prints, in place of a diff, for a file in conflict."""
_FEW = 10_000
"""Up to so many changed lines of a file are decoded once and stored; more are decoded on each iteration."""


def change_diff(repository: Repository, revision: str | None = None) -> bytes:
    """The diff of the staged changes; with a `revision`, also of what was committed since this branch left it. Unstaged changes
    are left out, because git would run filters that the configuration names to read them. Raises NotFoundError,
    ProviderError, UsageError."""
    base = []
    if revision is not None:
        commit = repository.resolve(revision)
        try:
            base = [repository.run("merge-base", commit, "HEAD").strip()]
        except MemcliError:  # there is no common commit, or a shallow clone does not have it
            base = [commit]
    staged = repository.at_commit()
    # With --text, because an attribute in the repository could else hide a file from the check as binary. Without it where a
    # binary file makes the diff too long.
    for as_text in (["--text"], []):
        blocks, size = [], 0
        for block in staged.stream("diff", *as_text, *_OPTIONS, *base, "--"):
            blocks.append(block)
            size += len(block)
            if size > MAX_BYTES:
                break
        else:
            return b"".join(blocks)
    raise UsageError(f"the diff is longer than {MAX_BYTES >> 20} MiB", "split it, and use --diff FILE")


def read_diff(data: bytes, where: str) -> list[FileEdit]:
    """The edits in a diff, without those of a store's files. Raises UsageError for text that is not a diff."""
    before, sections = read(data, strict=True)
    if not sections and any(line.strip() and not line.startswith(_UNMERGED) for line in before):
        raise UsageError(f"{where} is not a diff", "use the output of `git diff`")
    edits = []
    for section in sections:
        found = names(section.head)
        file = readable(found.file)
        if not file or _STORE in file.split("/"):
            continue
        # A function of its own, so that its lines are freed before the rest of the diff is read.
        symbols = tuple(touched(_beginning(section), found.file))
        many = (_ManyLines(section, b"+"), _ManyLines(section, b"-"))
        added, removed = (lines if len(lines) > _FEW else tuple(lines) for lines in many)
        # The file of which a new one is a copy is not changed.
        is_copy = any(line.startswith(b"copy to ") for line in section.head)
        was = file if is_copy else readable(found.was)
        edits.append(FileEdit(file, was, added, removed, symbols, found.is_deleted))
    return edits


def _beginning(section: DiffSection) -> bytes:
    """The first lines of the hunks, at least REACH bytes if they have so many: `touched` reads no more."""
    lines, size = [], 0
    for line in chain.from_iterable(hunk.source() for hunk in section.hunks):
        lines.append(line)
        size += len(line) + 1
        if size > REACH:
            break
    return b"\n".join(lines)


class _ManyLines(Sequence[Line]):
    """The changed lines of a file with one sign, decoded on each iteration."""

    def __init__(self, section: DiffSection, sign: bytes) -> None:
        self._section = section
        self._sign = sign

    def __iter__(self) -> Iterator[Line]:
        for hunk in self._section.hunks:
            for number, text in hunk.having(self._sign):
                yield number, text.decode("utf-8", errors="replace").replace("\0", "\ufffd")

    def __len__(self) -> int:
        return sum(hunk.count(self._sign) for hunk in self._section.hunks)

    def __getitem__(self, n: Any) -> Any:
        return next(islice(self, n, None)) if isinstance(n, int) and n >= 0 else tuple(self)[n]


FORMAT = "--format=%x00%H%x00%P%x00%an%x00%aI%x00%cI%n%B%n%x00"
"""A commit begins with NUL at the beginning of a line, and a second such NUL ends its message. No message, file name or line of a
diff can forge one, since git prints these without NUL, or after a quote, a space or a sign."""

LINK, SUBMODULE = "120000", "160000"
"""The modes of a symbolic link and of a pointer to another repository."""
_MAX_MESSAGE = 16_384
# It cannot occur in hunks, whose lines begin with a space, a sign or @.
_BOUNDARY = re.compile(rb"\n(?=\x00|" + BEGINNING + rb")")
# What git takes for the function of a hunk may be one line of a key, which by itself is not known as one.
_NUMBERS = re.compile(rb"^" + HUNK.pattern + rb"(?: [0-9A-Za-z+/=]{24,}$)?", re.MULTILINE)
_NO_NEWLINE = re.compile(rb"\n\\ [^\n]*")
_STATUS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "retyped",
           "U": "conflict"}  # fmt: skip
_CONFLICT = "conflict"


class Commit(Record):
    """A commit. Times are in the format of git (%aI)."""

    hash: str
    parents: tuple[str, ...]
    author: str
    authored: str
    committed: str
    message: str


class FileDiff(Record):
    """The change of one file. Bytes of names that are not UTF-8 are surrogates."""

    status: str
    file: str
    was: str
    modes: tuple[str, str]
    is_same_content: bool
    is_binary: bool = False
    hunks: bytes = b""

    @property
    def added(self) -> int:
        """The number of added lines."""
        return self.hunks.count(b"\n+")

    @property
    def removed(self) -> int:
        """The number of removed lines."""
        return self.hunks.count(b"\n-")

    def lines(self, limit: int, width: int) -> tuple[list[str], int]:
        """The first lines of the hunks, without line numbers and cut to `width`, in at most `limit` characters, and the number
        of lines left out."""
        if not self.hunks:
            return [], 0
        found: list[str] = []
        size = 0
        # A huge hunk is decoded only this far. Lines that fit lie within it, unless many long ones are cut.
        reach = limit + 16 * width
        window = _text(_NO_NEWLINE.sub(b"", _NUMBERS.sub(b"@@", self.hunks[:reach]))).split("\n")
        if len(self.hunks) > reach and len(window[-1]) <= width:
            window.pop()
        for line in window:
            text = line.rstrip() if len(line) <= width else line[:width] + " ..."
            size += len(text) + 1
            if size > limit:
                break
            found.append(text)
        total = self.hunks.count(b"\n") + 1 - self.hunks.count(b"\n\\ ")
        return found, max(0, total - len(found))


def read_log(blocks: Iterable[bytes]) -> Iterator[tuple[Commit, Iterator[FileDiff]]]:
    """Yields each commit with its diffs, of which the rest is skipped when the next commit is read."""
    sections = _Sections(blocks)
    while (head := sections.take(b"\0")) is not None:
        # A line of a message may look like the beginning of a diff.
        while (more := sections.take(BEGINNING)) is not None:
            head = head if len(head) > _MAX_MESSAGE else head + b"\n" + more
        table = sections.take(b"\0") or b""
        facts, _, message = head.partition(b"\n")
        hash_, parents, author, authored, committed = (_text(field) for field in facts.split(b"\0")[1:6])
        text = _text(message[:_MAX_MESSAGE])
        diffs = _read_diffs(sections, _parse_table(table))
        yield Commit(hash_, tuple(parents.split()), author, authored, committed, text), diffs
        for _ in diffs:
            pass


def read_diffs(blocks: Iterable[bytes]) -> tuple[Iterator[FileDiff], int]:
    """The diffs of `git diff --raw -p`, and the number of files in conflict, for which git prints no diff."""
    sections = _Sections(blocks)
    rows = _parse_table(sections.take(b":") or b"")
    merged = [row for row in rows if row.status != _CONFLICT]
    return _read_diffs(sections, merged), len({row.was for row in rows}) - len({row.was for row in merged})


class _Sections:
    """The output in sections: a commit, its table of files, or the diff of a file. One section at a time is in memory."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._sections = _split(blocks)
        self._next = next(self._sections, None)

    def take(self, beginning: bytes) -> bytes | None:
        """Consumes and returns the next section if it has this beginning; else None."""
        section = self._next
        if section is None or not section.startswith(beginning):
            return None
        self._next = next(self._sections, None)
        return section


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        searched = max(0, len(rest) - 16)  # a boundary may begin in one block and end in the next
        rest += block
        start = 0
        for match in _BOUNDARY.finditer(rest, searched):
            yield rest[start : match.start()]
            start = match.end()
        rest = rest[start:]
    if rest:
        yield rest


def _read_diffs(sections: _Sections, rows: Sequence[FileDiff]) -> Iterator[FileDiff]:
    """The diffs of a commit: the rows of its table, each with the hunks in its section."""
    for row in rows:
        section = sections.take(BEGINNING)
        if section is None:
            return
        # A file that became a link is one row but two diffs: a deletion and an addition.
        if row.status == "retyped":
            sections.take(BEGINNING)
        head, found, body = section.partition(b"\n@@ ")
        body = body.partition(b"\n" + _UNMERGED)[0].removesuffix(b"\n")
        is_binary = not found and (b"\nBinary files " in head or b"\nGIT binary patch" in head)
        yield replace(row, is_binary=is_binary, hunks=b"@@ " + body if found else b"")
    while sections.take(BEGINNING) is not None:
        pass


def _parse_table(section: bytes) -> list[FileDiff]:
    """The table (`--raw`) before the diffs of a commit, as diffs without hunks."""
    rows = []
    for line in section.split(b"\n"):
        if line.startswith(b":"):
            facts, *names = line.split(b"\t")
            old_mode, new_mode, old_blob, new_blob, status = facts[1:].decode("ascii").split(" ")
            kind, was, file = _STATUS.get(status[0], "modified"), as_name(names[0]), as_name(names[-1])
            rows.append(FileDiff(kind, file, was, (old_mode, new_mode), old_blob == new_blob))
    return rows


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").replace("\0", "")
