"""Adopt: take what another tool remembers into a space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memcli.app.desk import Candidate
from memcli.app.inbox import offer
from memcli.app.remember import fold, prepare, request_of
from memcli.app.workspace import Workspace
from memcli.codec.intake import MAX_OBJECTS
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import UsageError
from memcli.model.ids import memory_id, short_digest
from memcli.model.memory import Json, Memory
from memcli.ports import Source


@dataclass(slots=True)
class Adopted:
    """What was, or with `dry_run` would be, done. `found` counts the files by what they were read as."""

    space: str
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    proposed: int = 0
    found: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    dry_run: bool = False

    def to_json(self) -> dict[str, Json]:
        counts = {
            name: getattr(self, name) for name in ("space", "created", "updated", "unchanged", "proposed", "dry_run")
        }
        told = {name: dict(sorted(getattr(self, name).items())) for name in ("found", "skipped", "redactions")}
        return {**counts, **told}


def adopt(workspace: Workspace, source: Source, found: Counter[str], dry_run: bool = False) -> Adopted:
    """Stores what `source` yields, all of it in one write; the same again changes nothing.

    The source tells links by the paths of the memories that they lead to, and counts in `found` what it read.
    Raises what the source raises, UsageError for more than fits, LockedError, CorruptError, StoreError.
    """
    done = Adopted(workspace.space, dry_run=dry_run)
    shelf = _shelf(workspace)
    candidates = list(_prepared(workspace, source, _Places(workspace.space, shelf), done.skipped))
    _, outcomes = fold(shelf, request_of(workspace, candidates))
    statuses = Counter(outcome["status"] for outcome in outcomes)
    if not dry_run:
        if not shelf.header.policy.review:  # before they come: a crash must leave nothing that looks reviewed
            workspace.trust.bring(workspace.space, [o["id"] for o in outcomes if o["status"] in ("created", "updated")])
        statuses = Counter(outcome.status for outcome in offer(workspace, candidates))
    done.created, done.updated, done.unchanged = (statuses[name] for name in ("created", "updated", "deduplicated"))
    done.proposed = statuses["proposed"]
    for candidate in candidates:
        done.redactions.update(candidate.redactions)
    done.skipped.update(source.skipped)
    done.found.update(found)
    return done


class _Places:
    """Where each memory goes, and which id it has there. One that is there and came from elsewhere is not touched."""

    def __init__(self, space: str, shelf: SpliceShelf) -> None:
        self._space = space
        self._shelf = shelf

    def path(self, fields: Mapping[str, Any]) -> str:
        """The path for what a source would put at `fields["path"]`."""
        return self._free(fields["path"], fields["metadata"]["source"])

    def id(self, path: str, source: str) -> str:
        """The id of what a source has put, or will put, at `path`."""
        path = self._free(path, source)
        there = self._shelf.at(path)
        return there.id if there else memory_id(self._space, path)

    def _free(self, path: str, source: str) -> str:
        return path if _is_of(self._shelf.at(path), source) else f"{path[:200]}~{short_digest(source, 8)}"


def _is_of(memory: Memory | None, source: str) -> bool:
    return memory is None or memory.metadata.get("source") == source


def _prepared(workspace: Workspace, source: Source, places: _Places, skipped: Counter[str]) -> Iterator[Candidate]:
    candidates = list(source.candidates())
    if len(candidates) > MAX_OBJECTS:
        raise UsageError(
            f"{len(candidates)} memories at once; one import takes at most {MAX_OBJECTS}", "import it in parts"
        )
    fit: dict[str, Candidate] = {}
    for fields in candidates:
        plain = {name: value for name, value in fields.items() if name not in ("links", "superseded_by")}
        try:
            fit[str(fields["path"])] = prepare(workspace, {**plain, "path": places.path(fields)})
        except UsageError:
            skipped["unfit"] += 1  # too long, say: the rest is worth having
    for fields in candidates:
        if candidate := fit.get(str(fields["path"])):
            yield replace(candidate, given={**candidate.given, **_linked(fields, places, fit)})


def _linked(fields: Mapping[str, Any], places: _Places, fit: Mapping[str, Candidate]) -> dict[str, Json]:
    """The links, with ids in the place of paths; those to what was not fit are left out."""
    ids = {path: places.id(path, fit[path].given["metadata"]["source"]) for path in _targets(fields) if path in fit}
    linked: dict[str, Json] = {}
    if links := [{**link, "to": ids[link["to"]]} for link in fields.get("links", ()) if link["to"] in ids]:
        linked["links"] = tuple(links)
    if (successor := fields.get("superseded_by")) in ids:
        linked["superseded_by"] = ids[successor]
    return linked


def _targets(fields: Mapping[str, Any]) -> list[str]:
    successor = fields.get("superseded_by")
    return [*(link["to"] for link in fields.get("links", ())), *([successor] if successor else [])]


def _shelf(workspace: Workspace) -> SpliceShelf:
    snapshot = workspace.store.open(workspace.space)
    try:
        return SpliceShelf(encode_space(snapshot.load()), workspace.space)
    finally:
        snapshot.close()
