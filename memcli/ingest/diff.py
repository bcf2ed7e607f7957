"""Diff: what `git diff` prints, or `diff -u`, as edits of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from operator import lt

from memcli.errors import MemcliError, UsageError
from memcli.git.repository import Repository
from memcli.ingest.labels import readable
from memcli.ingest.patch import FileDiff, unquote
from memcli.model.edits import FileEdit, Line
from memcli.record import Record, field

MAX_BYTES = 256 << 20
"""A longer diff is not looked at: no one wrote it, and half of it would tell half the truth."""

_OPTIONS = (
    "--cached", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
)  # fmt: skip
# `@@ -1,2 +1,3 @@`; of a merge, one range more for each parent: `@@@ -1,2 -1,2 +1,3 @@@`.
_HUNK = re.compile(
    rb"(?P<sign>@{2,17}) (?P<old>(?:-\d{1,10}(?:,\d{1,10})? ){1,16})\+(?P<new>\d{1,10})(?:,(?P<size>\d{1,10}))? (?P=sign)"
)
_RANGE = re.compile(rb"-(\d+)(?:,(\d+))?")
_COMBINED = (b"diff --cc ", b"diff --combined ")
_PREFIX = re.compile(r"[abciow12]/")
_STORE = ".memory"


def staged_diff(repository: Repository) -> bytes:
    """What the next commit would change. Raises NotFoundError, ProviderError, UsageError."""
    return _bounded(repository.at_commit(), *_OPTIONS)


def changed_diff(repository: Repository, revision: str) -> bytes:
    """What was committed and staged since this branch left `revision`. Files that are not staged are not read: git
    would run the filters that the configuration names. Raises NotFoundError, ProviderError, UsageError."""
    commit = repository.resolve(revision)
    try:
        base = repository.run("merge-base", commit, "HEAD").strip()
    except MemcliError:  # none, or not in a shallow clone
        base = commit
    return _bounded(repository.at_commit(), *_OPTIONS, base)


def read_diff(data: bytes, where: str) -> list[FileEdit]:
    """The edits of a diff, of all files but those of a store. Raises UsageError for what is no diff."""
    sections = list(_sections(data.split(b"\n")))
    if not sections and data.strip():
        raise UsageError(f"{where} is no diff", "give what `git diff` prints")
    edits = (_edit(section) for section in sections)
    return [edit for edit in edits if edit.file and _STORE not in edit.file.split("/")]


def _bounded(repository: Repository, *options: str) -> bytes:
    # As text, whatever the attributes say: else a line in a .gitattributes would keep a file from being looked at.
    for as_text in (["--text"], []):
        blocks, size = [], 0
        for block in repository.stream("diff", *as_text, *options, "--"):
            blocks.append(block)
            size += len(block)
            if size > MAX_BYTES:
                break
        else:
            return b"".join(blocks)
    raise UsageError(f"the diff is longer than {MAX_BYTES >> 20} MiB", "look at less at once, with --diff FILE")


class _Section(Record, frozen=False):
    """The lines of one file: those before its first hunk, those from there on."""

    head: list[bytes] = field(default_factory=list)
    hunks: list[bytes] = field(default_factory=list)
    added: list[Line] = field(default_factory=list)
    removed: list[Line] = field(default_factory=list)


def _sections(lines: Sequence[bytes]) -> Iterator[_Section]:
    """The files of a diff; what stands before them, as the message of a commit, is passed over."""
    section: _Section | None = None
    at = 0
    while at < len(lines):
        line = lines[at]
        hunk = _HUNK.match(line) if section and section.head else None
        if line.startswith((b"diff --git ", *_COMBINED)) or _begins_plain(lines, at, section):
            if section:
                yield section
            section = _Section()
        if section and hunk:
            at = _take_hunk(section, lines, at, hunk)
            continue
        if section and section.head and line.startswith((b"@@ ", b"@@@")):
            raise _malformed(at)
        if section and not section.hunks:
            section.head.append(line.removesuffix(b"\r"))
        at += 1
    if section:
        yield section


def _begins_plain(lines: Sequence[bytes], at: int, section: _Section | None) -> bool:
    """Whether a file of `diff -u`, which prints no line of its own before the names, begins here."""
    if not lines[at].startswith(b"--- ") or not lines[at + 1 : at + 2] or not lines[at + 1].startswith(b"+++ "):
        return False
    return section is None or bool(section.hunks)


def _take_hunk(section: _Section, lines: Sequence[bytes], at: int, hunk: re.Match[bytes]) -> int:
    """Reads one hunk, as many lines as its head says; returns where it ends. Raises UsageError for one that has fewer, or
    more, or none that changes: what stands in it would not be looked at."""
    ranges = [(int(m[1]), int(m[1]) + int(m[2] or 1)) for m in _RANGE.finditer(hunk["old"])]
    columns, start = len(ranges), at
    olds, ends = [begin for begin, _ in ranges], [end for _, end in ranges]
    new = int(hunk["new"])
    new_end = new + int(hunk["size"] or 1)
    found = [b"@@ -0 +0 @@" + lines[at][hunk.end() :]]
    is_change = False
    at += 1
    while at < len(lines) and (new < new_end or any(map(lt, olds, ends))):
        signs, text = _signs(lines[at], columns), lines[at][columns:].removesuffix(b"\r")
        if signs is None:
            break
        at += 1
        if not signs:
            continue
        is_removed = b"-" in signs
        if is_removed:
            section.removed.append((olds[signs.index(b"-")], _text(text)))
        elif b"+" in signs:  # a merge brings it to one parent at least
            section.added.append((new, _text(text)))
        is_change |= bool(signs.strip())
        found.append((b"-" if is_removed else b"+" if b"+" in signs else b" ") + text)
        has = ord("-" if is_removed else " ")  # the sign of a parent that has the line
        olds = [number + (sign == has) for number, sign in zip(olds, signs, strict=True)]
        new += not is_removed
    is_whole = olds == ends and new == new_end and columns == len(hunk["sign"]) - 1
    if not is_whole or not is_change or (columns == 1 and _goes_on(lines[at : at + 1])):
        raise _malformed(start)
    section.hunks += found
    return at


def _signs(line: bytes, columns: int) -> bytes | None:
    """What stands before a line of a hunk, one sign for each parent; nothing for a remark of git's, None for what is no
    line of a hunk."""
    if line[:1] == b"\\" or (columns > 1 and line.strip() == b"\\ No newline at end of file"):
        return b""
    signs = line.removesuffix(b"\r")[:columns].ljust(columns)  # an empty line may have lost its blanks
    is_line = not signs.strip(b" +") or not signs.strip(b" -")
    return signs if is_line else None


def _malformed(at: int) -> UsageError:
    return UsageError(
        f"the hunk at line {at + 1} of the diff has other lines than its head says",
        "give what `git diff` prints, without colours or --word-diff, and whole",
    )


def _goes_on(after: Sequence[bytes]) -> bool:
    """Whether the line behind a hunk looks like one more of it. Mails end with `-- `, and a file begins with `--- `."""
    return any(line.startswith((b"+", b"-")) and not line.startswith((b"--- ", b"-- ", b"+++ ")) for line in after)


def _edit(section: _Section) -> FileEdit:
    was, file, is_deleted = _names(section.head)
    touched = FileDiff("modified", file, was, ("", ""), False, False, b"\n".join(section.hunks))
    return FileEdit(
        file=readable(file),
        was=readable(was),
        added=tuple(section.added),
        removed=tuple(section.removed),
        symbols=tuple(touched.symbols()),
        is_deleted=is_deleted,
    )


def _names(head: Sequence[bytes]) -> tuple[str, str, bool]:
    """The name before, the name now (the last one of a file that is deleted), and whether it is."""
    told = {key: line[len(key) :] for line in head[1:] for key in _NAMED if line.startswith(key)}
    told |= {key: line[len(key) :] for line in head[:1] for key in (b"--- ",) if line.startswith(key)}
    if b"rename to " in told or b"copy to " in told:
        was, now = (told.get(b"rename " + way, told.get(b"copy " + way, b"")) for way in (b"from ", b"to "))
        return _name(was), _name(now), False
    old, new = (_name(told.get(key, b"")) for key in (b"--- ", b"+++ "))
    first = _both(head[0]) if head and head[0].startswith(b"diff --git ") else (old, new)
    if not old and not new:  # binary, empty, or a change of mode: only the first line tells
        old, new = _both(head[0]) if head else ("", "")
    is_deleted = new == "/dev/null" or any(line.startswith(b"deleted file mode ") for line in head)
    # Prefixes of both sides differ; names that are alike have none.
    if first[0] != first[1] and all(name == "/dev/null" or _PREFIX.match(name) for name in (old, new)):
        old, new = (name if name == "/dev/null" else name[2:] for name in (old, new))
    old, new = (new if old == "/dev/null" else old), (old if new == "/dev/null" else new)
    return old, new, is_deleted


_NAMED = (b"rename from ", b"rename to ", b"copy from ", b"copy to ", b"--- ", b"+++ ")


def _both(line: bytes) -> tuple[str, str]:
    """The two names of `diff --git a/x b/x`, where nothing but their likeness says where one ends."""
    for beginning in _COMBINED:
        if line.startswith(beginning):
            name = _name(line[len(beginning) :])
            return name, name
    names = line.removeprefix(b"diff --git ")
    if quoted := _QUOTED.match(names):
        return _name(quoted[0]), _name(names[quoted.end() :].strip())
    middle = len(names) // 2
    return _name(names[:middle]), _name(names[middle + 1 :])


_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')


def _name(text: bytes) -> str:
    """A name as git prints it: with quotes, or with a tab (and for `diff -u` a date) behind it."""
    quoted = _QUOTED.match(text)
    return os.fsdecode(unquote(quoted[0]) if quoted else text.partition(b"\t")[0])


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").replace("\0", "\ufffd")
