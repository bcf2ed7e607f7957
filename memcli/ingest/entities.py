"""Entities: the knowledge graph that the MCP memory server keeps as JSON Lines; one memory for each entity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.errors import CorruptError
from memcli.git.repository import to_text
from memcli.ingest.labels import memory_path
from memcli.model.names import slug
from memcli.record import Record, field

_FOLDER = "entities"
_RELATIONS: Mapping[str, str] = {
    "depends_on": "depends_on", "depends": "depends_on", "requires": "depends_on", "needs": "depends_on",
    "supersedes": "supersedes", "replaces": "supersedes", "contradicts": "contradicts",
    "derived_from": "derived_from", "derives_from": "derived_from",
}  # fmt: skip
_ASK = "use a file of the MCP memory server, with one entity or relation per line"


class _Entity(Record, frozen=False):
    type: str
    observations: dict[str, None] = field(default_factory=dict)
    relations: dict[tuple[str, str], None] = field(default_factory=dict)


def is_graph(data: bytes) -> bool:
    """Whether the first line is an entity or a relation."""
    try:
        first = json.loads(data.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("type") in ("entity", "relation") and "format" not in first


def read_graph(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """The memories in the file `where`. Raises UnfitError, CorruptError naming the line."""
    graph = _graph(to_text(data), where)
    for name, entity in graph.items():
        relations = [{"to": to, "relation": kind} for to, kind in entity.relations]
        metadata: dict[str, object] = {"source": where, "entity": name, "entity_type": entity.type}
        if relations:
            metadata["relations"] = relations
        links = dict.fromkeys((to, _RELATIONS.get(_key(kind), "relates_to")) for to, kind in entity.relations)
        yield {
            "path": memory_path(name, _FOLDER),
            "kind": "entity",
            "raw": _text(name, entity),
            "tags": [tag] if (tag := slug(entity.type)) else [],
            "metadata": metadata,
            "provenance": {"source": "imported", "files": [where]},
            "names": [f"entity:{where}:{name}"],
            "links": [{"to": f"entity:{where}:{to}", "relation": relation} for to, relation in links],
        }


def _graph(text: str, where: str) -> dict[str, _Entity]:
    """The entities by name. One that is told twice has all that is told of it."""
    graph: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = _value(line, f"{where}: line {number}")
        if value.get("type") == "entity":
            name, kind = _texts(value, ("name", "entityType"), f"{where}: line {number}")
            observations = value.get("observations", [])
            if not isinstance(observations, list) or not all(isinstance(text, str) for text in observations):
                raise CorruptError(f"{where}: line {number}: observations must be a list of strings", _ASK)
            graph.setdefault(name, _Entity(kind)).observations.update(dict.fromkeys(observations))
        elif value.get("type") == "relation":
            one, other, kind = _texts(value, ("from", "to", "relationType"), f"{where}: line {number}")
            relations.append((one, other, kind))
        else:
            raise CorruptError(f"{where}: line {number}: neither an entity nor a relation", _ASK)
    for one, other, kind in relations:
        if one in graph:
            graph[one].relations[other, kind] = None
    return graph


def _value(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise CorruptError(f"{where}: invalid JSON", _ASK) from None
    if not isinstance(value, dict):
        raise CorruptError(f"{where}: not a JSON object", _ASK)
    return value


def _texts(value: Mapping[str, Any], names: tuple[str, ...], where: str) -> list[str]:
    found = []
    for name in names:
        text = value.get(name)
        if not isinstance(text, str) or not text.strip() or "\0" in text:
            raise CorruptError(f"{where}: {name} must be a string", _ASK)
        found.append(" ".join(text.split()))
    return found


def _text(name: str, entity: _Entity) -> str:
    lines = [f"{name} ({entity.type})", *(f"- {text}" for text in entity.observations)]
    return "\n".join([*lines, *(f"- {name} {_words(kind)} {to}" for to, kind in entity.relations)])


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _key(kind: str) -> str:
    return slug(kind).replace("-", "_")
