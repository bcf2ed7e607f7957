"""Memories for people: one in full, lists, trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memcli.codec.canonical import encode, encode_line
from memcli.codec.memory import DELETED, memory_to_json
from memcli.model.catalogue import TreeNode
from memcli.model.memory import Json, Memory
from memcli.policy.ageing import confirmed_at
from memcli.render.clean import clean, clean_line, grid
from memcli.safety.injection.screening import UNTRUSTED, Overview, inspect, is_accepted, is_marked
from memcli.settings import is_beside

_SHOWN = (
    "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
    "pinned", "created_at", "updated_at", "content", "chunks", "context", "active", "superseded_by",
)  # fmt: skip


def render_memory(memory: Memory, now: str = "", successor: str = "", usage: Mapping[str, Json] | None = None) -> str:
    """The path, status and facts, then the text, then all fields that are not default.

    `now` determines whether it has expired; `successor` is the path of the memory that supersedes it; `usage` is what is
    known of its use.
    """
    facts = [memory.id, memory.kind, memory.relevance, *(["pinned"] if memory.pinned else [])]
    finding = inspect(memory)
    if finding:
        facts.append(f"{'accepted' if is_accepted(memory, finding) else 'untrusted'} ({', '.join(finding.reasons)})")
    states = _states(memory, now, successor)
    lines = [clean_line(line) for line in (memory.path, " · ".join(states), " · ".join(facts)) if line]
    dates = f"created {memory.created_at}"
    if memory.updated_at != memory.created_at:
        dates += f", updated {memory.updated_at}, version {memory.version}"
    lines += [dates, *_usage_lines(memory, usage or {})]
    if memory.tags:
        lines.append(clean_line(" ".join(f"#{tag}" for tag in memory.tags)))
    lines += ["", clean(memory.raw).strip() or encode(memory.content).decode(), ""]
    rest = {name: value for name, value in memory_to_json(memory).items() if name not in _SHOWN}
    lines += [f"{name}: {_value(value)}" for name, value in sorted(rest.items())]
    noted = memory.metadata.get("conflicts")
    conflicts = noted if isinstance(noted, list) else []
    lines += [f"conflict: {_conflict(one)}" for one in conflicts if isinstance(one, dict)]
    return "\n".join(lines).rstrip() + "\n"


def _usage_lines(memory: Memory, usage: Mapping[str, Json]) -> Iterator[str]:
    """How often it was shown, what confidence is left, and the feedback that waits for `maintain`."""
    if count := usage.get("accesses"):
        yield f"shown {count} time{'s' if count > 1 else ''}, last {usage['last_access']}"
    if "effective_confidence" in usage:
        whole = round(memory.confidence * memory.trust, 4)
        yield f"confidence {usage['effective_confidence']:g} of {whole:g}: not confirmed since {confirmed_at(memory)[:10]}"
    if pending := usage.get("pending"):
        told = ", ".join(f"{count} {act}" for act, count in pending.items())
        yield f"feedback not applied yet: {told} (`memcli store maintain`)"


def usage_lines(read: Mapping[str, Any]) -> Iterator[str]:
    """Which memories are read most often, and how many were never read."""
    yield from (f"read {one['accesses']:>6,}  {clean_line(one['path'])}" for one in read["most"])
    yield f"never read: {read['never']:,} of {read['active']:,}"


def _states(memory: Memory, now: str, successor: str) -> list[str]:
    """Why the memory is not valid, or not valid now; empty if it is."""
    states = []
    if memory.superseded_by:
        states.append(f"SUPERSEDED by {memory.superseded_by}{f' ({successor})' if successor else ''}")
    if not memory.active:
        states.append("FORGOTTEN")
    if now and memory.valid_until and memory.valid_until <= now and not memory.superseded_by:
        states.append(f"EXPIRED {memory.valid_until}")
    if now and memory.valid_from and memory.valid_from > now:
        states.append(f"NOT VALID BEFORE {memory.valid_from}")
    return states


def _conflict(note: Mapping[str, Json]) -> str:
    """A value that lost a merge conflict."""
    if note.get("field") == DELETED:
        return f"deleted on the other side of a merge ({_value(note.get('updated_at'))})"
    field, value, at = (_value(note.get(name)) for name in ("field", "value", "updated_at"))
    return f"{field} was {value} on the other side of a merge ({at})"


def _value(value: object) -> str:
    return clean_line(value if isinstance(value, str) else encode_line(value).decode())


def summary_json(memory: Memory, *, with_raw: bool = False) -> dict[str, Json]:
    """The JSON of a memory in a list; `with_raw`, also with its text and content."""
    data: dict[str, Json] = {
        name: getattr(memory, name)
        for name in ("id", "path", "kind", "summary_micro", "tags", "pinned", "relevance", "created_at", "updated_at")
    }
    if isinstance(space := memory.metadata.get("space"), str) and is_beside(space):
        data["space"] = space
    if not memory.active:
        data["active"] = False
    if memory.superseded_by:
        data["superseded_by"] = memory.superseded_by
    if is_marked(memory):
        data["untrusted"] = memory.metadata[UNTRUSTED]
    if with_raw:
        data["raw"] = memory.raw
        if memory.content is not None:
            data["content"] = memory.content
    return data


def listing(memories: Iterable[Memory]) -> str:
    """A table of memories; empty if there are none."""
    return listed_rows([listing_row(m) for m in memories])


def listing_row(memory: Memory) -> list[str]:
    """The cells of a memory in a table of memories."""
    m = memory
    return [m.id, m.path, m.kind, m.created_at[:10], marks(m), m.summary_micro]


def listed_rows(rows: Sequence[Sequence[str]]) -> str:
    """The table of these rows; empty if there are none."""
    return grid(["id", "path", "kind", "date", "", "memory"], rows) if rows else ""


def marks(memory: Memory) -> str:
    """`*` pinned, `-` forgotten, `>` superseded, `!` untrusted."""
    return f"{state_marks(memory)}{'!' if is_marked(memory) else ''}"


def state_marks(memory: Memory | Overview) -> str:
    """The marks of a memory without that for an untrusted one."""
    states = (("*", memory.pinned), ("-", not memory.active), (">", memory.superseded_by))
    return "".join(mark for mark, holds in states if holds)


def tree_text(node: TreeNode[Overview], indent: str = "") -> str:
    """The tree of paths with the summary of each memory; `/…` where more lies below than is shown."""
    lines = []
    for name, child in node.children.items():
        below = "/…" if child.has_more else "" if child.memory else "/"
        about = f": {clean_line(child.memory.summary)}" if child.memory and child.memory.summary else ""
        mark = child.memory.mark if child.memory else ""
        lines.append(f"{indent}{clean_line(name)}{below}{mark}{about}")
        if child.children:
            lines.append(tree_text(child, indent + "  "))
    return "\n".join(lines)


def tree_json(node: TreeNode[Overview]) -> dict[str, Json]:
    """The tree of paths as nested objects; `has_more` where more lies below than is shown."""
    data: dict[str, Json] = {"name": node.name}
    if node.memory:
        data |= {"id": node.memory.id, "kind": node.memory.kind, "summary_micro": node.memory.summary}
        data |= {"untrusted": list(node.memory.untrusted)} if node.memory.untrusted else {}
    if node.has_more:
        data |= {"has_more": True, "count": node.count}
    if node.children:
        data["children"] = [tree_json(child) for child in node.children.values()]
    return data


def found_text(found: Sequence[tuple[Memory, float, Sequence[str]]]) -> str:
    """Memories with their score, each followed by the matching passages or its summary."""
    lines = []
    for memory, score, snippets in found:
        lines.append(
            f"{score:.4f}  {clean_line(memory.path)}  {memory.created_at[:10]}  {memory.id}{'  !' if is_marked(memory) else ''}"
        )
        lines += [f"        {line}" for text in snippets or [memory.summary_micro] for line in clean(text).splitlines()]
    return "\n".join(lines)


def context_lines(memory: Memory) -> Iterator[str]:
    """The snapshot of what was said about a memory: who said it, where, and how similar it is to the memory."""
    yield clean_line(f"{memory.id} {memory.path}")
    for piece in memory.context:
        told = [str(piece.get(name) or "") for name in ("role", "source")]
        similarity = piece.get("similarity")
        told += [f"{similarity:.2f}"] if isinstance(similarity, int | float) else []
        yield clean_line(f"  {' '.join(part for part in told if part)}")
        yield from (f"    {line}".rstrip() for line in clean(str(piece.get("text", ""))).splitlines())
