"""Staleness: what recall says of memories whose code is no longer what it was, and how far they fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memcli.app.anchors import check
from memcli.model.recall import Section
from memcli.policy.anchoring import read
from memcli.ports import CodeReader

DOUBTFUL_SHARE = 0.5
"""What of its score is left to a memory with an anchor that is stale or gone."""


def with_anchors(
    sections: Sequence[Section], code: Mapping[str, Callable[[], CodeReader | None]]
) -> tuple[Section, ...]:
    """The sections with the state of their anchors; `code` gives the files of each space. Doubtful ones fall behind all
    that now score more, unless somebody pinned them.
    """
    readers = {
        name: load() for name, load in code.items() if any(s.memory.anchors for s in sections if s.space == name)
    }
    checked = [_checked(section, readers.get(section.space)) for section in sections]
    for n in range(len(checked) - 1, -1, -1):
        if checked[n].is_doubtful and not checked[n].memory.pinned:
            after = [m for m in range(n + 1, len(checked)) if checked[m].score > checked[n].score]
            checked.insert(max(after, default=n), checked.pop(n))
    return tuple(checked)


def _checked(section: Section, code: CodeReader | None) -> Section:
    if code is None or not section.memory.anchors:
        return section
    anchors = [anchor for stored in section.memory.anchors if (anchor := read(stored)) is not None]
    found = replace(section, anchors=check(code, anchors))
    if not found.is_doubtful or not found.score:
        return found
    score = round(section.score * DOUBTFUL_SHARE, 4)
    return replace(found, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
