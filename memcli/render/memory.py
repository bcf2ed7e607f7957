"""Memories as text for people and as JSON: one in full, lists, trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from memcli.codec.canonical import encode
from memcli.model.memory import Json, Memory
from memcli.present.memory import context_pieces, detail_of, field_text, marks
from memcli.render.clean import age, clean, clean_line, columns, cut, grid, pad, styled
from memcli.safety.screening import UNTRUSTED, Overview, is_marked
from memcli.settings import is_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.model.tree import TreeNode


_GAP = "  "
_WITH_AGE, _WITH_PATH = 70, 120
"""The columns of a terminal from which on a list shows the age, and the path."""
_WIDEST_KIND, _WIDEST_TEXT, _LEAST_TEXT = 14, 88, 24
# Rules alone: where everything is coloured, nothing stands out.
_STYLES = {"negative": "warning", "constraint": "warning"}


def render_memory(memory: Memory, now: str = "", successor: str = "", use: Mapping[str, Json] | None = None) -> str:
    """A memory in full: path, states, facts, dates and tags, then the text, then the fields that are not default.

    The arguments are those of `detail_of`, `use` its `usage`.
    """
    detail = detail_of(memory, now, successor, use)
    states = " · ".join(f"{word.upper()} {about}".rstrip() for word, about in detail.states)
    lines = [clean_line(line) for line in (memory.path, states, " · ".join(detail.facts)) if line]
    dates = [f"{name} {at}{f', {note}' if note else ''}" for name, at, note in detail.dates]
    lines.append(", ".join(dates))
    usage = detail.usage
    if usage.count:
        lines.append(f"shown {usage.count} time{'s' if usage.count > 1 else ''}, last {usage.last}")
    if usage.confidence is not None and f"{usage.confidence:.0%}" != f"{usage.whole:.0%}":
        lines.append(f"confidence {usage.confidence:.0%} of {usage.whole:.0%}: not confirmed since {usage.confirmed}")
    if usage.pending:
        lines.append(f"feedback not applied yet: {', '.join(usage.pending)} (`memcli store maintain`)")
    if memory.tags:
        lines.append(clean_line(" ".join(f"#{tag}" for tag in memory.tags)))
    lines += ["", clean(memory.raw).strip() or encode(memory.content).decode(), ""]
    lines += [f"{name}: {clean_line(field_text(name, value))}" for name, value in detail.fields]
    lines += [f"conflict: {clean_line(one)}" for one in detail.conflicts]
    return "\n".join(lines).rstrip() + "\n"


def summary_json(memory: Memory, *, with_raw: bool = False) -> dict[str, Json]:
    """A memory as JSON for lists; `with_raw` adds its text and content."""
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
    rows = [[m.id, m.path, m.kind, m.created_at[:10], marks(m), m.summary_micro] for m in memories]
    return grid(["id", "path", "kind", "date", "", "memory"], rows) if rows else ""


def list_line(memory: Memory) -> str:
    """A memory on a line for programs: id, kind, time of the last change, path, marks and summary, separated by tabs."""
    # Whole, since what is cut for people breaks programs.
    cells = (memory.id, memory.kind, memory.updated_at, memory.path, marks(memory), memory.summary_micro)
    return "\t".join(map(clean_line, cells))


def list_columns(memories: Iterable[Memory], short_id: Callable[[str], str], now: str, width: int) -> list[str]:
    """A line of at most `width` columns for each memory: short id, kind and text; on wide terminals also age and path.

    The kind of a rule that `guard` enforces is followed by `!`.
    """
    rows = [
        (
            short_id(m.id),
            clean_line(m.kind) + (" !" if m.enforce else ""),
            f"{marks(m)} {clean_line(m.summary_micro)}".lstrip(),
            age(m.updated_at, now) if width >= _WITH_AGE else "",
            clean_line(m.path) if width >= _WITH_PATH else "",
            _STYLES.get(m.kind, ""),
        )
        for m in memories
    ]
    if not rows:
        return []
    ids, kinds, texts, ages, paths = (max(columns(row[n]) for row in rows) for n in range(5))
    kinds, paths = min(kinds, _WIDEST_KIND), min(paths, width // 3)
    beside = sum(size + len(_GAP) for size in (ids, kinds, ages, paths) if size)
    texts = min(texts, _WIDEST_TEXT, max(_LEAST_TEXT, width - beside))
    lines = []
    for name, kind, text, old, path, style in rows:
        parts = [
            styled(pad(name, ids), "bold"),
            styled(pad(cut(kind, kinds), kinds), style),
            pad(cut(text, texts), texts),
        ]
        parts += [pad(cut(path, paths), paths)] * (paths > 0)
        parts += [styled(" " * (ages - columns(old)) + old, "dim")] * (ages > 0)
        lines.append(_GAP.join(parts).rstrip())
    return lines


def tree_text(node: TreeNode[Overview], indent: str = "") -> str:
    """The tree of paths with the summary of each memory; `/…` marks a path with more levels below."""
    lines = []
    # Of overviews: they have no summary of a memory with instructions to an agent.
    for name, child in node.children.items():
        below = "/…" if child.has_more else "" if child.memory else "/"
        about = f": {clean_line(child.memory.summary)}" if child.memory and child.memory.summary else ""
        mark = child.memory.mark if child.memory else ""
        lines.append(f"{indent}{clean_line(name)}{below}{mark}{about}")
        if child.children:
            lines.append(tree_text(child, indent + "  "))
    return "\n".join(lines)


def tree_json(node: TreeNode[Overview]) -> dict[str, Json]:
    """The tree of paths as nested objects; `has_more` marks a path with more levels below."""
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
    """The pieces of conversation stored with a memory: the role, source and similarity of each, and its text."""
    yield clean_line(f"{memory.id} {memory.path}")
    for origin, text in context_pieces(memory):
        yield clean_line(f"  {origin}")
        yield from (f"    {line}".rstrip() for line in clean(text).splitlines())
