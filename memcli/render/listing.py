"""Lists and trees of memories."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.model.memory import Json, Memory
from memcli.model.tree import Node
from memcli.render.clean import clean, clean_line
from memcli.render.grid import grid
from memcli.safety.injection.screening import UNTRUSTED, is_marked


def summary_json(memory: Memory) -> dict[str, Json]:
    """The JSON of a memory in a list."""
    data: dict[str, Json] = {
        name: getattr(memory, name)
        for name in ("id", "path", "kind", "summary_micro", "tags", "pinned", "relevance", "created_at", "updated_at")
    }
    if not memory.active:
        data["active"] = False
    if memory.superseded_by:
        data["superseded_by"] = memory.superseded_by
    if is_marked(memory):
        data["untrusted"] = memory.metadata[UNTRUSTED]
    return data


def listing(memories: Sequence[Memory]) -> str:
    """A table of memories; empty if there are none."""
    if not memories:
        return ""
    rows = [[m.id, m.path, m.kind, m.updated_at[:10], marks(m), m.summary_micro] for m in memories]
    return grid(["id", "path", "kind", "updated", "", "memory"], rows)


def marks(memory: Memory) -> str:
    """`*` pinned, `-` forgotten, `>` superseded, `!` untrusted."""
    states = (("*", memory.pinned), ("-", not memory.active), (">", memory.superseded_by), ("!", is_marked(memory)))
    return "".join(mark for mark, holds in states if holds)


def tree_text(node: Node, indent: str = "") -> str:
    """The tree of paths with the summary of each memory."""
    lines = []
    for name, child in node.children.items():
        about = f": {clean_line(child.memory.summary_micro)}" if child.memory else "/"
        lines.append(f"{indent}{clean_line(name)}{about}")
        if child.children:
            lines.append(tree_text(child, indent + "  "))
    return "\n".join(lines)


def tree_json(node: Node) -> dict[str, Json]:
    """The tree of paths as nested objects."""
    data: dict[str, Json] = {"name": node.name}
    if node.memory:
        data |= {"id": node.memory.id, "kind": node.memory.kind, "summary_micro": node.memory.summary_micro}
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
