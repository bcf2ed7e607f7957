"""`json`: the complete bundle."""

from __future__ import annotations

from typing import Any

from memcli.codec.canonical import encode, encode_line
from memcli.model.memory import Json
from memcli.model.recall import LEVELS, PASSAGE, PASSAGES, RAW, SENTENCE, Bundle, Section
from memcli.policy.answer import forms, texts_of
from memcli.render.as_prompt import global_summary
from memcli.render.clean import escape


def render(bundle: Bundle) -> str:
    """The bundle as canonical JSON; on one line under a budget, because indentation costs tokens."""
    write = encode if bundle.query.budget is None else encode_line
    return escape(write(bundle_to_json(bundle)).decode())


def bundle_to_json(bundle: Bundle) -> dict[str, Json]:
    """The complete bundle as JSON; only the counts and the reason if the budget has room for no memory.

    With `explain`, sections have `score` and `why`.
    """
    query = bundle.query
    period = {}
    if query.period is not None:
        named = {"name": query.period.name, **query.period.ends}
        # Under a budget only the dates: what stands around the memories counts, too.
        period = named if query.budget is None else {"name": query.period.dates}
    notes: dict[str, Json] = {
        "reason": bundle.reason,
        "confidence": bundle.confidence,
        "weak": bundle.is_weak,
        "period": period,
        "degraded": bundle.degraded,
        "missing_vectors": bundle.missing,
        "withheld_untrusted": bundle.withheld_untrusted + bundle.untrusted_pins,
        "verified": {},
    }
    if verdict := bundle.verdict:
        result = (
            {"failure": verdict.failure} if verdict.failure else {"rejected": verdict.rejected, "model": verdict.model}
        )
        notes["verified"] = {"asked": verdict.candidates, **result}
    data: dict[str, Json] = {
        "space": bundle.space,
        "sections": [_section(section, bundle) for section in bundle.sections],
        "matched": bundle.matched,
        **{name: value for name, value in notes.items() if value},
    }
    # The frame of an empty answer takes 60 tokens at most, since the budget is not for it.
    if query.budget is not None and not (bundle.sections or bundle.always):
        return data
    data |= {
        "topic": bundle.topic,
        "generated_at": query.now,
        "global_summary": global_summary(bundle),
        "raw": _raw(bundle) if query.include_raw or query.budget is not None else [],
        "limit": query.limit,
    }
    if bundle.always:
        data["always"] = [_section(section, bundle) for section in bundle.always]
    if bundle.withheld_pins and query.budget is None:
        data["withheld_pins"] = bundle.withheld_pins
    if query.budget is not None:
        data["withheld"] = bundle.withheld
    return data


def _section(section: Section, bundle: Bundle) -> dict[str, Any]:
    data = _fields(section)
    if section.untrusted:
        data["untrusted"] = section.untrusted
    if section.is_unreviewed:
        data["unreviewed"] = True
    if section.opposed:
        data["contradicts"] = [one.to_json(is_brief=section.level in LEVELS[:2]) for one in section.opposed]
    if section.anchors:
        data["anchors"] = [anchor.to_json() for anchor in section.anchors]
    if section.space != bundle.space:
        data["space"] = section.space
    if bundle.query.edits is not None:
        data["matched_by"] = section.matched_by
    elif section.is_lead:
        data["triggered"] = True
    if bundle.query.explain:
        data |= {"confidence": section.confidence} if section.confidence is not None else {}
        data["score"] = section.score
        data["why"] = section.why
    return data


def _fields(section: Section) -> dict[str, Any]:
    """The fields of a memory: all without a budget; else its text at the level that the budget allows, and what cites it."""
    memory, texts = section.memory, texts_of(section)
    data: dict[str, Any] = {"id": memory.id, "path": memory.path, "kind": memory.kind}
    if section.level is None or section.level in forms(section)[1] or section.level == forms(section)[0][-1]:
        data |= {
            "relevance": memory.relevance,
            "pinned": memory.pinned,
            "tags": memory.tags,
            "metadata": memory.metadata,
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
        }
    data["summary_micro"] = texts[SENTENCE] if section.level == SENTENCE else texts["micro"]
    for level in ("short", "long"):
        if section.level is None or (section.level == level and texts[level] != texts["micro"]):
            data[f"summary_{level}"] = texts[level]
    if section.passage and section.level in (None, PASSAGE, PASSAGES):
        start, end = section.span
        data["passage"] = {
            "text": texts[PASSAGES] or section.passage,
            "heading": section.heading,
            "start": start,
            "end": end,
        }
    if section.also:
        data["also"] = [{"id": name, "path": path} for name, path in section.also]
    if "metadata" in data:
        structured = {"procedure": memory.procedure} if memory.procedure else {}
        if memory.content is not None and (section.shows_content or not memory.raw):
            structured["content"] = memory.content
        limit = section.limit
        for name, value in structured.items():
            # Whole or not at all: a part of it would be no JSON.
            if limit is None or len(encode_line(value).decode()) <= limit:
                data[name] = value
    return data


def _raw(bundle: Bundle) -> list[dict[str, Json]]:
    """The full texts of the sections: those that fit the budget or, without one, of the first `raw_limit`."""
    shown = (*bundle.sections, *bundle.always)
    raw = []
    for section in shown[: bundle.query.raw_limit]:
        if section.level not in (None, RAW):
            continue
        memory = section.memory
        item: dict[str, Json] = {"path": memory.path, "raw": memory.raw, "kind": memory.kind}
        if memory.content is not None:
            item["content"] = memory.content
        raw.append(item)
    return raw
