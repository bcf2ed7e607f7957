"""Adopt: import the memories of another tool, and which of its decisions supersede others."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memcli.app.candidate import Candidate, WriteCounts
from memcli.app.inbox import offer
from memcli.app.remember import fold, prepare, request_of
from memcli.app.workspace import Workspace, load_space
from memcli.codec.bundle import MAX_OBJECTS
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import UsageError
from memcli.extras.transfer.foreign import ForeignSource, files_under, label
from memcli.model.memory import Json
from memcli.model.names import marked, short_digest
from memcli.ports import Shelf
from memcli.record import field, replace
from memcli.store.layout import find_work_tree


def foreign_source(workspace: Workspace, path: str, data: bytes | None, form: str) -> ForeignSource:
    """The files of another tool: those in the folder `path`, or, with `data`, one file named `path` with that content.

    Names of files are relative to the work tree.
    """
    # Without a work tree, names begin at the store's folder, so that they do not depend on where the user stands.
    base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or os.path.dirname(workspace.root)
    skipped: Counter[str] = Counter()
    if data is None:
        return ForeignSource(files_under(path, base, skipped), form, skipped, strict=False)
    return ForeignSource([(label(path, base), data)], form, skipped, strict=True)


class Adopted(WriteCounts, frozen=False):
    """What an import did, or with `dry_run` would do. `found` counts the files by the format they were read as."""

    space: str = ""
    found: Counter[str] = field(default_factory=Counter)
    dry_run: bool = False

    def to_json(self) -> dict[str, Json]:
        counts = {name: getattr(self, name) for name in ("space", "created", "updated", "proposed", "dry_run")}
        return {**counts, "unchanged": self.deduplicated, **self.sorted_counts("found", "skipped", "redactions")}


def adopt(workspace: Workspace, source: ForeignSource, dry_run: bool = False) -> Adopted:
    """Stores the memories that `source` yields in one write; importing the same again changes nothing. With `dry_run`,
    nothing is stored.

    Raises what the source raises, UsageError for more than MAX_OBJECTS memories, LockedError, CorruptError, StoreError.
    """
    done = Adopted(space=workspace.space, dry_run=dry_run)
    shelf = SpliceShelf(encode_space(load_space(workspace.store, workspace.space)), workspace.space)
    candidates = with_stored(shelf, list(_prepared(workspace, source, shelf, done.skipped)))
    # Without a write: a dry run needs no more than the outcomes, and an import needs the ids before its write.
    _, outcomes = fold(shelf, request_of(workspace, candidates))
    statuses = [outcome["status"] for outcome in outcomes]
    if not dry_run:
        if not shelf.header.policy.review:
            # Before the write: after a crash between the two, no imported memory may look reviewed.
            workspace.trust.bring(workspace.space, [o["id"] for o in outcomes if o["status"] in ("created", "updated")])
        statuses = [outcome.status for outcome in offer(workspace, candidates).outcomes]
    for status in statuses:
        done.count(status)
    for candidate in candidates:
        done.redactions.update(candidate.redactions)
    done.skipped.update(source.skipped)
    done.found.update(source.found)
    return done


def _prepared(
    workspace: Workspace, source: ForeignSource, shelf: SpliceShelf, skipped: Counter[str]
) -> Iterator[Candidate]:
    """The candidates of the source, each at a path that is free or holds a memory of the same file. Links are rewritten to
    those paths; links to candidates that were skipped are left out. Raises UsageError for more than MAX_OBJECTS."""
    candidates: list[Mapping[str, Any]] = list(source.candidates())
    if len(candidates) > MAX_OBJECTS:
        raise UsageError(f"{len(candidates)} memories; one import takes at most {MAX_OBJECTS}", "import it in parts")
    fit: dict[str, Candidate] = {}
    for fields in candidates:
        # Links are added below, when it is known at which paths the memories that they lead to are stored.
        plain = {name: value for name, value in fields.items() if name not in ("links", "superseded_by")}
        path, file = fields["path"], fields["metadata"]["source"]
        stored = shelf.at(path)
        # A memory that the user wrote, or that came from another file, is never overwritten by an import.
        if stored is not None and stored.metadata.get("source") != file:
            plain["path"] = marked(path, short_digest(file, 8), "~")
        try:
            fit[path] = prepare(workspace, plain)
        except UsageError:
            skipped["unfit"] += 1  # one file that is too long must not prevent the import of the others
    targets = {path: candidate.given["path"] for path, candidate in fit.items()}
    for fields in candidates:
        if candidate := fit.get(fields["path"]):
            linked: dict[str, Json] = {}
            links = tuple(
                {**link, "to": targets[link["to"]]} for link in fields.get("links", ()) if link["to"] in targets
            )
            if links:
                linked["links"] = links
            if fields.get("superseded_by") in targets:
                linked["superseded_by"] = targets[fields["superseded_by"]]
            yield replace(candidate, given={**candidate.given, **linked})


def with_stored(shelf: Shelf, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with links to the stored decisions that they supersede or that supersede them; and, unless the space
    requires a review, one more candidate for each stored decision whose links change.

    Each candidate must have a path.
    """
    if not any(_is_decision(candidate.given["metadata"]) for candidate in candidates):
        return list(candidates)
    refs = [candidate.given["path"] for candidate in candidates]
    named = {name: ref for ref, one in zip(refs, candidates, strict=True) for name in _names(one.given["metadata"])}
    given = frozenset(refs)
    stored = [m for m in shelf.load().objects if _is_decision(m.metadata) and m.path not in given]
    known = {name: memory.id for memory in stored for name in _names(memory.metadata)}
    tied = list(candidates)
    changes: dict[str, dict[str, Any]] = {}

    def tie(newer: str, older: str) -> None:
        if successor(newer) == older:
            return  # both claim to replace the other: were both superseded, no decision would be in force
        link = {"to": older, "relation": "supersedes"}
        for name, change in ((older, {"superseded_by": newer}), (newer, {"links": [link]})):
            if name in given:
                n = refs.index(name)
                tied[n] = replace(tied[n], given=_with(tied[n].given, change))
            else:
                memory = next(m for m in stored if m.id == name)
                changes[name] = _with(changes.get(name, {"links": memory.links}), change)

    def successor(name: str) -> str | None:
        if name in given:
            return tied[refs.index(name)].given.get("superseded_by")
        stored_one = next(m for m in stored if m.id == name)
        return changes.get(name, {}).get("superseded_by", stored_one.superseded_by)

    sides = [(ref, candidate.given["metadata"], known) for candidate, ref in zip(candidates, refs, strict=True)]
    sides += [(memory.id, memory.metadata, named) for memory in stored]
    for own, metadata, others in sides:
        for older in _list(metadata, "supersedes"):
            if older in others:
                tie(own, others[older])
        for newer in _list(metadata, "superseded_by"):
            if newer in others:
                tie(others[newer], own)
    if shelf.header.policy.review:
        return tied
    for memory in stored:
        if memory.id in changes:
            # A superseded memory stays active, so that a reader is led to its successor.
            is_active = memory.active or bool(changes[memory.id].get("superseded_by"))
            fields = {**changes[memory.id], "id": memory.id, "metadata": {}, "active": is_active}
            tied.append(Candidate(fields, {}, memory.hash))
    return tied


def _with(fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the successor in `more`, or with its one link added unless it exists."""
    if "links" not in more:
        return {**fields, **more, "active": True}
    (link,) = more["links"]
    links = list(fields.get("links", ()))
    if not any(known["to"] == link["to"] and known["relation"] == "supersedes" for known in links):
        links.append(link)
    return {**fields, "links": tuple(links)}


def _is_decision(metadata: Mapping[str, Any]) -> bool:
    """Whether a memory was imported from a decision record, by the metadata that `read_decision` gives it."""
    return bool(_names(metadata)) and any(name in metadata for name in ("number", "supersedes", "superseded_by"))


def _names(metadata: Mapping[str, Any]) -> list[str]:
    """The names by which other records refer to this one, in the form of `extras/transfer/decisions.py`."""
    source, number = metadata.get("source"), metadata.get("number")
    if not isinstance(source, str):
        return []
    return [f"file:{source}", *([f"adr:{posixpath.dirname(source)}/{number}"] if isinstance(number, str) else [])]


def _list(metadata: Mapping[str, Any], name: str) -> list[str]:
    """The strings in a field of metadata that is a string or a list; users may edit metadata to anything."""
    value = metadata.get(name, ())
    values = [value] if isinstance(value, str) else value
    return [one for one in values if isinstance(one, str)] if isinstance(values, list | tuple) else []
