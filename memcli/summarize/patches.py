"""What a diff changes."""

from __future__ import annotations

import re

from memcli.code import diff as diffs
from memcli.code.diff import Section, names
from memcli.model.names import readable
from memcli.record import Record, field
from memcli.summarize.definitions import name_in

_CALL = re.compile(r"([A-Za-z_$][\w$.:]*)\s*\(")
_HEADER = re.compile(
    r"(?:commit|Author|AuthorDate|Date|Commit|CommitDate|From|Merge|Signed-off-by|Co-authored-by)\b:?\s"
)
_SUBJECT = re.compile(r"Subject:\s*(?:\[PATCH[^\]]*\]\s*)?(.+)")
_NOISE = ("index ", "```", "similarity ", "old mode", "new file mode", "#", "--- ", "+++ ", "@@ ", "rename ")
_MAX_LINE = 400
_MAX_PLACES = 20
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
    diff = diffs.read(text.encode("utf-8", "replace"), strict=False)
    changes = [_change(section, source) for section in diff.files]
    messages = (_message(_text(line)) for line in diff.before)
    return Patch(next(filter(None, messages), ""), [f for f in changes if f.path or f.added or f.removed])


def _change(section: Section, source: str) -> FileChange:
    told = names(section.head)
    file = FileChange(readable(told.file) or (source if section.hunks else ""))
    if told.is_renamed:
        file.verb, file.old = "Renames", readable(told.was)
    elif told.is_new or told.is_deleted:
        file.verb = "Adds" if told.is_new else "Deletes"
    for hunk in section.hunks:
        _note(file, _place(_text(hunk.context).strip()))
        for sign, _, line in hunk.lines:
            file.added += sign == b"+"
            file.removed += sign == b"-"
            if sign != b" " and len(file.places) < _MAX_PLACES:
                _note(file, name_in(_text(line)))
    return file


def _text(line: bytes) -> str:
    return line[: 4 * _MAX_LINE].decode("utf-8", "replace")[:_MAX_LINE]


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
    is_noise = not line or _HEADER.match(line) or line.startswith(_NOISE)
    return "" if is_noise else " ".join(line[:_MAX_LINE].split())
