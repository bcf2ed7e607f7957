"""Memories for people: one in full, lists, trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memcli.codec.canonical import encode
from memcli.model.memory import Json, Memory
from memcli.present.memory import context_pieces, detail_of, marks, value_text
from memcli.render.clean import clean, clean_line, grid
from memcli.safety.injection import UNTRUSTED, Overview, is_marked
from memcli.settings import is_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.model.tree import TreeNode


def render_memory(memory: Memory, now: str = "", successor: str = "", use: Mapping[str, Json] | None = None) -> str:
    """The path, status and facts, then the text, then all fields that are not default.

    `now` determines whether it has expired; `successor` is the path of the memory that supersedes it; `use` is the JSON of
    its use.
    """
    detail = detail_of(memory, now, successor, use)
    states = " · ".join(f"{word.upper()} {about}".rstrip() for word, about in detail.states)
    lines = [clean_line(line) for line in (memory.path, states, " · ".join(detail.facts)) if line]
    dates = [f"{name} {at}{f', {note}' if note else ''}" for name, at, note in detail.dates]
    lines.append(", ".join(dates))
    usage = detail.usage
    if usage.count:
        lines.append(f"shown {usage.count} time{'s' if usage.count > 1 else ''}, last {usage.last}")
    if usage.confidence is not None:
        lines.append(f"confidence {usage.confidence:g} of {usage.whole:g}: not confirmed since {usage.confirmed}")
    if usage.pending:
        lines.append(f"feedback not applied yet: {', '.join(usage.pending)} (`memcli store maintain`)")
    if memory.tags:
        lines.append(clean_line(" ".join(f"#{tag}" for tag in memory.tags)))
    lines += ["", clean(memory.raw).strip() or encode(memory.content).decode(), ""]
    lines += [f"{name}: {clean_line(value_text(value))}" for name, value in detail.fields]
    lines += [f"conflict: {clean_line(one)}" for one in detail.conflicts]
    return "\n".join(lines).rstrip() + "\n"


def usage_lines(read: Mapping[str, Any]) -> Iterator[str]:
    """Which memories are read most often, and how many were never read."""
    yield from (f"read {one['accesses']:>6,}  {clean_line(one['path'])}" for one in read["most"])
    yield f"never read: {read['never']:,} of {read['active']:,}"


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


def listing_row(memory: Memory) -> list[str]:
    """The cells of a memory in a table of memories."""
    m = memory
    return [m.id, m.path, m.kind, m.created_at[:10], marks(m), m.summary_micro]


def listing(rows: Sequence[Sequence[str]]) -> str:
    """The table of these rows; empty if there are none."""
    return grid(["id", "path", "kind", "date", "", "memory"], rows) if rows else ""


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


def context_lines(memory: Memory) -> Iterator[str]:
    """The snapshot of what was said about a memory: who said it, where, and how similar it is to the memory."""
    yield clean_line(f"{memory.id} {memory.path}")
    for origin, text in context_pieces(memory):
        yield clean_line(f"  {origin}")
        yield from (f"    {line}".rstrip() for line in clean(text).splitlines())
