"""Staleness: what recall says of memories whose code is no longer what it was, and how far they fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.app.anchors import Checker, LoadCode, anchors_of
from memcli.model.anchors import Checked
from memcli.model.recall import ANCHOR, Query, RowSet, Section
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView

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


def find_moved_leads(query: Query, view: SpaceView, visible: RowSet, load_code: LoadCode) -> dict[int, str]:
    """The rows anchored in other files whose code is now, as git and its content show, where the change is made."""
    edits = query.edits or ()
    changed = {name for edit in edits for name in (edit.file, edit.was)}
    endings = {name.rpartition(".")[2] for name in changed}
    files = [name for name in view.anchored_files() if name not in changed and name.rpartition(".")[2] in endings]
    rows = sorted(row for row in view.anchors(files) if row in visible)[-_MAX_FOLLOWED:] if files else []
    reader = load_code() if rows else None
    if reader is None:
        return {}
    elsewhere = frozenset(files)
    asked = [
        (row, anchor, commit)
        for row, memory in zip(rows, view.fetch(rows), strict=True)
        for _, anchor, commit in anchors_of(memory)
        if anchor.file in elsewhere
    ]
    checked = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in asked])
    return {
        row: ANCHOR
        for (row, _, _), now in zip(asked, checked, strict=False)
        if now and now.file in changed and any(edit.touches(now.file, *(now.lines or ())) for edit in edits)
    }


def _checked(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> list[Section]:
    checked = list(sections)
    for load in dict.fromkeys(code[section.space] for section in sections if section.memory.anchors):
        asked = [
            (n, anchor, commit)
            for n, section in enumerate(sections)
            if code[section.space] is load
            for _, anchor, commit in anchors_of(section.memory)
        ]
        if (reader := load()) is None:
            continue
        states = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in asked])
        found: dict[int, list[Checked]] = {}
        for (n, _, _), now in zip(asked, states, strict=False):
            if now is not None:
                found.setdefault(n, []).append(now)
        for n, anchors in found.items():
            checked[n] = _lowered(replace(sections[n], anchors=tuple(anchors)))
    return checked


def _lowered(section: Section) -> Section:
    if not section.is_doubtful or not section.score:
        return section
    score = round(section.score * DOUBTFUL_SHARE, 4)
    return replace(section, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
