"""Staleness: what recall says of memories whose code is no longer what it was, and how far they fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memcli.app.anchors import MAX_LOOKED_AT, Checker, LoadCode, anchors_of
from memcli.model.recall import ANCHOR, Query, Rows, Section
from memcli.ports import SpaceView

_MAX_FOLLOWED = 200
"""How many anchored memories are looked for elsewhere at most: those that were stored last."""
DOUBTFUL_SHARE = 0.5
"""What of its score is left to a memory with an anchor that is stale or gone."""


def with_anchors(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> tuple[Section, ...]:
    """The sections with the state of their anchors; `code` gives the files of each space.

    Doubtful ones fall behind all that now score more, unless somebody pinned them.
    """
    checked = _checked(sections, code)
    for n in range(len(checked) - 1, -1, -1):
        if checked[n].is_doubtful and not checked[n].memory.pinned:
            after = [m for m in range(n + 1, len(checked)) if checked[m].score > checked[n].score]
            checked.insert(max(after, default=n), checked.pop(n))
    return tuple(checked)


def find_moved_leads(query: Query, view: SpaceView, visible: Rows, load_code: LoadCode) -> dict[int, str]:
    """The rows anchored in other files whose code is now, as git and its content show, where the change is made."""
    edits = query.edits or ()
    changed = {name for edit in edits for name in (edit.file, edit.was)}
    endings = {name.rpartition(".")[2] for name in changed}
    files = [name for name in view.anchored_files() if name not in changed and name.rpartition(".")[2] in endings]
    rows = sorted(row for row in view.anchors(files) if row in visible)[-_MAX_FOLLOWED:] if files else []
    reader = load_code() if rows else None
    if reader is None:
        return {}
    checker = Checker(reader, MAX_LOOKED_AT)
    elsewhere = frozenset(files)
    found = {}
    for row, memory in zip(rows, view.fetch(rows), strict=True):
        for _, anchor, commit in anchors_of(memory):
            if anchor.file not in elsewhere or checker.is_spent:
                continue
            now = checker.check(anchor, commit)
            if now.file in changed and any(edit.touches(now.file, *(now.lines or ())) for edit in edits):
                found[row] = ANCHOR
    return found


def _checked(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> list[Section]:
    checkers: dict[LoadCode, Checker | None] = {}
    checked = []
    for section in sections:
        found = []
        load = code[section.space]
        for _, anchor, commit in anchors_of(section.memory):
            if load not in checkers:
                reader = load()
                checkers[load] = Checker(reader, MAX_LOOKED_AT) if reader else None
            checker = checkers[load]
            if checker is None or checker.is_spent:
                break
            found.append(checker.check(anchor, commit))
        checked.append(_lowered(replace(section, anchors=tuple(found))) if found else section)
    return checked


def _lowered(section: Section) -> Section:
    if not section.is_doubtful or not section.score:
        return section
    score = round(section.score * DOUBTFUL_SHARE, 4)
    return replace(section, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
