"""Ingest: memories from a source of candidates, in as few writes as there is memory for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from memcli.app.inbox import offer
from memcli.app.remember import Candidate, Outcome, prepare
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.model.memory import Json, Memory
from memcli.model.space import Change
from memcli.ports import Shelf, Source

_PER_WRITE = 2000


@dataclass(slots=True)
class Ingested:
    """What an ingest did. `skipped` counts what gave no memory, by reason; `redactions` what
    was taken out, by kind; `paths` are those that it wrote."""

    created: int = 0
    updated: int = 0
    deduplicated: int = 0
    retired: int = 0
    proposed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    paths: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        counts: dict[str, Json] = {n: getattr(self, n) for n in ("created", "updated", "deduplicated", "retired")}
        if self.proposed:
            counts["proposed"] = self.proposed
        told = {name: dict(sorted(getattr(self, name).items())) for name in ("skipped", "redactions")}
        return {**counts, **told, "paths": self.paths}

    def merge(self, other: Ingested) -> None:
        """Adds the counts of another ingest."""
        self.created += other.created
        self.updated += other.updated
        self.deduplicated += other.deduplicated
        self.retired += other.retired
        self.proposed += other.proposed
        self.skipped.update(other.skipped)
        self.redactions.update(other.redactions)
        self.paths += other.paths

    def add(self, outcome: Outcome) -> None:
        """Counts one memory."""
        setattr(self, outcome.status, getattr(self, outcome.status) + 1)
        self.redactions.update(outcome.redactions)
        if outcome.status != "deduplicated":
            self.paths.append(outcome.path)


def ingest(workspace: Workspace, source: Source, dry_run: bool = False, propose: bool = False) -> Ingested:
    """Stores what `source` yields, or with `propose` puts it into the inbox; with `dry_run` only says what that would be.

    The same candidates again change nothing. Raises what the source raises, LockedError, CorruptError, StoreError.
    """
    done = Ingested()
    candidates = _prepared(workspace, source, done)
    while batch := list(islice(candidates, _PER_WRITE)):
        if dry_run:
            done.paths += [candidate.given["path"] for candidate in batch]
            continue
        for outcome in offer(workspace, batch, propose_all=propose):
            done.add(outcome)
    done.skipped.update(source.skipped)
    return done


def retire(workspace: Workspace, files: Collection[str]) -> int:
    """Deactivates the memories of files that are gone; those of their history stay. Returns how many."""
    gone = frozenset(files)
    return _deactivate(workspace, lambda memory: _is_of(memory, gone))


def retire_commits(workspace: Workspace, commits: Collection[str]) -> int:
    """Deactivates what was ingested of commits that a rebase or an amend has replaced. Returns how many."""
    gone = frozenset(commits)
    if not gone:
        return 0
    return _deactivate(workspace, lambda m: m.active and m.kind == "diff" and m.provenance.get("commit") in gone)


def _deactivate(workspace: Workspace, is_meant: Callable[[Memory], bool]) -> int:
    now = workspace.clock()
    count = 0

    def apply(shelf: Shelf) -> Change:
        nonlocal count
        changed = tuple(replace(m, active=False, updated_at=now) for m in shelf.load().objects if is_meant(m))
        count = len(changed)
        return Change(changed, now=now)

    workspace.store.update(workspace.space, apply)
    return count


def _prepared(workspace: Workspace, source: Source, done: Ingested) -> Iterator[Candidate]:
    for fields in source.candidates():
        try:
            yield prepare(workspace, fields)
        except UsageError:
            done.skipped["unfit"] += 1  # too long, or empty once cleaned: the rest is worth having


def _is_of(memory: Memory, files: frozenset[str]) -> bool:
    fields: Mapping[str, Json] = memory.metadata
    return memory.active and memory.kind != "diff" and fields.get("source") in files and "group" not in fields
