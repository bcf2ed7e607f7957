"""Changes of memories for people: diffs, blame, statistics and merge conflicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memcli.codec.canonical import encode_line
from memcli.codec.memory import DELETED
from memcli.codec.merge import Merged
from memcli.model.changes import STATUSES, Blame, FieldChange, HistoryCommit, MemoryChange, SpaceChange
from memcli.model.memory import Json
from memcli.render.clean import clean, clean_line, cut, grid
from memcli.render.memory import summary_json

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PIECES = 1000
"""More pieces than this are not compared one by one: the time would grow with the square of them."""
_CONTEXT = 40  # characters
_MOST_CHANGED = 200


def word_diff(before: str, after: str) -> str:
    """The change from `before` to `after`, with some context around each change."""
    for pieces in (_WORDS, _LINES):
        old, new = pieces.findall(before), pieces.findall(after)
        start, end = _common(old, new)
        left, right = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(left), len(right)) <= _MOST_PIECES:
            head, tail = "".join(old[:start]), "".join(old[len(old) - end :])
            return _shorten_before(head) + _changes(left, right) + _shorten_after(tail)
    return f"[-{len(before)} characters-]{{+{len(after)} characters+}}"


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The number of equal pieces at the beginning and, beyond those, at the end."""
    most = min(len(old), len(new))
    start = next((n for n in range(most) if old[n] != new[n]), most)
    rest = most - start
    return start, next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)


def _changes(old: Sequence[str], new: Sequence[str]) -> str:
    from difflib import SequenceMatcher

    told = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            told.append(_shorten_middle("".join(old[a:b])))
            continue
        gone, come = (_shorten_middle("".join(part), _MOST_CHANGED) for part in (old[a:b], new[c:d]))
        told.append((f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else ""))
    return "".join(told)


def _shorten_before(text: str) -> str:
    return text if len(text) <= _CONTEXT else f"…{text[-_CONTEXT:]}"


def _shorten_after(text: str) -> str:
    return text if len(text) <= _CONTEXT else f"{text[:_CONTEXT]}…"


def _shorten_middle(text: str, most: int = _CONTEXT) -> str:
    return text if len(text) <= 2 * most else f"{text[:most]}…{text[-most:]}"


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


def _cells(commit: HistoryCommit | None) -> list[str]:
    if commit is None:
        return ["", "", "", "not committed yet"]
    return [commit.hash[:_SHORT], commit.date[:10], commit.author, commit.subject]


def _json(commit: HistoryCommit | None) -> Json:
    if commit is None:
        return None
    return {"commit": commit.hash, "author": commit.author, "date": commit.date, "subject": commit.subject}


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


def change_lines(change: MemoryChange) -> Iterator[str]:
    """What became of a memory, then its changed fields, but those derived from the text."""
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
