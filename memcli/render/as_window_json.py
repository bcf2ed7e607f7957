"""A context window as JSON: what is in it, what each section took, and what was left out and why."""

from __future__ import annotations

from memcli.conversation.items import CHUNKS, MEMORIES, MESSAGES, SECTIONS, SYSTEM, Item
from memcli.conversation.window import ContextWindow, LeftOut
from memcli.model.memory import Json
from memcli.render.as_window import notes
from memcli.render.clean import clean, inert

_SHARES = {MESSAGES: 0.6, MEMORIES: 0.4}


def window_to_json(window: ContextWindow, query: str, space: str) -> dict[str, Json]:
    """The whole window."""
    limits = window.limits
    return {
        "query": query,
        "space": space,
        "total": limits.total,
        "reserve_system": limits.reserve_system,
        "reserve_working": limits.reserve_working,
        "used": window.used,
        "available": window.room,
        "allocation": {section: _allocation(window, section) for section in SECTIONS},
        "sections": [
            {"name": name, "items": [_item(i) for i in window.of(name)]} for name in SECTIONS if window.of(name)
        ],
        "left_out": [_left_out(one) for one in window.left_out],
        "notes": list(notes(window)),
    }


def _allocation(window: ContextWindow, section: str) -> dict[str, Json]:
    items = window.of(section)
    data: dict[str, Json] = {"items": len(items), "tokens": sum(item.tokens for item in items)}
    if section in _SHARES:
        data["share"] = int(window.room * _SHARES[section])
    return data


def _item(item: Item) -> dict[str, Json]:
    text = clean(item.text) if item.section == SYSTEM else inert(clean(item.text))
    data: dict[str, Json] = {"id": item.id, "text": text, "tokens": item.tokens, "priority": round(item.priority, 4)}
    if item.section == MESSAGES:
        data["role"] = item.role
    if item.number:
        data["number"] = item.number
    if item.source:
        data["inserted_from"] = item.source
    if item.section in (CHUNKS, MEMORIES):
        data["label"] = item.label
    return {**data, **({"cut": True} if item.is_cut else {})}


def _left_out(one: LeftOut) -> dict[str, Json]:
    return {
        "section": one.section, "id": one.id, "tokens": one.tokens, "priority": round(one.priority, 4), "reason": one.reason,
    }  # fmt: skip
