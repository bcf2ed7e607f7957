"""A memory as values to display: its states, facts, dates, usage and other fields; and the words, marks and times of lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from memcli.codec.canonical import encode_line
from memcli.codec.memory import DELETED, memory_to_json
from memcli.model.memory import Json, Memory
from memcli.policy.ageing import confirmed_at
from memcli.record import Record
from memcli.safety.screening import Overview, inspect, is_accepted, is_marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

MARKS = (("*", "pinned"), ("-", "forgotten"), (">", "superseded"), ("!", "untrusted"))
"""The marks of a memory in lists with their meanings, in the order of display."""
_PLACED = frozenset(
    "id path kind raw summary_micro summary_short summary_long tags metadata relevance pinned created_at updated_at content "
    "chunks context active superseded_by".split()
)


class UsageDetail(Record):
    """How a memory was used: how often (`count`) and when last (`last`); feedback that `store maintain` has not applied yet
    (`pending`); and its confidence, which was `whole` (0..1) when it was last confirmed, on the day `confirmed`: `confidence`
    is what ageing has left of it, None if it has lost nothing."""

    count: int
    last: str
    confidence: float | None
    whole: float
    confirmed: str
    pending: tuple[str, ...]


class MemoryDetail(Record):
    """One memory to display.

    `states` are the reasons why it is not valid, or not now: a word, and a time or the memory that supersedes it. `facts` are
    its id, kind and relevance, and whether it is pinned or untrusted. `reasons` name the instructions to an agent in it, which
    a user may have accepted. `dates` are names, times and notes. `fields` have no place of their own and are not default;
    `conflicts` describe the values that lost a merge, which `metadata` leaves out. Both are in order of name.
    """

    states: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
    reasons: tuple[str, ...]
    is_accepted: bool
    dates: tuple[tuple[str, str, str], ...]
    usage: UsageDetail
    fields: tuple[tuple[str, Json], ...]
    metadata: tuple[tuple[str, Json], ...]
    conflicts: tuple[str, ...]


def detail_of(
    memory: Memory,
    now: str = "",
    successor: str = "",
    usage: Mapping[str, Json] | None = None,
    placed: Collection[str] = (),
) -> MemoryDetail:
    """The detail of a memory at the time `now`; without a time, its validity is not checked.

    `successor` is the path of the memory that supersedes it; `usage` is its usage as `app.usage` reads it; `placed` are the
    fields that the renderer places itself.
    """
    states = []
    if memory.superseded_by:
        states.append(("superseded", f"by {memory.superseded_by}{f' ({successor})' if successor else ''}"))
    if not memory.active:
        states.append(("forgotten", ""))
    if now and memory.valid_until and memory.valid_until <= now and not memory.superseded_by:
        states.append(("expired", memory.valid_until))
    if now and memory.valid_from and memory.valid_from > now:
        states.append(("not valid before", memory.valid_from))
    facts = [memory.id, memory.kind, memory.relevance, *(["pinned"] if memory.pinned else [])]
    finding = inspect(memory)
    reasons = finding.reasons if finding else ()
    accepted = finding is not None and is_accepted(memory, finding)
    if reasons:
        facts.append(f"{'accepted' if accepted else 'untrusted'} ({', '.join(reasons)})")
    dates = [("created", memory.created_at, "")]
    if memory.updated_at != memory.created_at:
        dates.append(("updated", memory.updated_at, f"version {memory.version}"))
    hidden, used = {*_PLACED, *placed}, usage or {}
    # The date of the update has named it.
    if len(dates) > 1:
        hidden.add("version")
    noted = memory.metadata.get("conflicts")
    conflicts = tuple(_conflict(one) for one in noted if isinstance(one, dict)) if isinstance(noted, list) else ()
    return MemoryDetail(
        states=tuple(states),
        facts=tuple(facts),
        reasons=reasons,
        is_accepted=accepted,
        dates=tuple(dates),
        usage=UsageDetail(
            count=used.get("accesses", 0),
            last=used.get("last_access", ""),
            confidence=used.get("effective_confidence"),
            whole=round(memory.confidence * memory.trust, 4),
            confirmed=confirmed_at(memory)[:10],
            pending=tuple(f"{count} {act}" for act, count in used.get("pending", {}).items()),
        ),
        fields=tuple((name, value) for name, value in sorted(memory_to_json(memory).items()) if name not in hidden),
        metadata=tuple(one for one in sorted(memory.metadata.items()) if one[0] != "conflicts" or not conflicts),
        conflicts=conflicts,
    )


def _conflict(note: Mapping[str, Json]) -> str:
    """A value that lost a merge, with the time at which it was stored."""
    field, value, at = (value_text(note.get(name)) for name in ("field", "value", "updated_at"))
    if field == DELETED:
        return f"deleted on the other side of a merge ({at})"
    return f"{field} was {value} on the other side of a merge ({at})"


def value_text(value: Json) -> str:
    """A JSON value on one line: a string as it is, anything else encoded."""
    return value if isinstance(value, str) else encode_line(value).decode()


def field_text(name: str, value: Json) -> str:
    """A field of a memory on one line for people: anchors as `file:10-42`, links as `relates_to mem_a`."""
    # A file edited by hand may have anything in these fields; then the value is printed as JSON.
    items = value if isinstance(value, list | tuple) else ()
    if name == "anchors" and all(isinstance(one, Mapping) and one.get("file") for one in items):
        return ", ".join(_anchor_text(one) for one in items)
    if name == "links" and all(isinstance(one, Mapping) and one.get("to") for one in items):
        return ", ".join(f"{one.get('relation', 'relates_to')} {one['to']}" for one in items)
    if name == "triggers" and all(isinstance(one, str) for one in items):
        return "  ".join(items)
    if name == "provenance" and isinstance(value, Mapping):
        parts = [value.get("source"), *(value.get("files") or ()), value.get("reason")]
        parts += [f"{key} {value[key]}" for key in ("session", "commit") if value.get(key)]
        return ", ".join(str(part) for part in parts if part)
    return value_text(value)


def _anchor_text(anchor: Mapping[str, Json]) -> str:
    lines, symbol = anchor.get("lines"), anchor.get("symbol")
    if symbol:
        return f"{anchor['file']}::{symbol}"
    if not isinstance(lines, list | tuple) or not lines:
        return str(anchor["file"])
    return f"{anchor['file']}:{lines[0]}" + (f"-{lines[-1]}" if lines[-1] != lines[0] else "")


def marks(memory: Memory) -> str:
    """`*` pinned, `-` forgotten, `>` superseded, `!` untrusted."""
    return f"{state_marks(memory)}{'!' if is_marked(memory) else ''}"


def state_marks(memory: Memory | Overview) -> str:
    """The marks of a memory, without that of an untrusted one."""
    # The last of MARKS is that of an untrusted memory: an `Overview` has no metadata to read that from.
    states = (memory.pinned, not memory.active, memory.superseded_by)
    return "".join(mark for (mark, _), holds in zip(MARKS, states, strict=False) if holds)


def context_pieces(memory: Memory) -> list[tuple[str, str]]:
    """The pieces of conversation stored with a memory: the role, source and similarity of each, and its text."""
    pieces = []
    for piece in memory.context:
        if isinstance(piece, Mapping):  # a file edited by hand may have anything
            origin = [str(piece[name]) for name in ("role", "source") if piece.get(name)]
            similarity = piece.get("similarity")
            origin += [f"{similarity:.2f}"] if isinstance(similarity, int | float) else []
            pieces.append((" ".join(origin), str(piece.get("text", ""))))
    return pieces


def readable_time(at: str) -> str:
    """A stored time in UTC to the minute, such as `2026-01-31 09:30 UTC`; `at` itself if it is not a time."""
    found = parsed_time(at)
    # %Y does not pad years before 1000 on Linux.
    return at if found is None else f"{found.year:04d}-{found:%m-%d %H:%M} UTC"


def parsed_time(at: object) -> datetime | None:
    """A stored time as a datetime; None if it is not a time with an offset from UTC."""
    from datetime import datetime

    try:
        found = datetime.fromisoformat(str(at))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def count_of(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as `1 memory` or `2 memories`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
