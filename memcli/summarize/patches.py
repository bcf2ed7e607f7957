"""The definitions in source code, and the changes of a diff, for summaries."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memcli.code import diff as diffs
from memcli.code.diff import DiffSection, names
from memcli.code.symbols import DEFINITION, name_of
from memcli.model.names import readable
from memcli.model.shapes import OBSERVED
from memcli.record import Record, field
from memcli.summarize.sentences import Sentence, split

# Bounded, as for a quote that is never closed the rest of the text would be searched again and again.
_DOCSTRING = re.compile(r"(?:\"\"\"|''')(.{1,4000}?)(?:\"\"\"|''')|/\*\*?(.{1,4000}?)\*/", re.DOTALL)
_COMMENTS = re.compile(r"(?:^[ \t]*(?://[/!]?|#|--|;;+)(?!!)[^\n]*\n?)+", re.MULTILINE)
_COMMENT_MARK = re.compile(r"^[ \t]*(?:///?!?|#+|--+|;;+|\*)[ \t]?", re.MULTILINE)
_BOILERPLATE = re.compile(
    r"copyright|licen[sc]e|spdx|-\*-|eslint|pylint|noqa|type: ignore|generated|@ts-|prettier|vim:|\btodo\b|\bfixme\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A\s*(?:```|~~~)[^\n]*\n|\n(?:```|~~~)\s*\Z")


def read_code(text: str) -> tuple[dict[str, str], list[Sentence]]:
    """The public definitions in `text`, source code in any common language, in order, each with its form in a summary (`class
    Token`, `refresh()`); and the sentences of its first docstring or comment."""
    text = _FENCE.sub("", text)
    names: dict[str, str] = {}
    for match in DEFINITION.finditer(text):
        bare, shown = name_of(match)
        if bare and not bare.startswith("_"):
            names.setdefault(bare, shown)
        if len(names) >= 40:
            break
    comments = [*_DOCSTRING.finditer(text, 0, 20_000), *_COMMENTS.finditer(text, 0, 20_000)]
    for match in sorted(comments, key=lambda match: match.start())[:20]:
        words = (match.group(1) or match.group(2) or "") if match.re is _DOCSTRING else match[0]
        words = _COMMENT_MARK.sub("", words).strip()
        if len(words) > 8 and " " in words and not _BOILERPLATE.search(words[:300]):
            return names, split(words.partition("\n\n")[0], 8)
    return names, []


def name_in(line: str) -> str:
    """The name that a line defines, such as `refresh` for `def refresh(self):`; empty if none."""
    match = DEFINITION.match(line)
    return name_of(match)[0] if match else ""


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
    """The changes of one file in a diff."""

    path: str
    old: str = ""
    """The name before, if it is renamed."""
    verb: str = "Changes"
    added: int = 0
    removed: int = 0
    places: dict[str, None] = field(default_factory=dict)
    """The changed functions and classes, in order."""


_VERBS = {"added": "Adds", "deleted": "Deletes", "renamed": "Renames", "copied": "Copies"}


def stated_change(metadata: Mapping[str, object], provenance: Mapping[str, object]) -> FileChange | None:
    """The change of one file as git stated it to `ingest`, from the fields of the memory: its text is cut, and has no headers.
    None for a memory of several files, and for one that somebody stored."""
    source, was, places = metadata.get("source"), metadata.get("was"), metadata.get("functions")
    added, removed, files = metadata.get("added"), metadata.get("removed"), provenance.get("files")
    is_of_one = isinstance(files, list | tuple) and len(files) == 1 and provenance.get("source") == OBSERVED
    if not (is_of_one and isinstance(source, str) and type(added) is int and type(removed) is int):
        return None
    return FileChange(
        source,
        was if isinstance(was, str) and was != source else "",
        _VERBS.get(str(metadata.get("status")), "Changes"),
        added,
        removed,
        dict.fromkeys(map(str, places)) if isinstance(places, list | tuple) else {},
    )


def read_patch(text: str, source: str = "") -> tuple[str, list[FileChange]]:
    """The commit message and the changes of the diff `text`; `source` is the path of a file that the diff does not name."""
    before, sections = diffs.read(text.encode("utf-8", "replace"), strict=False)
    changes = [_change(section, source) for section in sections]
    messages = (_message(_text(line)) for line in before)
    return next(filter(None, messages), ""), [f for f in changes if f.path or f.added or f.removed]


def _change(section: DiffSection, source: str) -> FileChange:
    header = names(section.head)
    file = FileChange(readable(header.file) or (source if section.hunks else ""))
    if header.is_renamed:
        file.verb, file.old = "Renames", readable(header.was)
    elif header.is_new or header.is_deleted:
        file.verb = "Adds" if header.is_new else "Deletes"
    for hunk in section.hunks:
        # Git names the enclosing function or class after the numbers of a hunk's header.
        context = _text(hunk.context).strip()
        call = _CALL.search(context)
        _note(file, name_in(context) or (call[1] if call else ""))
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


def _message(line: str) -> str:
    """The subject in a line before the diff; empty for headers and blank lines."""
    subject = _SUBJECT.match(line)
    if subject:
        return subject[1].strip()
    line = line.strip()
    is_noise = not line or _HEADER.match(line) or line.startswith(_NOISE)
    return "" if is_noise else " ".join(line[:_MAX_LINE].split())
