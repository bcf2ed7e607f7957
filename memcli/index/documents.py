"""What an index stores of a memory: columns to filter by, terms to find, texts to embed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from memcli.index.vectors import text_key
from memcli.model.memory import Json, Memory
from memcli.model.names import natural_order
from memcli.model.shapes import OBSERVED
from memcli.policy.ageing import confirmed_at
from memcli.record import Record
from memcli.text.passages import MESSAGE, Passage, embedded_texts, heading, is_versioned, passages, structured
from memcli.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def columns(memory: Memory) -> dict[str, Any]:
    """The values of the table `memory` that come from the memory itself. For one that `is_odd` the catalogue reads the file:
    its tags or its successor do not survive in a column."""
    return {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "tags": f" {' '.join(memory.tags)} ",
        "relevance": memory.relevance,
        "pinned": memory.pinned,
        "scope": f"{memory.scope}:{memory.session}" if memory.session else memory.scope,
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
        "commit_hash": commit_of(memory),
        "confirmed_at": confirmed_at(memory),
        "season": memory.season or "",
        "is_read": memory.kind == "diff" or memory.provenance.get("source") == OBSERVED,
        "triggers": json.dumps(told) if (told := _triggers(memory)) else "",
        "characters": len(memory.raw),
        "is_odd": memory.superseded_by == "" or any(tag.split() != [tag] for tag in memory.tags),
    }


def commit_of(memory: Memory) -> str:
    """The commit that the memory is a part of; empty for one that is an entry by itself."""
    return _text(memory.provenance.get("commit")) if memory.kind == "diff" else ""


def tellers_of(memories: Iterable[Memory]) -> dict[str, str]:
    """For each commit the least id of its memories: that one is indexed with the message of the commit."""
    tellers: dict[str, str] = {}
    for memory in memories:
        if commit := commit_of(memory):
            tellers[commit] = min(memory.id, tellers.get(commit, memory.id))
    return tellers


class IndexRecords(Record):
    """What the tables of an index have of one memory, beside its row.

    `fields` are the analysed terms of each of FIELDS, joined by spaces; `entry`, `passages`, `links` and `anchors` the values
    for the tables, in the order of their columns.
    """

    entry: Mapping[str, Any]
    fields: tuple[str, ...]
    passages: Sequence[tuple[int, str, int, int, str, bool, bytes]]
    links: Sequence[tuple[str, str, float]]
    anchors: Sequence[tuple[str, int, int]]


def records_of(memory: Memory, *, tells: bool) -> IndexRecords:
    """The rows of the index for a memory. The message of a commit is indexed with one of its files only (`tells`):
    otherwise one commit would answer many times, and its words would count as common."""
    cut = passages(memory)
    raw, spans = _raw_terms(memory.raw, cut, tells=tells)
    if tells:
        summaries = dict.fromkeys((memory.summary_micro, memory.summary_short, memory.summary_long))
        # A short text is its own summary: counting it again would only blur how long it is.
        summary = "\n".join(s for s in summaries if s and s.strip() != memory.raw.strip())
    else:
        symbols = memory.metadata.get("functions")
        summary = "\n".join(map(str, symbols)) if isinstance(symbols, list | tuple) else ""
    texts = (memory.path, "\n".join(memory.tags), summary, structured(memory))
    path, tags, summary, content = (" ".join(terms(text)) for text in texts)
    fields = (path, tags, summary, " ".join(raw), content)
    embedded = embedded_texts(memory, cut)
    return IndexRecords(
        {**columns(memory), "terms": sum(text.count(" ") + bool(text) for text in fields), "tells": tells},
        fields,
        [
            (n, one.form, *spans[n], " ".join(terms(heading(memory, one))), is_versioned(memory, one), text_key(embedded[n]))
            for n, one in enumerate(cut)
            if tells or one.form != MESSAGE
        ],
        links(memory),
        anchors(memory),
    )  # fmt: skip


def _raw_terms(raw: str, cut: Sequence[Passage], *, tells: bool) -> tuple[list[str], list[tuple[int, int]]]:
    """The terms of the raw text, passage by passage with what stands between them, so that each knows its own."""
    found: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for passage in cut:
        first = len(found)
        if passage.end and (tells or passage.form != MESSAGE):
            found += terms(raw[at : passage.start])
            first = len(found)
            found += terms(raw[passage.start : passage.end])
        at = max(at, passage.end)
        spans.append((first, len(found)))
    return [*found, *terms(raw[at:])], spans


def _triggers(memory: Memory) -> list[str]:
    """The patterns that surface the memory. A hand may have put anything into the file."""
    own = memory.procedure.get("trigger") if isinstance(memory.procedure, Mapping) else None
    return [text for text in (*memory.triggers, own) if isinstance(text, str) and text]


_WINDOW_CHARACTERS = 800
"""About what a window of 256 word pieces holds."""


def window_text(before: str, text: str) -> str:
    """The text of a turn after the end of the turn before it, as much as fits into one window of the embedder."""
    return f"{before[-_WINDOW_CHARACTERS // 2 :]}\n{text[: _WINDOW_CHARACTERS // 2 * 3 // 2]}"


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
    """File, first and last line of each place in the code that the memory refers to; lines 0, 0 mean the whole file.
    Memories read from the code itself have none: they change with it."""
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
