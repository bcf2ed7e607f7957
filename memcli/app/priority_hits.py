"""Leading: the memories that come before all ranking, for a trigger of theirs matches, or code they are anchored in
changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.model.memory import TRIGGERED_KINDS
from memcli.model.recall import ANCHOR, TRIGGER, Hit, Query, RowSet

if TYPE_CHECKING:
    from memcli.model.edits import FileEdit
    from memcli.ports.views import SpaceView

_KINDS = ("constraint", "negative", "decision", "procedure")


def find_leads(query: Query, view: SpaceView, visible: RowSet) -> dict[int, str]:
    """The rows that lead, and whether it is their trigger or their anchor that matches."""
    triggers = {row: texts for row, texts in view.triggers().items() if row in visible}
    if query.edits is not None:
        return _of_change(query.edits, view, visible, triggers)
    if not query.topic.strip() or not triggers:
        return {}
    from memcli.policy.triggers import matches_topic

    rows = [row for row, texts in triggers.items() if matches_topic(texts, query.topic)]
    return {row: TRIGGER for row, entry in view.entries(rows).items() if entry.kind in TRIGGERED_KINDS}


def in_lead_order(leads: Iterable[tuple[Hit, str]]) -> list[Hit]:
    """By kind, what binds most first; then triggers before anchors; then by score, newest, id."""
    ordered = sorted(leads, key=lambda lead: lead[0].entry.id)
    ordered.sort(key=lambda lead: lead[0].entry.updated_at, reverse=True)
    ordered.sort(key=lambda lead: (_rank(lead[0].entry.kind), lead[1] != TRIGGER, -round(lead[0].score, 4)))
    return [hit for hit, _ in ordered]


def _of_change(
    edits: Sequence[FileEdit], view: SpaceView, visible: RowSet, triggers: Mapping[int, Sequence[str]]
) -> dict[int, str]:
    from memcli.policy.triggers import TriggerSet

    files = sorted({name for edit in edits for name in (edit.file, edit.was)})
    found = {
        row: ANCHOR
        for row, places in view.anchors(files).items()
        if row in visible and any(edit.touches(*place) for edit in edits for place in places)
    }
    rows = list(triggers)
    looked = TriggerSet(list(triggers.values()))
    return found | {rows[match.owner]: TRIGGER for edit in edits for match in looked.matches(edit)}


def _rank(kind: str) -> int:
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
