"""Succession: decisions that supersede others, whichever of the two was imported first."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.app.candidate import Candidate
from memcli.model.memory import Memory
from memcli.ports import Shelf
from memcli.record import replace


def with_stored(shelf: Shelf, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each at a path, tied to the decisions that are stored; and, unless the space wants a review, one for
    each stored decision that one of them supersedes or is superseded by."""
    named = {name: n for n, candidate in enumerate(candidates) for name in _names(candidate.given["metadata"])}
    if not any(_is_decision(candidate.given["metadata"]) for candidate in candidates):
        return list(candidates)
    refs = [candidate.given["path"] for candidate in candidates]
    given = frozenset(refs)
    stored = [m for m in shelf.load().objects if _is_decision(m.metadata) and m.path not in given]
    known = {name: memory for memory in stored for name in _names(memory.metadata)}
    tied = list(candidates)
    changes: dict[str, dict[str, Any]] = {}

    def tie(newer: str, older: str) -> None:
        if successor(newer) == older:  # each says that it replaces the other: the first one stays in force
            return
        for name, field in ((older, {"superseded_by": newer}), (newer, {"links": [_link(older)]})):
            if name in given:
                n = refs.index(name)
                tied[n] = replace(tied[n], given=_with(tied[n].given, field))
            else:
                memory = next(m for m in stored if m.id == name)
                changes[name] = _with(changes.get(name, {"links": memory.links}), field)

    def successor(name: str) -> str | None:
        if name in given:
            return tied[refs.index(name)].given.get("superseded_by")
        stored_one = next(m for m in stored if m.id == name)
        return changes.get(name, {}).get("superseded_by", stored_one.superseded_by)

    for candidate, name in zip(candidates, refs, strict=True):
        metadata = candidate.given["metadata"]
        for older in _list(metadata, "supersedes"):
            if older in known:
                tie(name, known[older].id)
        for newer in _list(metadata, "superseded_by"):
            if newer in known:
                tie(known[newer].id, name)
    for memory in stored:
        for older in _list(memory.metadata, "supersedes"):
            if older in named:
                tie(memory.id, refs[named[older]])
        for newer in _list(memory.metadata, "superseded_by"):
            if newer in named:
                tie(refs[named[newer]], memory.id)
    if shelf.header.policy.review:
        return tied
    return [*tied, *(_update(memory, changes[memory.id]) for memory in stored if memory.id in changes)]


def _update(memory: Memory, fields: Mapping[str, Any]) -> Candidate:
    given = {**fields, "id": memory.id, "metadata": {}, "active": memory.active}
    if fields.get("superseded_by"):
        given["active"] = True  # a reader is led to what holds now, as with any other that was superseded
    return Candidate(given, {}, memory.hash)


def _with(fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    if "links" not in more:
        return {**fields, **more, "active": True}
    (link,) = more["links"]
    links = list(fields.get("links", ()))
    if not any(known["to"] == link["to"] and known["relation"] == "supersedes" for known in links):
        links.append(link)
    return {**fields, "links": tuple(links)}


def _link(older: str) -> dict[str, str]:
    return {"to": older, "relation": "supersedes"}


def _is_decision(metadata: Mapping[str, Any]) -> bool:
    return bool(_names(metadata)) and any(name in metadata for name in ("number", "supersedes", "superseded_by"))


def _names(metadata: Mapping[str, Any]) -> list[str]:
    """What other records may call this one, as `ingest/decisions.py` names them."""
    source, number = metadata.get("source"), metadata.get("number")
    if not isinstance(source, str):
        return []
    return [f"file:{source}", *([f"adr:{posixpath.dirname(source)}/{number}"] if isinstance(number, str) else [])]


def _list(metadata: Mapping[str, Any], name: str) -> list[str]:
    value = metadata.get(name, ())
    found = [value] if isinstance(value, str) else value
    return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []
