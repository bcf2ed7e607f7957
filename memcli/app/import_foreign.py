"""Adopt: take what another tool remembers into a space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.app.candidate import Candidate
from memcli.app.counts import Counts
from memcli.app.inbox import offer
from memcli.app.remember import fold, prepare, request_of
from memcli.app.succession import with_stored
from memcli.app.workspace import Workspace
from memcli.codec.intake import MAX_OBJECTS
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import UsageError
from memcli.model.ids import short_digest
from memcli.model.memory import Json, Memory
from memcli.model.names import marked
from memcli.ports import Source
from memcli.record import field, replace


class Adopted(Counts, frozen=False):
    """What was, or with `dry_run` would be, done. `found` counts the files by what they were read as."""

    space: str = ""
    found: Counter[str] = field(default_factory=Counter)
    dry_run: bool = False

    def to_json(self) -> dict[str, Json]:
        counts = {name: getattr(self, name) for name in ("space", "created", "updated", "proposed", "dry_run")}
        return {**counts, "unchanged": self.deduplicated, **self.told("found", "skipped", "redactions")}


def adopt(workspace: Workspace, source: Source, found: Counter[str], dry_run: bool = False) -> Adopted:
    """Stores what `source` yields, all of it in one write; the same again changes nothing.

    The source tells links by the paths of the memories that they lead to, and counts in `found` what it read.
    Raises what the source raises, UsageError for more than fits, LockedError, CorruptError, StoreError.
    """
    done = Adopted(space=workspace.space, dry_run=dry_run)
    shelf = _shelf(workspace)
    candidates = with_stored(shelf, list(_prepared(workspace, source, _Places(shelf), done.skipped)))
    _, outcomes = fold(shelf, request_of(workspace, candidates))
    statuses = [outcome["status"] for outcome in outcomes]
    if not dry_run:
        if not shelf.header.policy.review:  # before they come: a crash must leave nothing that looks reviewed
            workspace.trust.bring(workspace.space, [o["id"] for o in outcomes if o["status"] in ("created", "updated")])
        statuses = [outcome.status for outcome in offer(workspace, candidates)]
    for status in statuses:
        done.count(status)
    for candidate in candidates:
        done.redactions.update(candidate.redactions)
    done.skipped.update(source.skipped)
    done.found.update(found)
    return done


class _Places:
    """Where each memory goes. One that is there and came from elsewhere is not touched."""

    def __init__(self, shelf: SpliceShelf) -> None:
        self._shelf = shelf

    def path(self, fields: Mapping[str, Any]) -> str:
        """The path for what a source would put at `fields["path"]`."""
        return self._free(fields["path"], fields["metadata"]["source"])

    def _free(self, path: str, source: str) -> str:
        return path if _is_of(self._shelf.at(path), source) else marked(path, short_digest(source, 8), "~")


def _is_of(memory: Memory | None, source: str) -> bool:
    return memory is None or memory.metadata.get("source") == source


def _prepared(workspace: Workspace, source: Source, places: _Places, skipped: Counter[str]) -> Iterator[Candidate]:
    candidates = list(source.candidates())
    if len(candidates) > MAX_OBJECTS:
        raise UsageError(f"{len(candidates)} memories; one import takes at most {MAX_OBJECTS}", "import it in parts")
    fit: dict[str, Candidate] = {}
    for fields in candidates:
        plain = {name: value for name, value in fields.items() if name not in ("links", "superseded_by")}
        try:
            fit[str(fields["path"])] = prepare(workspace, {**plain, "path": places.path(fields)})
        except UsageError:
            skipped["unfit"] += 1  # too long, say: the rest is worth having
    for fields in candidates:
        if candidate := fit.get(str(fields["path"])):
            yield replace(candidate, given={**candidate.given, **_linked(fields, fit)})


def _linked(fields: Mapping[str, Any], fit: Mapping[str, Candidate]) -> dict[str, Json]:
    """The links, to where the memories that they lead to go; those to what was not fit are left out."""
    linked: dict[str, Json] = {}
    if links := [_relinked(link, fit) for link in fields.get("links", ()) if link["to"] in fit]:
        linked["links"] = tuple(links)
    if (successor := fields.get("superseded_by")) in fit:
        linked["superseded_by"] = fit[str(successor)].given["path"]
    return linked


def _relinked(link: Mapping[str, Any], fit: Mapping[str, Candidate]) -> dict[str, Json]:
    return {**link, "to": fit[link["to"]].given["path"]}


def _shelf(workspace: Workspace) -> SpliceShelf:
    snapshot = workspace.store.open(workspace.space)
    try:
        return SpliceShelf(encode_space(snapshot.load()), workspace.space)
    finally:
        snapshot.close()
