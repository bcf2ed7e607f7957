"""Changes as values to display: of the words of a text, of the fields of a memory, between its versions, and two memories side
by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.model.changes import FieldChange, HistoryCommit, MemoryChange
from memcli.model.memory import Json, Memory
from memcli.record import Record

SAME, ADDED, REMOVED = "same", "added", "removed"
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PIECES = 1000
"""The most words, or lines, that are compared one by one: the time grows with the square of their number."""


Piece = tuple[str, str]
"""A part of a text and its state: SAME, ADDED or REMOVED."""


def difference(before: str, after: str) -> list[Piece]:
    """The parts of a text that an edit removed, added and left: words, lines in a long text, and in a huge one only the numbers
    of characters."""
    for pattern in (_WORDS, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        most = min(len(old), len(new))
        start = next((n for n in range(most) if old[n] != new[n]), most)
        end = next((n for n in range(most - start) if old[-1 - n] != new[-1 - n]), most - start)
        left, right = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(left), len(right)) <= _MOST_PIECES:
            # Only the middle is compared: most edits leave the beginning and the end.
            # With autojunk, difflib would ignore words that are frequent in a long text.
            pieces = [("".join(old[:start]), SAME)]
            for what, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
                if what == "equal":
                    pieces.append(("".join(left[a:b]), SAME))
                else:
                    pieces += [("".join(left[a:b]), REMOVED), ("".join(right[c:d]), ADDED)]
            pieces.append(("".join(old[len(old) - end :]), SAME))
            return [(text, state) for text, state in pieces if text]
    return [(f"{len(before)} characters", REMOVED), (f"{len(after)} characters", ADDED)]


_OF_TEXT = frozenset(["summary_micro", "summary_short", "summary_long", "chunks", "metadata.hash"])
"""Fields that are derived from the text, and change with it."""
_LISTS = ("tags", "triggers")
_NOTHING: tuple[Json, ...] = (None, "", [], ())


class FieldView(Record):
    """A changed field to display: `pieces` of a text; or the items that left a list (`gone`) and joined it (`come`); or the
    value before (`gone`) and after (`come`), empty for no value."""

    name: str
    pieces: tuple[Piece, ...] = ()
    gone: tuple[Json, ...] = ()
    come: tuple[Json, ...] = ()
    is_list: bool = False


def field_view(change: FieldChange) -> FieldView:
    """A changed field as it is displayed."""
    before, after = change.before, change.after
    if isinstance(before, str) and isinstance(after, str) and before and after:
        return FieldView(change.name, tuple(difference(before, after)))
    if change.name in _LISTS:
        old, new = before or (), after or ()
        gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
        return FieldView(change.name, (), tuple(gone), tuple(come), is_list=True)
    gone, come = ([] if value in _NOTHING else [value] for value in (before, after))
    return FieldView(change.name, (), tuple(gone), tuple(come))


def shown_fields(change: MemoryChange) -> list[FieldChange]:
    """The changed fields to display: none if the status says it all, and without those that are derived from the text."""
    if change.status in ("added", "removed", "pinned", "unpinned"):
        return []
    names = {field.name for field in change.fields}
    hidden = {*(_OF_TEXT if names & {"raw", "content"} else ()), *(["active"] if change.status != "changed" else [])}
    return [field for field in change.fields if field.name not in hidden]


_SHORT = 10
NOT_COMMITTED = "not committed yet"


def commit_cells(commit: HistoryCommit | None) -> tuple[str, str, str, str]:
    """The short hash, day, author and subject of a commit; without one, only NOT_COMMITTED as the subject."""
    if commit is None:
        return "", "", "", NOT_COMMITTED
    return commit.hash[:_SHORT], commit.date[:10], commit.author, commit.subject


Pair = tuple[str | None, str | None]
"""A line of each side; None if one side has no such line."""
_ALIKE = 0.3
"""The share of common words from which on two lines count as one line that was changed."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_DERIVED = _OF_TEXT | {"id", "raw"}
_ALWAYS = ("path", "kind")
_MOST_CHARACTERS = 20_000


def compared(left: Memory, right: Memory, fields: Sequence[FieldChange]) -> Iterator[tuple[str, list[Pair]]]:
    """Two memories side by side, as names of parts with pairs of lines: path, kind, those of `fields` that are not derived from
    the text, and the text."""
    for name in _ALWAYS:
        yield name, [(getattr(left, name), getattr(right, name))]
    for field in fields:
        if field.name not in _DERIVED and field.name not in _ALWAYS:
            old, new = _lines(field.before), _lines(field.after)
            yield field.name, [(old[0], new[0])] if len(old) == len(new) == 1 else align(old, new)
    # Sentence by sentence: in wrapped lines, an added word would move all words behind it.
    yield "text", align(_sentences(left.raw), _sentences(right.raw))


def _lines(value: Json) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [line for item in value for line in _lines(item)]
    return (value if isinstance(value, str) else encode(value).decode())[:_MOST_CHARACTERS].splitlines()


def _sentences(text: str) -> list[str]:
    lines = text[:_MOST_CHARACTERS].expandtabs(4).strip().splitlines()
    return [sentence for line in lines for sentence in _SENTENCE_END.split(line)]


def align(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """The lines of both sides in pairs, in order: equal lines, and lines of which at least _ALIKE of the words are common."""
    pairs: list[Pair] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            pairs += zip(before[a:b], after[c:d], strict=True)
            continue
        rest = list(after[c:d])
        for line in before[a:b]:
            place = next((n for n, other in enumerate(rest) if _likeness(line, other) >= _ALIKE), None)
            if place is None:
                pairs.append((line, None))
            else:
                pairs += [*((None, other) for other in rest[:place]), (line, rest[place])]
                del rest[: place + 1]
        pairs += ((None, other) for other in rest)
    return pairs


def _likeness(one: str, other: str) -> float:
    """The Jaccard index of the words of two lines, 0..1."""
    first, second = ({word for word in _WORDS.findall(text.casefold()) if word.strip()} for text in (one, other))
    return len(first & second) / max(1, len(first | second))


_BOOKKEEPING = frozenset(["updated_at", "version"])


def compare(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[FieldChange, ...]:
    """The fields that differ, in order of name, without time and version; metadata and policy key by key."""
    found = []
    for name in sorted((before.keys() | after.keys()) - _BOOKKEEPING):
        old, new = before.get(name), after.get(name)
        # By their JSON: in Python 1, 1.0 and True are equal, and a list and a tuple are not.
        if encode(old) == encode(new):
            continue
        if name in ("metadata", "policy") and isinstance(old, dict) and isinstance(new, dict):
            found += [FieldChange(f"{name}.{c.name}", c.before, c.after) for c in compare(old, new)]
        else:
            found.append(FieldChange(name, old, new))
    return tuple(found)


def memory_change(before: Memory | None, after: Memory | None) -> MemoryChange | None:
    """The change from one version of a memory to another, None standing for no memory; None if nothing changed."""
    if before is None or after is None:
        there, status = (before, "removed") if after is None else (after, "added")
        return MemoryChange(status, there) if there else None
    if after == before and encode(memory_to_json(after)) == encode(memory_to_json(before)):
        return None
    fields = compare(memory_to_json(before), memory_to_json(after))
    status = "changed"
    if before.active != after.active:
        status = "restored" if after.active else "forgotten"
    elif after.superseded_by and not before.superseded_by:
        status = "superseded"
    elif [change.name for change in fields] == ["pinned"]:
        status = "pinned" if after.pinned else "unpinned"
    return MemoryChange(status, after, fields)
