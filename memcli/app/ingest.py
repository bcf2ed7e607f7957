"""Ingest: stores the candidates of a source, in batches that grow with the number stored; deactivates memories of deleted files
and replaced commits, and moves those of renamed files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from typing import Any

from memcli.app.candidate import Candidate, WriteCounts
from memcli.app.inbox import offer
from memcli.app.remember import Outcome, prepare
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError, LockedError, MemcliError, RefusedError, StoreError, UsageError
from memcli.model.findings import Failure, reason_of
from memcli.model.memory import Json, Memory, increased
from memcli.model.names import check_path
from memcli.model.shapes import OBSERVED
from memcli.model.space import Change, size_of
from memcli.policy.retention import Place, without
from memcli.ports import Shelf, Source
from memcli.record import Record, field, replace

_LEAST, _SHARE, _BYTES_EACH = 32, 8, 1 << 18
"""The number of candidates of one write: at least _LEAST, one for each _BYTES_EACH of the file of the space, and one _SHARE-th of
those stored before. So an interruption loses little, and all writes together cost a few times as much as a single one. The
number does not depend on time, so that equal input makes equal lines in the audit log."""
_NOT_OF_AN_ITEM = (LockedError, StoreError, CorruptError, RefusedError, OSError)
"""Errors of the store or the system, which end the ingest; any other error is one of the candidate that was being stored."""


class Prepared(Record):
    """A candidate, and the `places` whose memories it replaces with its neighbours; without a candidate, nothing is left there.
    Or, with `read`, the mark that all `count` candidates of this commit have been yielded.

    `unchanged` memories were not read again. What was `skipped`, by reason, and what `failed` has no candidate.
    """

    candidate: Candidate | None = None
    places: Sequence[Place] = ()
    read: str = ""
    count: int = 0
    unchanged: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: Sequence[Failure] = ()


Ahead = Callable[[Iterator[Prepared]], Iterator[Prepared]]
"""Yields what an iterator yields, which it may run ahead of its caller, in another process too."""


class Ingested(WriteCounts, frozen=False):
    """The result of an ingest. `paths` are the paths of written memories; `failed` files and commits were skipped."""

    retired: int = 0
    paths: list[str] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        counts: dict[str, Json] = {n: getattr(self, n) for n in ("created", "updated", "deduplicated", "retired")}
        if self.proposed:
            counts["proposed"] = self.proposed
        failed = {"failed": [failure.to_json() for failure in self.failed]} if self.failed else {}
        return {**counts, **self.sorted_counts("skipped", "redactions"), "paths": self.paths, **failed}

    def merge(self, other: Ingested) -> None:
        """Adds the counts of another ingest."""
        self.merge_counts(other)
        self.retired += other.retired
        self.paths += other.paths
        self.failed += other.failed

    def stored(self) -> str:
        """The changes for a message, such as `3 created, 1 retired`; empty if there are none."""
        names = ("created", "updated", "retired", "proposed")
        return ", ".join(f"{n} {name}" for name in names if (n := getattr(self, name)))


def ingest(
    workspace: Workspace,
    source: Source,
    dry_run: bool = False,
    propose: bool = False,
    progress: Callable[[Prepared], None] = lambda _: None,
    done: Ingested | None = None,
    ahead: Ahead = lambda prepared: prepared,
) -> Ingested:
    """Stores the candidates of `source`, or with `propose` puts them into the inbox; with `dry_run` only lists their paths. They
    are prepared by `ahead`.

    Results are counted in `done` after each write, so that the counts are right when a later write fails. Candidates that
    replace places are, with their neighbours, the whole content of these: other memories there are deactivated. Storing the
    same candidates again changes nothing. A candidate that cannot be stored is recorded in `done.failed`, and the others are
    stored. A commit is recorded as ingested once all its candidates are stored. `progress` is called with each candidate.
    Raises as the source, and LockedError, CorruptError, StoreError.
    """
    done = Ingested() if done is None else done
    retained: set[str] = set()  # ids that earlier writes stored at places that continue in the next one
    spoiled: Sequence[Place] = ()
    with closing(workspace.store.open(workspace.space)) as snapshot:
        # Each write copies the file of the space, so that small writes to a large file are expensive.
        least = max(_LEAST, size_of(snapshot.fingerprint) // _BYTES_EACH)
    rules = workspace.commits.rules(workspace.space)
    prepared = _counted(ahead(_prepared(workspace, source)), done, progress)
    for batch, unfinished in _batches(prepared, least):
        if dry_run:
            done.paths += [item.candidate.given["path"] for item in batch if item.candidate is not None]
            continue
        by_name = {(place["under"], place.get("source")): place for item in batch for place in item.places}
        places = [place for place in by_name.values() if place not in (*unfinished, *spoiled)]
        failed = len(done.failed)
        outcomes = list(_stored(workspace, batch, propose, places, retained, done))
        retained = {*retained, *(outcome.id for outcome in outcomes)} if unfinished else set()
        # Where a candidate failed, the memories at its places stay, in the next write too: one may be its old version.
        spoiled = unfinished if spoiled or len(done.failed) > failed else ()
        if not propose and not any(outcome.status == "proposed" for outcome in outcomes):
            # Last: after a crash before this line, the commits are only read again.
            bad = {failure.commit for failure in done.failed}
            whole = {item.read: item.count for item in batch if item.read and item.read not in bad}
            workspace.commits.add(workspace.space, whole, rules)
    done.failed[:] = sorted({*done.failed}, key=lambda failure: (failure.commit, failure.file))
    return done


def retire(workspace: Workspace, files: Collection[str]) -> int:
    """Deactivates the memories of deleted files, but not those of their commits. Returns their number."""
    gone = frozenset(workspace.redactor.names(workspace.space, list(files)))
    return _deactivate(workspace, lambda memory: _is_of(memory, gone))


def retire_missing(workspace: Workspace, is_missing: Callable[[str, Callable[[str], str]], bool]) -> int:
    """Deactivates the memories of files that are missing. Returns their number.

    `is_missing` gets the name of a file as a memory has it, which may be redacted, and a function that redacts the name of a
    file in this way.
    """
    # Memories have the redacted name: under its own name, such a file would never be found missing.
    known = _names_known(workspace)

    def is_meant(memory: Memory) -> bool:
        name = memory.metadata.get("source")
        return isinstance(name, str) and _is_of(memory, frozenset([name])) and is_missing(name, known)

    return _deactivate(workspace, is_meant)


def retire_commits(workspace: Workspace, commits: Collection[str]) -> int:
    """Deactivates the memories of commits that a rebase or an amend has replaced. Returns their number."""
    gone = frozenset(commits)
    if not gone:
        return 0
    return _deactivate(workspace, lambda m: m.active and m.kind == "diff" and m.provenance.get("commit") in gone)


def _deactivate(workspace: Workspace, is_meant: Callable[[Memory], bool]) -> int:
    now = workspace.clock()
    count = 0

    def apply(shelf: Shelf) -> Change:
        nonlocal count
        gone = [memory for memory in shelf.load().objects if is_meant(memory)]
        count = len(gone)
        return without(shelf, gone, now)

    workspace.store.update(workspace.space, apply)
    return count


def _counted(prepared: Iterator[Prepared], done: Ingested, progress: Callable[[Prepared], None]) -> Iterator[Prepared]:
    """The items to store; what was not read again, skipped, or failed is counted in `done`."""
    for item in prepared:
        done.deduplicated += item.unchanged
        done.skipped.update(item.skipped)
        done.failed += item.failed
        if item.candidate or item.places or item.read or item.unchanged:
            yield item
        progress(item)


def _prepared(workspace: Workspace, source: Source) -> Iterator[Prepared]:
    known = _names_known(workspace)
    counts: Counter[str] = Counter()
    for fields in source.candidates():
        given = dict(fields)
        unchanged: int = given.pop("unchanged", 0)  # type: ignore[assignment]
        read = str(given.pop("read", ""))
        redacted: Mapping[str, int] = given.pop("redacted", {})  # type: ignore[assignment]
        replaced: Sequence[Place] = given.pop("replaces", ())  # type: ignore[assignment]
        names = ("under", "source")
        places = [{**place, **{key: known(place[key]) for key in names if key in place}} for place in replaced]
        item = Prepared(None, places, read, counts[read], unchanged)
        if given:
            try:
                item = replace(item, candidate=_with_redacted(prepare(workspace, given), redacted))
            except UsageError:
                item = replace(item, skipped={"unfit": 1})  # too long, or empty after redaction
            # A failing disk is no fault of the document at hand, and would fail for the next one as well.
            except (MemcliError, OSError):
                raise
            except Exception as error:  # noqa: BLE001
                item = replace(item, failed=[_failure(given, error)])
            else:
                counts[_commit(given)] += 1
        yield item
    yield Prepared(skipped=source.skipped, failed=source.failed)


def _with_redacted(candidate: Candidate, kinds: Mapping[str, int]) -> Candidate:
    """The candidate with the secrets counted that were removed from its text before it was cut."""
    if not kinds:
        return candidate
    from memcli.safety.secrets.redact_memory import with_flags

    metadata = with_flags(candidate.given["metadata"], [f"{kind}:{count}" for kind, count in kinds.items()])
    given = {**candidate.given, "metadata": metadata}
    return replace(candidate, given=given, redactions=Counter(candidate.redactions) + Counter(kinds))


def _names_known(workspace: Workspace) -> Callable[[str], str]:
    """A function that returns the name of a file, or a path, as memories have it: redacted."""
    return cache(lambda name: workspace.redactor.names(workspace.space, [name])[0])


def _stored(
    workspace: Workspace,
    batch: Sequence[Prepared],
    propose: bool,
    places: Sequence[Place],
    retained: Collection[str],
    done: Ingested,
) -> Iterator[Outcome]:
    """The outcomes of the candidates of a batch, which are counted in `done`. Where one cannot be stored, each is stored by
    itself."""
    candidates = [item.candidate for item in batch if item.candidate is not None]
    try:
        outcomes = offer(workspace, candidates, propose_all=propose, places=places, retained=retained).outcomes
    except _NOT_OF_AN_ITEM:
        raise
    except Exception as error:  # noqa: BLE001
        if len(candidates) == 1:
            done.failed.append(_failure(candidates[0].given, error))
        elif not candidates:
            done.failed += [
                Failure(reason_of(error), file=str(place.get("source") or place["under"])) for place in places
            ]
        if len(candidates) <= 1:
            return
    else:
        for outcome in outcomes:
            done.count(outcome.status)
            done.redactions.update(outcome.redactions)
            if outcome.status not in ("deduplicated", "retired"):
                done.paths.append(outcome.path)
            yield outcome
        return
    # Without places: the stored memory of a candidate that failed must not be deactivated.
    for item in batch:
        if item.candidate:
            yield from _stored(workspace, [item], propose, (), (), done)


def _failure(given: Mapping[str, Any], error: Exception) -> Failure:
    if commit := _commit(given):
        return Failure(reason_of(error), commit=commit)
    source = given.get("metadata", {}).get("source")
    return Failure(reason_of(error), file=source if isinstance(source, str) else "")


def _commit(given: Mapping[str, Any]) -> str:
    """The commit of a candidate, empty for none."""
    commit = given.get("provenance", {}).get("commit")
    return commit if isinstance(commit, str) else ""


def _batches(prepared: Iterator[Prepared], least: int) -> Iterator[tuple[list[Prepared], Sequence[Place]]]:
    """The candidates for one write, and the places that continue in the next one."""
    batch: list[Prepared] = []
    stored = 0
    for item in prepared:
        if len(batch) >= max(least, stored // _SHARE):
            yield batch, item.places if item.places == batch[-1].places else ()
            stored += len(batch)
            batch = []
        batch.append(item)
    if batch:
        yield batch, ()


def _is_of(memory: Memory, files: frozenset[str]) -> bool:
    fields: Mapping[str, Json] = memory.metadata
    # A memory that somebody stored about the file is not deactivated: only its author can judge that.
    is_read = memory.provenance.get("source") == OBSERVED
    return (
        memory.active and is_read and memory.kind != "diff" and fields.get("source") in files and "group" not in fields
    )


class FilePlace(Record):
    """A file in the fields of memories: its name in the metadata, and the path at and below which its memories are."""

    name: str
    path: str


def relocate(workspace: Workspace, moves: Sequence[tuple[FilePlace, FilePlace]]) -> int:
    """Moves the memories of renamed files: new name, path and anchors, same ids. Returns their number.

    Memories of commits are not moved. One that was moved by hand, or whose new path is taken, is deactivated: the next ingest
    of the file stores it anew.
    """
    known = [(_known_targets(workspace, old), _known_targets(workspace, new)) for old, new in moves]
    by_old = {old.name: (old, new) for old, new in known}
    now = workspace.clock()
    count = 0

    def apply(shelf: Shelf) -> Change:
        nonlocal count
        files = [
            memory
            for memory in shelf.load().objects
            if memory.metadata.get("source") in by_old
            and memory.active
            and memory.provenance.get("source") == OBSERVED
            and memory.kind != "diff"
            and "commit" not in memory.provenance
        ]
        changed, apart = [], []
        for memory in files:
            old, new = by_old[memory.metadata["source"]]
            rest = memory.path.removeprefix(old.path)
            is_apart = rest == memory.path or (rest and not rest.startswith("/"))
            if is_apart or shelf.at(new.path + rest) is not None:
                apart.append(replace(memory, version=increased(memory.version)))
            else:
                changed.append(_moved(memory, old, replace(new, path=new.path + rest), now))
        count = len(changed) + len(apart)
        gone = without(shelf, apart, now)
        return replace(gone, put=(*gone.put, *changed), now=now)

    workspace.store.update(workspace.space, apply)
    return count


def _known_targets(workspace: Workspace, place: FilePlace) -> FilePlace:
    """The place as memories have it: redacted."""
    fields: dict[str, Json] = {"path": place.path, "metadata": {"source": place.name}}
    clean = workspace.redactor.take_in(workspace.space, fields).fields
    return FilePlace(clean["metadata"]["source"], check_path(clean["path"]))


def _moved(memory: Memory, old: FilePlace, new: FilePlace, now: str) -> Memory:
    provenance = dict(memory.provenance)
    if isinstance(files := provenance.get("files"), list | tuple):
        provenance["files"] = [new.name if file == old.name else file for file in files]
    return replace(
        memory,
        path=new.path,
        summary_micro=_renamed_in(memory.summary_micro, old.name, new.name),
        summary_short=_renamed_in(memory.summary_short, old.name, new.name),
        summary_long=_renamed_in(memory.summary_long, old.name, new.name),
        metadata={**memory.metadata, "source": new.name},
        provenance=provenance,
        anchors=tuple(
            {**anchor, "file": new.name} if anchor.get("file") == old.name else anchor for anchor in memory.anchors
        ),
        updated_at=now,
        version=increased(memory.version),
    )


def _renamed_in(summary: str, old: str, new: str) -> str:
    """The summary with the new name of the file where it begins with the old one; elsewhere that may be an ordinary word."""
    rest = summary.removeprefix(f"{old}: ")
    return summary if rest == summary else f"{new}: {rest}"
