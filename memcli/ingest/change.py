"""Change: what a commit, or the index, did to a file, or a tiny commit to a few, as a candidate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.ingest.labels import memory_path, tags_of
from memcli.ingest.patch import Commit, FileDiff
from memcli.model.names import readable
from memcli.model.shapes import OBSERVED

MAX_TEXT = 6_000
MAX_LINE = 400
STAGED = "staged"
"""The folder, and the group, of the memories of what is staged and in no commit yet."""
_MAX_MESSAGE = 1_500
_MAX_SUBJECT = 200
_MAX_SYMBOLS = 20
_SHORT = 10
# `Signed-off-by: Ann <ann@example.org>` and its like are addresses, not what was done.
_CREDIT = re.compile(r"[A-Za-z-]+-by: .*|(Change-Id|Git-Svn-Id|git-svn-id): .*")


class Origin:
    """What is told of a commit in each of its memories. None stands for the index, which nobody has told of yet."""

    def __init__(self, commit: Commit | None) -> None:
        self.commit = commit

    @cached_property
    def message(self) -> str:
        """The message, its subject cut to a line, without credits and blank ends."""
        if self.commit is None:
            return ""
        lines = [line.rstrip() for line in self.commit.message.splitlines() if not _CREDIT.fullmatch(line.strip())]
        text = "\n".join(lines).strip()
        subject, newline, body = text.partition("\n")
        text = subject[:_MAX_SUBJECT] + newline + body
        return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE].rstrip() + " ..."

    @cached_property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @cached_property
    def created_at(self) -> str | None:
        """The author's date, or the committer's where that one is no date; None when neither is."""
        for moment in (self.commit.authored, self.commit.committed) if self.commit else ():
            try:
                return normalize_time(moment)
            except UsageError:
                continue
        return None

    def path(self, file: str) -> str:
        """Where the memory of the file's change stands."""
        return memory_path(file, "code", self.commit.hash[:_SHORT]) if self.commit else staged_path(file)


def staged_path(file: str) -> str:
    """Where the memory of what is staged of the file stands, until it is committed or no longer staged."""
    return memory_path(file, STAGED)


def candidate(origin: Origin, diffs: Sequence[FileDiff]) -> Mapping[str, object]:
    """The memory of one file's change, or of all of a tiny commit, which then stands by the file most changed."""
    main = max(diffs, key=lambda diff: diff.added + diff.removed)
    files = [readable(diff.file) for diff in diffs]
    symbols = list(dict.fromkeys(name for diff in diffs for name in diff.symbols()))[:_MAX_SYMBOLS]
    commit = origin.commit
    metadata: dict[str, object] = {
        "source": readable(main.file),
        "group": commit.hash if commit else STAGED,
        "status": main.status,
        "added": sum(diff.added for diff in diffs),
        "removed": sum(diff.removed for diff in diffs),
    }
    if commit:
        metadata["subject"] = origin.subject
        if author := "".join(c for c in commit.author if c.isprintable()).strip():
            metadata["author"] = author
    if main.was != main.file:
        metadata["was"] = readable(main.was)
    if symbols:
        metadata["functions"] = symbols
    provenance: dict[str, object] = {"source": OBSERVED, "files": files}
    fields: dict[str, object] = {
        "path": origin.path(main.file),
        "kind": "diff",
        "raw": _text(origin.message, diffs),
        "summary_micro": _summary(origin.subject or ("" if commit else "Staged"), main, files, symbols),
        "tags": tags_of(main.file),
        "metadata": metadata,
        "provenance": {**provenance, "commit": commit.hash} if commit else provenance,
    }
    if origin.created_at:
        fields["created_at"] = origin.created_at
    return fields


def _text(message: str, diffs: Sequence[FileDiff]) -> str:
    parts = [message, ""] if message else []
    room = MAX_TEXT - len(message)
    for diff in diffs:
        title = _title(diff)
        lines, left_out = diff.lines(room - len(title), MAX_LINE)
        if left_out:
            lines.append(f"({left_out} more {'line' if left_out == 1 else 'lines'} left out)")
        parts += [title, *lines]
        room -= len(title) + sum(map(len, lines))
    return "\n".join(parts)


def _title(diff: FileDiff) -> str:
    file = readable(diff.file)
    if diff.status in ("renamed", "copied"):
        return f"{readable(diff.was)} -> {file} ({diff.status})"
    return file if diff.status == "modified" else f"{file} ({diff.status})"


def _summary(subject: str, main: FileDiff, files: Sequence[str], symbols: Sequence[str]) -> str:
    """The subject, the file, and what in it: what a reader of a log would want on one line."""
    place = ", ".join(files)
    if symbols:
        place += f": {', '.join(symbols[:3])}"
    return f"{subject} ({place})" if subject else f"{main.status} {place}"
