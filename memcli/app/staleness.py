"""Staleness: what recall says of memories whose code is no longer what it was, and how far they fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memcli.app.anchors import Checker
from memcli.model.recall import Section
from memcli.policy.anchoring import read
from memcli.ports import CodeReader

DOUBTFUL_SHARE = 0.5
"""What of its score is left to a memory with an anchor that is stale or gone."""
_MAX_LOOKED_AT = 8 << 20
"""How many characters of code one recall looks at; what is anchored beyond them is not spoken of."""
_LOOK = 1_000
"""What the look for a file costs, in characters."""

LoadCode = Callable[[], CodeReader | None]


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


def _checked(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> list[Section]:
    checkers: dict[LoadCode, Checker | None] = {}
    room = _MAX_LOOKED_AT
    checked = []
    for section in sections:
        found = []
        load = code[section.space]
        for anchor in filter(None, map(read, section.memory.anchors)):
            if load not in checkers:
                reader = load()
                checkers[load] = Checker(reader) if reader else None
            checker = checkers[load]
            if checker is None or room < 0:
                break
            found.append(checker.check(anchor))
            room -= checker.size(anchor.file) + _LOOK
        checked.append(_lowered(replace(section, anchors=tuple(found))) if found else section)
    return checked


def _lowered(section: Section) -> Section:
    if not section.is_doubtful or not section.score:
        return section
    score = round(section.score * DOUBTFUL_SHARE, 4)
    return replace(section, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
