"""Exports of mem0, as JSON: a list of memories, or an object that has them as `results` or `memories`; one memory each.

`results` is what the library and the platform return, a page of it too, with `relations` between entities beside it;
`memories` is what exports and the backups of OpenMemory hold, whose categories stand in a table of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.clock import normalize_time
from memcli.errors import CorruptError, UsageError
from memcli.git.reading import to_text
from memcli.ingest.entities import read_graph
from memcli.ingest.labels import memory_path
from memcli.model.names import short_digest, slug
from memcli.model.shapes import KINDS
from memcli.regex import regex

_FOLDER = "mem0"
_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content")
_OWNERS = ("user_id", "agent_id", "app_id", "app", "run_id")
_OWN_FIELDS = ("hash", "state", "actor_id", *_OWNERS)
"""Fields that other lists of texts with ids do not have."""
_DROPPED = frozenset((*_TEXTS, "categories", "category_ids", "created_at", "score"))
"""What becomes a field of the memory, and what speaks of a search."""
_MEMCLI = regex(rb'"format":\s*"memcli/')
_MAX_TAGS = 16
_ASK = "use a JSON export of mem0"


def is_mem0(data: bytes) -> bool:
    """Whether `data` is such JSON: a list that begins with a memory of mem0, or an object with such a list."""
    if data.lstrip()[:1] not in (b"[", b"{") or _MEMCLI.search(data):
        return False
    try:
        items = _items(json.loads(data))
    except (ValueError, RecursionError):
        return False
    first = items[0] if items else {}
    text = next((name for name in _TEXTS if isinstance(first, dict) and isinstance(first.get(name), str)), None)
    if not items or text is None:
        return False
    return "id" in first and (text == "memory" or any(name in first for name in _OWN_FIELDS))


def read_mem0(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memories in the file `where`, and one for each entity that has relations. Raises UnfitError, CorruptError.

    Nothing of a memory depends on how the file is called, so that a later export updates it. What was deleted is left out.
    """
    try:
        tree = json.loads(to_text(data))
        json.dumps(tree, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise CorruptError(f"{where}: invalid JSON", _ASK) from None
    items = _items(tree)
    if items is None:
        raise CorruptError(f"{where}: no list of memories", _ASK)
    table = _categories(tree)
    found: dict[str, Mapping[str, object]] = {}
    for n, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: memory {n} is not an object", _ASK)
        fields = _memory(item, table, f"{where}: memory {n}")
        if item.get("state") != "deleted":
            found[str(fields["path"])] = fields  # of one that stands there twice the last
    yield from found.values()
    yield from _entities(tree, where)


def _items(tree: Any) -> list[Any] | None:
    """The list of memories; None where there is none."""
    if isinstance(tree, list):
        return tree
    lists = [tree[name] for name in _LISTS if isinstance(tree.get(name), list)] if isinstance(tree, dict) else []
    return lists[0] if lists else None


def _memory(item: Mapping[str, Any], table: Mapping[str, str], at: str) -> dict[str, object]:
    text = next((item[name] for name in _TEXTS if item.get(name) is not None), None)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise CorruptError(f"{at} has no text", _ASK)
    name = item.get("id") or item.get("hash") or short_digest(text, 16)
    if not isinstance(name, str | int):
        raise CorruptError(f"{at}: id must be a string", _ASK)
    owner = next((item[key] for key in _OWNERS if isinstance(item.get(key), str) and item[key].strip()), "")
    own = item.get("metadata")
    own = own if isinstance(own, dict) else {}
    metadata: dict[str, object] = {
        "source": f"{_FOLDER}:{name}",
        "mem0": {key: value for key, value in item.items() if key not in _DROPPED and value not in (None, {}, [])},
    }
    if isinstance(speaker := item.get("actor_id"), str) and speaker.strip():
        metadata["speaker"] = speaker
    fields: dict[str, object] = {
        "path": memory_path("/".join(part for part in (owner, str(name)) if part), _FOLDER),
        "raw": text.strip("\n"),
        "tags": _tags(item, own, table),
        "metadata": metadata,
        "provenance": {"source": "imported"},
        "names": [f"{_FOLDER}:{name}"],
    }
    kind = next((str(own[key]).lower() for key in ("kind", "type") if str(own.get(key)).lower() in KINDS), None)
    times = {"created_at": _time(item.get("created_at")), "valid_until": _time(item.get("expiration_date"))}
    fields |= {key: value for key, value in {"kind": kind, **times}.items() if value}
    return fields | ({"active": False} if item.get("state") in ("archived", "paused") else {})


def _tags(item: Mapping[str, Any], own: Mapping[str, Any], table: Mapping[str, str]) -> list[str]:
    named = [name for key in ("categories", "tags") for name in _list(item.get(key))]
    named += [table.get(name, "") for name in _list(item.get("category_ids"))]
    named += [name for key in ("category", "categories", "tags") for name in _list(own.get(key))]
    return list(dict.fromkeys(tag for tag in map(slug, named) if tag))[:_MAX_TAGS]


def _list(value: Any) -> list[str]:
    """The texts in a value that is a text or a list."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _categories(tree: Any) -> dict[str, str]:
    """The names of the categories by their ids, of a backup that has them in a table."""
    rows = tree.get("categories") if isinstance(tree, dict) else None
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {row["id"]: row["name"] for row in rows if all(isinstance(row.get(key), str) for key in ("id", "name"))}


def _time(value: Any) -> str | None:
    try:
        return normalize_time(value) if isinstance(value, str) else None
    except UsageError:
        return None


def _entities(tree: Any, where: str) -> Iterator[Mapping[str, object]]:
    """The entities that have relations, read as the knowledge graph that they are."""
    relations = tree.get("relations") if isinstance(tree, dict) else None
    if not relations:
        return
    if not isinstance(relations, list):
        raise CorruptError(f"{where}: relations must be a list", _ASK)
    triples = [_triple(one, f"{where}: relation {n}") for n, one in enumerate(relations, 1)]
    lines: list[dict[str, str]] = [
        {"type": "entity", "name": name, "entityType": "entity"} for name in dict.fromkeys(name for name, *_ in triples)
    ]
    lines += [{"type": "relation", "from": one, "to": to, "relationType": kind} for one, kind, to in triples]
    for fields in read_graph("\n".join(map(json.dumps, lines)).encode(), _FOLDER):
        yield {**fields, "provenance": {"source": "imported"}}


def _triple(relation: Any, at: str) -> tuple[str, str, str]:
    keys: Sequence[tuple[str, ...]] = (("source",), ("relationship", "relation"), ("target", "destination"))
    found = [
        next((relation[key] for key in names if isinstance(relation.get(key), str) and relation[key].strip()), None)
        for names in keys
        if isinstance(relation, dict)
    ]
    if len(found) != len(keys) or None in found or any("\0" in str(one) for one in found):
        raise CorruptError(f"{at} needs source, relationship and target", _ASK)
    return str(found[0]), str(found[1]), str(found[2])
