"""The answer of a recall as JSON."""

from __future__ import annotations

from typing import Any

from memcli.model.memory import Json
from memcli.model.recall import LEVELS, Bundle, Evidence, Section


def bundle_to_json(bundle: Bundle) -> dict[str, Json]:
    """The whole bundle. `score` and `why` are there when the query asks to explain."""
    query = bundle.query
    data: dict[str, Json] = {
        "space": bundle.space,
        "topic": query.topic,
        "generated_at": query.now,
        "global_summary": bundle.global_summary,
        "sections": [
            _section(section, query.explain, bundle.space, query.edits is not None) for section in bundle.sections
        ],
        "raw": _raw(bundle) if query.include_raw or query.budget is not None else [],
        "limit": query.limit,
        "matched": bundle.matched,
    }
    if bundle.reason:
        data["reason"] = bundle.reason
    if bundle.degraded:
        data["degraded"] = True
    if bundle.withheld_untrusted:
        data["withheld_untrusted"] = bundle.withheld_untrusted
    if query.budget is not None:
        data["withheld"] = bundle.withheld
    if query.explain:
        data["evidence"] = {name: _evidence(found) for name, found in bundle.evidence.items()}
    return data


def _evidence(found: Evidence) -> dict[str, Json]:
    return {
        "words": round(found.words, 4),
        "cosine": None if found.cosine is None else round(found.cosine, 4),
        "cosine_floor": round(found.cosine_floor, 4),
        "sum_floor": round(found.sum_floor, 4),
        "is_enough": found.is_enough,
    }


def _section(section: Section, explain: bool, space: str, by_change: bool) -> dict[str, Any]:
    memory = section.memory
    level = LEVELS.index(section.level) if section.level else len(LEVELS)
    data: dict[str, Any] = {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "summary_micro": memory.summary_micro,
        "summary_short": memory.summary_short if level >= 1 else "",
        "summary_long": memory.summary_long if level >= 2 else "",
        "relevance": memory.relevance,
        "pinned": memory.pinned,
        "tags": memory.tags,
        "metadata": memory.metadata,
        "updated_at": memory.updated_at,
    }
    if section.untrusted:
        data["untrusted"] = section.untrusted
    if section.is_unreviewed:
        data["unreviewed"] = True
    if section.anchors:
        data["anchors"] = [anchor.to_json() for anchor in section.anchors]
    if section.space != space:
        data["space"] = section.space
    if by_change:
        data["matched_by"] = section.matched_by
    elif section.is_lead:
        data["triggered"] = True
    if explain:
        data["score"] = section.score
        data["why"] = section.why
    return data


def _raw(bundle: Bundle) -> list[dict[str, Json]]:
    """The whole texts: of those that a budget has room for, or of the first that are asked for."""
    limit = len(bundle.sections) if bundle.query.raw_limit is None else bundle.query.raw_limit
    raw = []
    for section in bundle.sections[:limit]:
        if section.level not in (None, "raw"):
            continue
        memory = section.memory
        item: dict[str, Json] = {"path": memory.path, "raw": memory.raw, "kind": memory.kind}
        if memory.content is not None:
            item["content"] = memory.content
        raw.append(item)
    return raw
