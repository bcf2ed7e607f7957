"""What a diff changes."""

from __future__ import annotations

import re

from memcli.record import Record, field
from memcli.summarize.definitions import name_in

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")
_GIT_NAMES = re.compile(r"diff --git \"?a/(.+?)\"? \"?b/(.+?)\"?\Z")
_CALL = re.compile(r"([A-Za-z_$][\w$.:]*)\s*\(")
_HEADER = re.compile(
    r"(?:commit|Author|AuthorDate|Date|Commit|CommitDate|From|Merge|Signed-off-by|Co-authored-by)\b:?\s"
)
_SUBJECT = re.compile(r"Subject:\s*(?:\[PATCH[^\]]*\]\s*)?(.+)")
_OUTSIDE = ("--- a/", "+++ b/", "--- /dev", "+++ /dev")
_SIGNATURE = "-- "
"""What mailers put under a patch."""
_MAX_LINE = 400
_NO_NAMES = frozenset(["if", "for", "while", "switch", "return", "catch", "else", "elif", "with", "match"])


class FileChange(Record, frozen=False):
    """What happens to one file."""

    path: str
    old: str = ""
    """The name before, when it is renamed."""
    verb: str = "Changes"
    added: int = 0
    removed: int = 0
    places: dict[str, None] = field(default_factory=dict)
    """The functions and classes touched, in order."""


class Patch(Record, frozen=False):
    message: str = ""
    files: list[FileChange] = field(default_factory=list)

    @property
    def added(self) -> int:
        return sum(f.added for f in self.files)

    @property
    def removed(self) -> int:
        return sum(f.removed for f in self.files)


def read(text: str, source: str = "") -> Patch:
    """What the diff `text` changes; `source` is its file when it does not name one itself."""
    patch = _Patcher(source).read(text)
    patch.files = [f for f in patch.files if f.path or f.added or f.removed]
    return patch


class _Patcher:
    """Goes over the lines of a diff."""

    def __init__(self, source: str) -> None:
        self._patch = Patch()
        self._source = source
        self._file: FileChange | None = None
        self._in_hunk = False
        self._has_headers = True

    def read(self, text: str) -> Patch:
        self._has_headers = "@@ -" in text or "diff --git " in text
        for line in text.split("\n"):
            mark = line[:1]
            if self._in_hunk and mark in ("+", "-") and not line.startswith(_OUTSIDE) and line != _SIGNATURE:
                self._count(mark, line)
            elif mark in ("d", "@", "-", "+", "n", "r", "I") and self._header(line):
                continue
            elif self._file is None and not self._patch.message:
                self._patch.message = _message(line)
        return self._patch

    def _count(self, mark: str, line: str) -> None:
        file = self._file or self._begin(self._source)
        if mark == "+":
            file.added += 1
        else:
            file.removed += 1
        if len(file.places) < 20:
            _note(file, name_in(line[1:_MAX_LINE]))

    def _begin(self, path: str) -> FileChange:
        self._file = FileChange(path)
        self._patch.files.append(self._file)
        return self._file

    def _header(self, line: str) -> bool:
        """Takes a line that is about files or hunks. False when it is neither."""
        line = line[:_MAX_LINE].rstrip("\r")
        if line == _SIGNATURE:
            self._in_hunk = False
        elif line.startswith("diff --git "):
            names = _GIT_NAMES.match(line)
            self._begin(names[2] if names else line[11:])
            self._in_hunk = False
        elif line.startswith("diff "):
            self._file, self._in_hunk = None, False
        elif hunk := _HUNK.match(line):
            file = self._file or self._begin(self._source)
            self._in_hunk = True
            _note(file, _place(hunk[1]))
        elif line.startswith(("--- ", "+++ ")):
            self._named(line)
        elif line.startswith("Index: "):
            self._begin(line[7:].strip())
            self._in_hunk = False
        elif self._file and line.startswith("new file mode"):
            self._file.verb = "Adds"
        elif self._file and line.startswith("rename from "):
            self._file.verb, self._file.old = "Renames", line[12:].strip()
        elif self._file and line.startswith("deleted file mode"):
            self._file.verb = "Deletes"
        elif line[0] in "+-" and not self._has_headers:
            # A fragment of a diff without headers.
            self._in_hunk = True
            self._count(line[0], line)
        else:
            return False
        return True

    def _named(self, line: str) -> None:
        """`--- a/old` and `+++ b/new`, as they stand in a diff that git did not make."""
        name = line[4:].partition("\t")[0].strip().strip('"')
        is_old = line[0] == "-"
        path = name[2:] if name[:2] in ("a/", "b/") else name
        if name == "/dev/null":
            if self._file and not is_old:
                self._file.verb = "Deletes"
            return
        if self._file is None or (is_old and (self._in_hunk or not self._file.path)):
            self._begin(path)
        elif self._file and not is_old and self._file.verb != "Renames":
            self._file.path = path
        self._in_hunk = False


def _note(file: FileChange, place: str) -> None:
    if place and place not in _NO_NAMES:
        file.places.setdefault(place)


def _place(context: str) -> str:
    """The function or class that a hunk header names after its numbers."""
    name = name_in(context)
    if name or not context.strip():
        return name
    call = _CALL.search(context)
    return call[1] if call else ""


def _message(line: str) -> str:
    """A line before the diff when it is the first of a commit message."""
    subject = _SUBJECT.match(line)
    if subject:
        return subject[1].strip()
    line = line.strip()
    is_noise = not line or _HEADER.match(line) or line.startswith(("index ", "```", "similarity ", "old mode", "#"))
    return "" if is_noise else " ".join(line[:_MAX_LINE].split())
