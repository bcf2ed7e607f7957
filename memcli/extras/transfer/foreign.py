"""Files of other tools; one of READERS reads each file.

A reader takes the bytes of a file and its name, and yields mappings: the fields of a memory, with `names` in addition, by
which other memories refer to this one. `links` and `superseded_by` hold such names; once all files are read, they become
paths.

Exports of mem0 are JSON: a list of memories, or an object with this list. It is `results` in what the library and the
platform return, with `relations` between entities beside it, and `memories` in exports and in backups of OpenMemory, which
have a table of categories. The knowledge graph of the MCP memory server is JSON Lines.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from memcli.clock import time_or_none
from memcli.codec.bundle import is_document
from memcli.errors import CorruptError, UsageError
from memcli.extras.transfer.decisions import is_decision, is_instructions, read_decision, read_instructions, read_note
from memcli.git.repository import UnfitError, read_bytes, to_text
from memcli.git.tree import Ignore, Tree
from memcli.ingest.labels import memory_path
from memcli.model.findings import Failure, reason_of
from memcli.model.names import free_path, readable, short_digest, slug
from memcli.model.shapes import KINDS
from memcli.regex import regex

_MEM0 = "mem0"
_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content")
_OWNERS = ("user_id", "agent_id", "app_id", "app", "run_id")
_OWN_FIELDS = ("hash", "state", "actor_id", *_OWNERS)
"""Fields by which a list of texts with ids is recognized as one of mem0."""
_DROPPED = frozenset((*_TEXTS, "categories", "category_ids", "created_at", "score"))
"""Fields that are not copied to the metadata: they become fields of the memory, or are the score of a search."""
_MEMCLI = regex(rb'"format":\s*"memcli/')
_MAX_TAGS = 16
_ASK_FOR_MEM0 = "use a JSON export of mem0"


def is_mem0(data: bytes) -> bool:
    """Whether `data` is a JSON export of mem0: a list that begins with a memory of mem0, or an object with such a list."""
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
    """The memories in an export of mem0, without deleted ones, and one for each entity that has relations.

    Raises UnfitError for a file that is no text, CorruptError naming the memory that is malformed.
    """
    # Neither paths nor metadata contain the file's name, so that a later export in another file updates the memories.
    tree = _loaded(to_text(data), where, _ASK_FOR_MEM0)
    items = _items(tree)
    if items is None:
        raise CorruptError(f"{where}: no list of memories", _ASK_FOR_MEM0)
    # In a backup, memories have only the ids of their categories; a table beside them has the names.
    rows = tree.get("categories") if isinstance(tree, dict) else None
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    table = {row["id"]: row["name"] for row in rows if all(isinstance(row.get(key), str) for key in ("id", "name"))}
    found: dict[str, Mapping[str, object]] = {}
    for n, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise CorruptError(f"{where}: memory {n} is not an object", _ASK_FOR_MEM0)
        fields = _memory(item, table, f"{where}: memory {n}")
        if item.get("state") != "deleted":
            found[str(fields["path"])] = fields  # the last of several with one id
    yield from found.values()
    yield from _entities(tree, where)


def _items(tree: Any) -> list[Any] | None:
    """The list of memories in a JSON value; None if it has none."""
    if isinstance(tree, list):
        return tree
    lists = [tree[name] for name in _LISTS if isinstance(tree.get(name), list)] if isinstance(tree, dict) else []
    return lists[0] if lists else None


def _memory(item: Mapping[str, Any], table: Mapping[str, str], at: str) -> dict[str, object]:
    """The fields of a memory of mem0; `table` has the names of categories by id. Raises CorruptError, which names `at`."""
    text = next((item[name] for name in _TEXTS if item.get(name) is not None), None)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise CorruptError(f"{at} has no text", _ASK_FOR_MEM0)
    name = item.get("id") or item.get("hash") or short_digest(text, 16)
    if not isinstance(name, str | int):
        raise CorruptError(f"{at}: id must be a string", _ASK_FOR_MEM0)
    owner = next((item[key] for key in _OWNERS if isinstance(item.get(key), str) and item[key].strip()), "")
    own = item.get("metadata")
    own = own if isinstance(own, dict) else {}
    names = [name for key in ("categories", "tags") for name in _list(item.get(key))]
    names += [table.get(name, "") for name in _list(item.get("category_ids"))]
    names += [name for key in ("category", "categories", "tags") for name in _list(own.get(key))]
    metadata: dict[str, object] = {
        "source": f"{_MEM0}:{name}",
        "mem0": {key: value for key, value in item.items() if key not in _DROPPED and value not in (None, {}, [])},
    }
    if isinstance(speaker := item.get("actor_id"), str) and speaker.strip():
        metadata["speaker"] = speaker
    fields: dict[str, object] = {
        "path": memory_path("/".join(part for part in (owner, str(name)) if part), _MEM0),
        "raw": text.strip("\n"),
        "tags": list(dict.fromkeys(tag for tag in map(slug, names) if tag))[:_MAX_TAGS],
        "metadata": metadata,
        "provenance": {"source": "imported"},
        "names": [f"{_MEM0}:{name}"],
    }
    kind = next((str(own[key]).lower() for key in ("kind", "type") if str(own.get(key)).lower() in KINDS), None)
    times = {
        "created_at": time_or_none(item.get("created_at")),
        "valid_until": time_or_none(item.get("expiration_date")),
    }
    fields |= {key: value for key, value in {"kind": kind, **times}.items() if value}
    return fields | ({"active": False} if item.get("state") in ("archived", "paused") else {})


def _list(value: Any) -> list[str]:
    """The strings in a value that is a string or a list."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _entities(tree: Any, where: str) -> Iterator[Mapping[str, object]]:
    """A memory for each entity that has relations. Raises CorruptError."""
    # The relations become a graph in the format of the MCP server, so that one reader makes the memories of both.
    relations = tree.get("relations") if isinstance(tree, dict) else None
    if not relations:
        return
    if not isinstance(relations, list):
        raise CorruptError(f"{where}: relations must be a list", _ASK_FOR_MEM0)
    keys: Sequence[tuple[str, ...]] = (("source",), ("relationship", "relation"), ("target", "destination"))
    triples = []
    for n, relation in enumerate(relations, 1):
        found = [
            next((relation[key] for key in names if isinstance(relation.get(key), str) and relation[key].strip()), "\0")
            for names in keys
            if isinstance(relation, dict)
        ]
        # "\0" stands for a missing name; a name that holds one is refused with it, since no store can hold it.
        if not found or any("\0" in one for one in found):
            raise CorruptError(f"{where}: relation {n} needs source, relationship and target", _ASK_FOR_MEM0)
        triples.append(found)
    lines: list[dict[str, str]] = [
        {"type": "entity", "name": name, "entityType": "entity"} for name in dict.fromkeys(name for name, *_ in triples)
    ]
    lines += [{"type": "relation", "from": one, "to": to, "relationType": kind} for one, kind, to in triples]
    for fields in read_graph("\n".join(map(json.dumps, lines)).encode(), _MEM0):
        yield {**fields, "provenance": {"source": "imported"}}


_ENTITIES = "entities"
_RELATIONS: Mapping[str, str] = {
    "depends_on": "depends_on", "depends": "depends_on", "requires": "depends_on", "needs": "depends_on",
    "supersedes": "supersedes", "replaces": "supersedes", "contradicts": "contradicts",
    "derived_from": "derived_from", "derives_from": "derived_from",
}  # fmt: skip
_ASK_FOR_GRAPH = "use a file of the MCP memory server, with one entity or relation per line"


_Entity = tuple[str, dict[str, None], dict[tuple[str, str], None]]
"""The type of an entity, its observations, and its relations as pairs of target and kind; each once, in order of the file."""


def is_graph(data: bytes) -> bool:
    """Whether the first line is an entity or a relation of the MCP memory server."""
    try:
        first = json.loads(data.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("type") in ("entity", "relation") and "format" not in first


def read_graph(data: bytes, where: str) -> Iterator[Mapping[str, object]]:
    """A memory for each entity in the graph `where`. Raises UnfitError for a file that is no text, CorruptError naming the line."""
    graph = _graph(to_text(data), where)
    for name, (entity_type, observations, relations) in graph.items():
        metadata: dict[str, object] = {"source": where, "entity": name, "entity_type": entity_type}
        if relations:
            metadata["relations"] = [{"to": to, "relation": kind} for to, kind in relations]
        kinds = ((to, slug(kind).replace("-", "_")) for to, kind in relations)
        links = dict.fromkeys((to, _RELATIONS.get(kind, "relates_to")) for to, kind in kinds)
        lines = [f"{name} ({entity_type})", *(f"- {text}" for text in observations)]
        lines += [f"- {name} {kind.replace('_', ' ')} {to}" for to, kind in relations]
        yield {
            "path": memory_path(name, _ENTITIES),
            "kind": "entity",
            "raw": "\n".join(lines),
            "tags": [tag] if (tag := slug(entity_type)) else [],
            "metadata": metadata,
            "provenance": {"source": "imported", "files": [where]},
            "names": [f"entity:{where}:{name}"],
            "links": [{"to": f"entity:{where}:{to}", "relation": relation} for to, relation in links],
        }


def _graph(text: str, where: str) -> dict[str, _Entity]:
    """The entities by name; several lines of one entity are merged. Raises CorruptError."""
    graph: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str]] = []
    # Not `splitlines`, which breaks lines at U+2028 too, and a string of JSON may have one.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = _loaded(line, f"{where}: line {number}", _ASK_FOR_GRAPH)
        if not isinstance(value, dict):
            raise CorruptError(f"{where}: line {number}: not a JSON object", _ASK_FOR_GRAPH)
        if value.get("type") == "entity":
            name, kind = _texts(value, ("name", "entityType"), f"{where}: line {number}")
            observations = value.get("observations", [])
            if not isinstance(observations, list) or not all(isinstance(text, str) for text in observations):
                raise CorruptError(f"{where}: line {number}: observations must be a list of strings", _ASK_FOR_GRAPH)
            # An entity may be named in several lines: its observations are joined, each once.
            graph.setdefault(name, (kind, {}, {}))[1].update(dict.fromkeys(observations))
        elif value.get("type") == "relation":
            one, other, kind = _texts(value, ("from", "to", "relationType"), f"{where}: line {number}")
            relations.append((one, other, kind))
        else:
            raise CorruptError(f"{where}: line {number}: neither an entity nor a relation", _ASK_FOR_GRAPH)
    # Last, because a relation may stand before its entities; one of an entity that the file lacks is dropped.
    for one, other, kind in relations:
        if one in graph:
            graph[one][2][other, kind] = None
    return graph


def _loaded(text: str, where: str, hint: str) -> Any:
    """The JSON value in `text`. Raises CorruptError for invalid JSON, NaN, infinity and lone surrogates."""
    try:
        value = json.loads(text)
        # Python reads NaN and lone surrogates from JSON, but no store can write them.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise CorruptError(f"{where}: invalid JSON", hint) from None
    return value


def _texts(value: Mapping[str, Any], names: tuple[str, ...], where: str) -> list[str]:
    """The strings in these fields of a line, each on one line. Raises CorruptError for a field that is missing or blank."""
    found = []
    for name in names:
        text = value.get(name)
        if not isinstance(text, str) or not text.strip() or "\0" in text:
            raise CorruptError(f"{where}: {name} must be a string", _ASK_FOR_GRAPH)
        found.append(" ".join(text.split()))
    return found


Reader = Callable[[bytes, str], Iterator[Mapping[str, object]]]

READERS: Mapping[str, Reader] = {
    "adr": read_decision, "agents": read_instructions, "markdown": read_note, "mcp": read_graph, "mem0": read_mem0,
}  # fmt: skip
_MARKDOWN = (".md", ".markdown", ".mdx")


class ForeignSource:
    """Files of other tools, as pairs of name and content, which the reader `form` reads; with `auto`, each file's own.

    `found` counts the files by reader, `skipped` the files without a memory by reason, and `failed` lists those that a
    defect of a reader prevented. With `strict`, for a file that the user named, an error is raised instead.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]], form: str, skipped: Counter[str], *, strict: bool) -> None:
        self._files = files
        self._form = form
        self._strict = strict
        self.skipped = skipped
        self.failed: list[Failure] = []
        self.found: Counter[str] = Counter()

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """The fields of each memory, in the order of the files. With `strict`, raises UsageError or CorruptError for a file
        that cannot be read."""
        candidates: dict[str, dict[str, Any]] = {}
        for where, data in self._files:
            form = self._form if self._form != "auto" else detect(where, data)
            if not form:
                self.skipped["other"] += 1
                continue
            try:
                # Read to its end first: a file that fails half-way yields no memory at all.
                for fields in list(READERS[form](data, where)):
                    path = free_path(str(fields["path"]), where, candidates, "~")
                    candidates[path] = {**fields, "path": path}
            except UnfitError as unfit:
                if self._strict:
                    raise UsageError(f"{where}: {unfit.message}", unfit.hint) from None
                self.skipped[unfit.reason] += 1
            except CorruptError:
                if self._strict:
                    raise
                self.skipped["damaged"] += 1
            except Exception as error:  # a defect of a reader costs this file, not the import
                if self._strict:
                    raise
                self.failed.append(Failure(reason_of(error), file=where))
                self.skipped["failed"] += 1
            else:
                self.found[form] += 1
        yield from _resolved(candidates)


def detect(where: str, data: bytes) -> str:
    """The key in READERS of the reader for a file; empty if there is none, as for an export of memcli."""
    if is_instructions(where):  # first, since most of these files are Markdown, too
        return "agents"
    if where.lower().endswith(_MARKDOWN):
        if is_document(data):
            return ""
        return "adr" if is_decision(data, where) else "markdown"
    if is_graph(data):
        return "mcp"
    return "mem0" if is_mem0(data) else ""


def files_under(folder: str, base: str, skipped: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """The name and content of each file below a folder. Names are relative to `base`, or begin with the folder's own name
    if it is not below `base`.

    Files that are ignored, links, irregular, too large or unreadable are counted in `skipped`, by reason.
    """
    root = os.path.realpath(folder)
    tree = Tree(root, Ignore(root), skipped)
    for file, _ in tree.files():
        try:
            data = read_bytes(os.path.join(root, file), root)
        except UnfitError as unfit:
            skipped[unfit.reason] += 1
        else:
            yield readable(posixpath.join(label(root, base), file)), data


def label(path: str, base: str) -> str:
    """The name of a file or folder: its path from `base`, or only its last part if it is not below `base`."""
    path, base = os.path.realpath(path), os.path.realpath(base)
    if path == base:
        return ""
    inside = path.removeprefix(base.rstrip(os.sep) + os.sep)
    return inside.replace(os.sep, "/") if inside != path else os.path.basename(path)


def _resolved(candidates: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, object]]:
    """The fields of the candidates, with paths instead of names. Left out are links by a name that several candidates have or
    none has, and links of a candidate to itself."""
    paths: dict[str, str] = {}
    shared = set()
    for path, candidate in candidates.items():
        for name in candidate.get("names", ()):
            if paths.setdefault(name, path) != path:
                shared.add(name)
    for name in shared:
        del paths[name]
    # Of two records, often only the newer one names the other: the older one is superseded all the same.
    for path, candidate in candidates.items():
        for link in candidate.get("links", ()):
            old = paths.get(link["to"])
            if link["relation"] == "supersedes" and old and old != path:
                candidates[old].setdefault("superseded_by", candidate["names"][0])
    _link_successors(candidates, paths)
    for path, candidate in candidates.items():
        fields = {name: value for name, value in candidate.items() if name not in ("names", "links", "superseded_by")}
        if successor := _successor(candidate, paths):
            fields["superseded_by"] = successor
            fields.pop("active", None)  # a superseded memory stays active, so that a reader is led to its successor
        found = ((paths.get(link["to"]), link["relation"]) for link in candidate.get("links", ()))
        links = dict.fromkeys((to, relation) for to, relation in found if to and to != path)
        if links:
            fields["links"] = [{"to": to, "relation": relation} for to, relation in links]
        yield fields


def _successor(candidate: Mapping[str, Any], paths: Mapping[str, str]) -> str | None:
    """The path of the memory that supersedes a candidate; None if none does."""
    path = paths.get(candidate.get("superseded_by", ""))
    return path if path != candidate["path"] else None


def _link_successors(candidates: Mapping[str, dict[str, Any]], paths: Mapping[str, str]) -> None:
    """Links each successor to the memory that it supersedes, and breaks circles of successors."""
    # In a circle every decision would be superseded: the first candidate of it stays in force.
    ends: set[str] = set()  # paths whose chain of successors ends
    for candidate in candidates.values():
        path, seen = _successor(candidate, paths), {candidate["path"]}
        while path and path not in seen and path not in ends:
            seen.add(path)
            path = _successor(candidates[path], paths)
        if path == candidate["path"]:
            del candidate["superseded_by"]
            candidate.pop("active", None)
            continue
        ends |= seen
        if direct := _successor(candidate, paths):
            other, (name, *_) = candidates[direct], candidate["names"]
            other["links"] = [*other.get("links", ()), {"to": name, "relation": "supersedes"}]
