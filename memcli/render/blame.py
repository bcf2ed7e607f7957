"""Render blame: which commit changed which field."""

from __future__ import annotations

from memcli.model.changes import Blame, Commit
from memcli.model.memory import Json
from memcli.render.clean import clean_line
from memcli.render.grid import grid

_SHORT = 10


def blame_text(found: Blame) -> str:
    """The memory, and the commit, date, author and subject of the last change of each field."""
    rows = [["added", *_cells(found.added)], *([name, *_cells(commit)] for name, commit in found.fields)]
    head = clean_line(f"{found.memory.path}  {found.memory.id}")
    return f"{head}\n{grid(['field', 'commit', 'date', 'author', 'subject'], rows)}"


def blame_json(found: Blame) -> dict[str, Json]:
    """The same as JSON; null if not committed yet."""
    return {
        "id": found.memory.id, "path": found.memory.path, "added": _json(found.added),
        "fields": {name: _json(commit) for name, commit in found.fields},
    }  # fmt: skip


def _cells(commit: Commit | None) -> list[str]:
    if commit is None:
        return ["", "", "", "not committed yet"]
    return [commit.hash[:_SHORT], commit.date[:10], commit.author, commit.subject]


def _json(commit: Commit | None) -> Json:
    if commit is None:
        return None
    return {"commit": commit.hash, "author": commit.author, "date": commit.date, "subject": commit.subject}
