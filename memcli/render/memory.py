"""One memory in full, for a person."""

from __future__ import annotations

from memcli.codec.canonical import encode, encode_line
from memcli.codec.memory import memory_to_json
from memcli.model.memory import Memory
from memcli.render.clean import clean, clean_line

_SHOWN = (
    "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
    "pinned", "created_at", "updated_at", "content", "chunks", "context",
)  # fmt: skip


def render_memory(memory: Memory) -> str:
    """Path and facts, then the text, then whatever is not default."""
    facts = [memory.id, memory.kind, memory.relevance, *(["pinned"] if memory.pinned else [])]
    if not memory.active:
        facts.append("forgotten")
    lines = [clean_line(memory.path), clean_line(" · ".join(facts))]
    dates = f"created {memory.created_at}"
    if memory.updated_at != memory.created_at:
        dates += f", updated {memory.updated_at}, version {memory.version}"
    lines.append(dates)
    if memory.tags:
        lines.append(clean_line(" ".join(f"#{tag}" for tag in memory.tags)))
    lines += ["", clean(memory.raw).strip() or encode(memory.content).decode(), ""]
    rest = {name: value for name, value in memory_to_json(memory).items() if name not in _SHOWN}
    lines += [f"{name}: {_value(value)}" for name, value in sorted(rest.items())]
    return "\n".join(lines).rstrip() + "\n"


def _value(value: object) -> str:
    return clean_line(value if isinstance(value, str) else encode_line(value).decode())
