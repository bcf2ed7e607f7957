"""What the index keeps of a memory: columns to filter by, terms to find, texts to embed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memcli.model.analysis import terms
from memcli.model.memory import Json, Memory, json_texts
from memcli.model.names import natural_order
from memcli.model.pieces import CHUNK_CHARACTERS, split
from memcli.model.shapes import OBSERVED


def columns(memory: Memory) -> dict[str, Any]:
    """The values of the table `memory` that come from the memory itself."""
    return {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "tags": f" {' '.join(memory.tags)} ",
        "relevance": memory.relevance,
        "pinned": memory.pinned,
        "scope": memory.scope,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "importance": memory.effective_importance(),
        "confidence": memory.confidence * memory.trust,
        "grp": _text(memory.metadata.get("group")),
        "position": f"{memory.created_at} {natural_order(memory.id)}",
        "speaker": _text(memory.metadata.get("speaker")),
        "source": " ".join(terms(_text(memory.metadata.get("source")))),
        "hidden": not memory.active or memory.superseded_by is not None,
        "active": memory.active,
        "superseded_by": memory.superseded_by or "",
        "valid_from": memory.valid_from or "",
        "valid_until": memory.valid_until or "",
        "triggers": json.dumps(told) if (told := _triggers(memory)) else "",
    }


def field_texts(memory: Memory) -> tuple[str, ...]:
    """The analysed terms of each of FIELDS, joined by spaces."""
    summaries = dict.fromkeys((memory.summary_micro, memory.summary_short, memory.summary_long))
    # A short text is its own summary: counting it again would only blur how long it is.
    summary = "\n".join(s for s in summaries if s and s.strip() != memory.raw.strip())
    texts = (memory.path, "\n".join(memory.tags), summary, memory.raw, _structured(memory))
    return tuple(" ".join(terms(text)) for text in texts)


def chunk_texts(memory: Memory) -> list[str]:
    """The texts whose vectors stand for the memory; every piece but the first with the heading before it."""
    text = memory.raw or _structured(memory) or memory.summary_long or memory.path
    first, *rest = split(text) or [memory.path]
    title = memory.summary_micro if len(memory.summary_micro) < len(first) else memory.path
    snapshots = [told for told in map(_context_text, memory.context) if told.strip()]
    return [first, *(f"{title}\n{piece}" for piece in rest), *snapshots]


def _structured(memory: Memory) -> str:
    """The texts of what was stored as JSON: the content and the procedure."""
    return "\n".join([*json_texts(memory.content), *json_texts(memory.procedure, keys=False)])


def _triggers(memory: Memory) -> list[str]:
    """The patterns that surface the memory. A hand may have put anything into the file."""
    own = memory.procedure.get("trigger") if isinstance(memory.procedure, Mapping) else None
    return [text for text in (*memory.triggers, own) if isinstance(text, str) and text]


def _context_text(item: Json) -> str:
    """The text of a context snapshot; a hand may have put anything into the file."""
    return _text(item.get("text")) if isinstance(item, dict) else ""


def window_text(before: str, text: str) -> str:
    """What was said, behind the end of what was said before it, in one window of the embedder."""
    return f"{before[-CHUNK_CHARACTERS // 2 :]}\n{text[: CHUNK_CHARACTERS // 2 * 3 // 2]}"


def links(memory: Memory) -> list[tuple[str, str, float]]:
    """The id, the relation and the weight (0..1; 1 when it names none) of what the memory links to."""
    found = []
    # A hand may have put anything into the file.
    for link in (given for given in memory.links if hasattr(given, "get")):
        weight = link.get("weight")
        known = float(weight) if isinstance(weight, int | float) else 1.0
        found.append((_text(link.get("to")), _text(link.get("relation")), min(1.0, max(0.0, known))))
    return found


def anchors(memory: Memory) -> list[tuple[str, int, int]]:
    """The file, the first and the last line (0, 0: all of it) of each place in the code that the memory speaks of.

    What was read from the code itself says nothing about a change of it that the change does not say.
    """
    if memory.provenance.get("source") == OBSERVED:
        return []
    found = []
    for anchor in (given for given in memory.anchors if hasattr(given, "get")):
        lines = anchor.get("lines")
        pair = lines if isinstance(lines, list | tuple) and len(lines) == 2 else (0, 0)
        first, last = pair if all(type(n) is int for n in pair) else (0, 0)
        found.append((_text(anchor.get("file")).removeprefix("./"), first, last))
    return [(file, first, last) for file, first, last in found if file]


def _text(value: Json) -> str:
    """A name as text; numbers are names too (`"group": 7`), anything else is none."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
