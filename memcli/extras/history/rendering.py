"""Diffs and statistics of changes, as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memcli.model.changes import STATUSES, FieldChange, MemoryChange, SpaceChange
from memcli.model.memory import Json
from memcli.present.changes import (
    ADDED,
    REMOVED,
    SAME,
    Piece,
    field_view,
    shown_fields,
)
from memcli.present.memory import value_text
from memcli.render.clean import clean_line, clean_value, cut, grid
from memcli.render.memory import summary_json

_CONTEXT = 40
"""Characters of unchanged text that are shown on each side of a change."""
_MOST_CHANGED = 200
"""Half of the most characters of a removed or added part; a longer one is cut in the middle."""


def pieces_text(pieces: Sequence[Piece]) -> str:
    """The change from one text to another, with some context around each part that was removed or added."""
    shown = []
    for n, (piece, state) in enumerate(pieces):
        text = piece
        if state == SAME:
            is_first = n == 0  # only context beside a change is shown: at the ends of a text, that is one side
            is_last = not is_first and n == len(pieces) - 1
            most = _CONTEXT if is_first or is_last else 2 * _CONTEXT
            if len(text) > most:
                text = f"{'' if is_first else text[:_CONTEXT]}…{'' if is_last else text[-_CONTEXT:]}"
        else:
            text = text if len(text) <= 2 * _MOST_CHANGED else f"{text[:_MOST_CHANGED]}…{text[-_MOST_CHANGED:]}"
        shown.append({SAME: text, REMOVED: f"[-{text}-]", ADDED: f"{{+{text}+}}"}[state])
    return "".join(shown)


_SIGNS = {"added": "+", "removed": "-"}
_WIDTH = 160


def diff_text(changes: Sequence[SpaceChange]) -> str:
    """Every changed memory with its changed fields, except those derived from the text."""
    lines: list[str] = []
    for space in changes:
        status = "" if space.status in ("changed", "renamed") else f" ({space.status})"
        lines += [*([""] if lines else []), f"space {_name(space)}{status}"]
        lines += _field_lines(space.fields, "  ")
        for change in space.memories:
            lines += change_lines(change)
    return "\n".join([*lines, *(["", totals(changes)] if lines else [])])


def stat_text(changes: Sequence[SpaceChange]) -> str:
    """The number of changes by status for each space."""
    if not changes:
        return ""
    counts = [Counter(c.status for c in space.memories) for space in changes]
    used = [status for status in STATUSES if any(c[status] for c in counts)]
    rows = [
        [_name(space), *(str(c[s]) if c[s] else "" for s in used)] for space, c in zip(changes, counts, strict=True)
    ]
    return f"{grid(['space', *used], rows)}\n{totals(changes)}"


def totals(changes: Sequence[SpaceChange]) -> str:
    """The totals of all spaces on one line."""
    counts = Counter(c.status for space in changes for c in space.memories)
    shares = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    every = sum(counts.values())
    return f"{every} {'memory' if every == 1 else 'memories'}{f': {shares}' if shares else ''}"


def diff_json(changes: Sequence[SpaceChange]) -> list[Json]:
    """The changes as JSON, with all fields."""
    found: list[Json] = []
    for space in changes:
        data: dict[str, Json] = {"space": space.name, "status": space.status}
        if space.was != space.name:
            data["was"] = space.was
        memories = [
            {"status": c.status, **summary_json(c.memory), "fields": _fields_json(c.fields)} for c in space.memories
        ]
        found.append({**data, "fields": _fields_json(space.fields), "memories": memories})
    return found


def _name(space: SpaceChange) -> str:
    return f"{space.was} → {space.name}" if space.status == "renamed" else space.name


def change_lines(change: MemoryChange) -> Iterator[str]:
    """A line about the change of a memory, then lines for its changed fields, except those derived from the text."""
    memory = change.memory
    sign = _SIGNS.get(change.status, "~")
    yield clean_line(f"{sign} {memory.path}  {memory.id}  {memory.kind}, {change.status}")
    if change.status in ("added", "removed"):
        yield f"    {cut(clean_line(memory.summary_micro or memory.raw or value_text(memory.content)), _WIDTH)}"
    yield from _field_lines(shown_fields(change), "    ")


def _field_lines(fields: Sequence[FieldChange], indent: str) -> Iterator[str]:
    for change in fields:
        view = field_view(FieldChange(change.name, clean_value(change.before), clean_value(change.after)))
        if view.pieces:
            text = clean_line(pieces_text(view.pieces))
        elif view.is_list:
            items = [*(f"-{item}" for item in view.gone), *(f"+{item}" for item in view.come)]
            text = clean_line(" ".join(items) or "in another order")
        else:
            sides = [
                cut(clean_line(value_text(side[0])), _WIDTH) if side else "nothing" for side in (view.gone, view.come)
            ]
            text = " → ".join(sides)
        yield f"{indent}{clean_line(change.name)}: {text}"


def _fields_json(fields: Sequence[FieldChange]) -> list[Json]:
    return [{"field": c.name, "before": c.before, "after": c.after} for c in fields]
