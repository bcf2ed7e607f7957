"""Render changes for people: diffs, statistics and merge conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memcli.codec.canonical import encode_line
from memcli.codec.merge import Merged
from memcli.codec.merge_fields import DELETED
from memcli.model.changes import STATUSES, FieldChange, MemoryChange, SpaceChange
from memcli.model.memory import Json
from memcli.render.clean import clean, clean_line
from memcli.render.grid import cut, grid
from memcli.render.listing import summary_json
from memcli.render.words import word_diff

_SIGNS = {"added": "+", "removed": "-"}
_OF_TEXT = frozenset(["summary_micro", "summary_short", "summary_long", "chunks", "metadata.hash"])
_LISTS = ("tags", "triggers")
_WIDTH = 160
_SHOWN_CONFLICTS = 5


def diff_text(changes: Sequence[SpaceChange]) -> str:
    """Every changed memory with its changed fields, except those derived from the text."""
    lines: list[str] = []
    for space in changes:
        lines += [*([""] if lines else []), _space_line(space)]
        lines += _field_lines(space.fields, "  ")
        for change in space.memories:
            lines += _memory_lines(change)
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
    every = sum(counts.values())
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"{every} {'memory' if every == 1 else 'memories'}{f': {told}' if told else ''}"


def diff_json(changes: Sequence[SpaceChange]) -> list[Json]:
    """The same as JSON, with all fields."""
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


def merged_text(merged: Merged) -> str:
    """The conflicts of a merge on one line."""
    back = [c.path for c in merged.conflicts if c.field == DELETED]
    decided = [f"{c.path or 'the space'} ({c.field})" for c in merged.conflicts if c.field != DELETED]
    parts = []
    if decided:
        what = "1 conflict" if len(decided) == 1 else f"{len(decided)} conflicts"
        parts.append(f"{what} (kept the newer value, recorded the older one in metadata.conflicts): {_first(decided)}")
    if back:
        told = "kept, because one side edited what the other deleted"
        parts.append(f"{told}: {_first(back)} (`memcli forget --purge PATH` deletes it again)")
    if merged.moved:
        parts.append(f"two memories had the same path; moved one to {', '.join(sorted(merged.moved.values()))}")
    return "; ".join(parts)


def _first(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN_CONFLICTS
    return f"{', '.join(names[:_SHOWN_CONFLICTS])}{f' and {rest} more' if rest > 0 else ''}"


def _space_line(space: SpaceChange) -> str:
    return f"space {_name(space)}{'' if space.status in ('changed', 'renamed') else f' ({space.status})'}"


def _name(space: SpaceChange) -> str:
    return f"{space.was} → {space.name}" if space.status == "renamed" else space.name


def _memory_lines(change: MemoryChange) -> Iterator[str]:
    memory = change.memory
    sign = _SIGNS.get(change.status, "~")
    yield clean_line(f"{sign} {memory.path}  {memory.id}  {memory.kind}, {change.status}")
    if change.status in ("added", "removed"):
        text = memory.summary_micro or memory.raw or encode_line(memory.content).decode()
        yield f"    {cut(clean_line(text), _WIDTH)}"
        return
    names = {c.name for c in change.fields}
    hidden = _OF_TEXT if names & {"raw", "content"} else frozenset[str]()
    told = [c for c in change.fields if c.name not in hidden]
    if change.status in ("pinned", "unpinned"):
        return
    yield from _field_lines([c for c in told if c.name != "active" or change.status == "changed"], "    ")


def _field_lines(fields: Sequence[FieldChange], indent: str) -> list[str]:
    return [f"{indent}{clean_line(c.name)}: {_told(c)}" for c in fields]


def _told(change: FieldChange) -> str:
    before, after = change.before, change.after
    if isinstance(before, str) and isinstance(after, str) and before and after:
        return clean_line(word_diff(clean(before), clean(after)))
    if change.name in _LISTS:
        gone, come = (
            [v for v in one or () if v not in (other or ())] for one, other in ((before, after), (after, before))
        )
        told = [*(f"-{v}" for v in gone), *(f"+{v}" for v in come)]
        return clean_line(" ".join(told) or "in another order")
    return f"{_value(before)} → {_value(after)}"


def _value(value: Json) -> str:
    if value is None or value in ("", [], ()):
        return "nothing"
    return cut(clean_line(value if isinstance(value, str) else encode_line(value).decode()), _WIDTH)


def _fields_json(fields: Sequence[FieldChange]) -> list[Json]:
    return [{"field": c.name, "before": c.before, "after": c.after} for c in fields]
