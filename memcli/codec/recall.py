"""The answer of a recall as JSON."""

from __future__ import annotations

from typing import Any

from memcli.model.memory import Json
from memcli.model.recall import Bundle, Section


def bundle_to_json(bundle: Bundle) -> dict[str, Json]:
    """The whole bundle. `score` and `why` are there when the query asks to explain."""
    query = bundle.query
    data: dict[str, Json] = {
        "space": bundle.space,
        "topic": query.topic,
        "generated_at": query.now,
        "global_summary": bundle.global_summary,
        "sections": [_section(section, query.explain) for section in bundle.sections],
        "raw": _raw(bundle) if query.include_raw else [],
        "limit": query.limit,
        "matched": bundle.matched,
    }
    if bundle.reason:
        data["reason"] = bundle.reason
    if bundle.degraded:
        data["degraded"] = True
    return data


def _section(section: Section, explain: bool) -> dict[str, Any]:
    memory = section.memory
    data: dict[str, Any] = {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "summary_micro": memory.summary_micro,
        "summary_short": memory.summary_short,
        "summary_long": memory.summary_long,
        "relevance": memory.relevance,
        "pinned": memory.pinned,
        "tags": memory.tags,
        "metadata": memory.metadata,
        "updated_at": memory.updated_at,
    }
    if explain:
        data["score"] = section.score
        data["why"] = section.why
    return data


def _raw(bundle: Bundle) -> list[dict[str, Json]]:
    limit = len(bundle.sections) if bundle.query.raw_limit is None else bundle.query.raw_limit
    raw = []
    for section in bundle.sections[:limit]:
        memory = section.memory
        item: dict[str, Json] = {"path": memory.path, "raw": memory.raw, "kind": memory.kind}
        if memory.content is not None:
            item["content"] = memory.content
        raw.append(item)
    return raw
