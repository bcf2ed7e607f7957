"""Watch: store what changes in a work tree, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from memcli.app.ingest import FilePlace, Ingested, ingest, relocate, retire, retire_commits
from memcli.app.maintain import Progress, SpareTime
from memcli.app.repo import sync
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, ProviderError, reporting_done
from memcli.model.changes import Batch
from memcli.model.findings import Failure, reason_of
from memcli.ports import Source

_T = TypeVar("_T")
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


class WatchedTree(Protocol):
    """The work tree that is watched."""

    def batches(self) -> Iterator[Batch]:
        """What changed, whenever something has, until asked to stop. Raises MemcliError."""

    def recheck(self) -> None:
        """Puts all files into a batch again."""

    def files(self, names: Sequence[str]) -> Source:
        """The text of files."""

    def commits(self, revisions: str) -> Source:
        """The commits of a range. Raises NotFoundError, ProviderError."""

    def lost_commits(self, commit: str) -> Collection[str]:
        """Those that led to a commit, and that no branch leads to any more."""

    def unreachable(self, commits: Collection[str]) -> Collection[str]:
        """Those of some commits that no branch leads to any more."""

    def place(self, file: str) -> FilePlace:
        """The name and the path that a memory knows a file by."""


class Stop(Protocol):
    """Whether to stop."""

    def wait(self, timeout: float, /) -> bool:
        """Waits so many seconds, less when asked to stop; whether it was."""


class Watch:
    """A watch that is ready to run.

    With `once` what cannot be stored is an error, else it is tried again. With `embed` vectors are made when there is
    time, with `upkeep` what is due is maintained. It ends early, and `is_gone` is true, when the store is not there any more.
    """

    def __init__(
        self,
        workspace: Workspace,
        tree: WatchedTree,
        progress: Progress,
        stop: Stop,
        *,
        once: bool = False,
        embed: bool = False,
        upkeep: bool = False,
    ) -> None:
        self._tree = tree
        self._progress = progress
        self._stop = stop
        self._once = once
        self._workspace = workspace
        self._spare_time = SpareTime(workspace, progress, embed, upkeep)
        self._warned = ""
        self._counts = Ingested()
        self.is_gone = False

    def run(self) -> Iterator[Ingested]:
        """What became of each batch, once it is stored; ends when stopped, and when the store is gone.

        A batch is noted before it is stored and saved afterwards: whenever this ends, nothing is lost.
        """
        with reporting_done(self._counts.stored):
            for batch in self._tree.batches():
                if self._is_lost():
                    return
                if batch.is_idle:
                    self._patiently(self._spare_time.use)
                    continue
                done = self._persist(batch)
                if done is None:
                    return
                self._spare_time.is_saved = False
                self._log_batch(batch, done)
                yield done
            if not self._is_lost():
                self._spare_time.end(once=self._once)

    def _is_lost(self) -> bool:
        self.is_gone = self.is_gone or not self._progress.is_there()
        return self.is_gone

    def _persist(self, batch: Batch) -> Ingested | None:
        """Stores a batch, however long that takes, and not while memory is off; None when stopped before, or without a store
        to put it into."""
        while self._progress.is_off():
            if self._once or self._stop.wait(_FIRST_PAUSE) or self._is_lost():
                return None
        pause = _FIRST_PAUSE
        while not (done := self._patiently(lambda: self._attempt(batch))):
            if self._stop.wait(pause) or self._is_lost():
                return None
            pause = min(2 * pause, _LONGEST_PAUSE)
        return done

    def _patiently(self, work: Callable[[], _T]) -> _T | None:
        """What `work` returns; None when it fails, of which a new reason is reported. Raises MemcliError only `once`."""
        try:
            done = work()
        except MemcliError as error:
            if self._once:
                raise
            if error.message != self._warned:
                self._warned = error.message
                self._report(f"{error.message}; retrying until it works")
            return None
        self._warned = ""
        return done

    def _attempt(self, batch: Batch) -> Ingested:
        """Stores a batch; one that memcli itself fails at is left out, so that those behind it come in. Raises
        MemcliError."""
        try:
            return self._store(batch)
        except MemcliError:
            raise
        except Exception as error:
            if self._once:
                raise
            names = [*batch.files, *batch.removed, *([batch.commits] if batch.commits else [])]
            self._report(f"skipped {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}: {reason_of(error)}")
            return Ingested()

    def _store(self, batch: Batch) -> Ingested:
        self._progress.doubt(batch)
        was_replaced = bool(batch.left) and self._spare_time.was_replaced()
        done = Ingested()
        try:
            self._store_parts(batch, done)
        finally:
            self._counts.merge_counts(done)
            self._counts.retired += done.retired
        if was_replaced:
            self._tree.recheck()
        self._spare_time.note_version()
        return done

    def _store_parts(self, batch: Batch, done: Ingested) -> None:
        if batch.moved:
            moves = [(self._tree.place(old), self._tree.place(new)) for old, new in batch.moved]
            done.updated += relocate(self._workspace, moves)
        self._store_files(batch, done)
        if batch.commits:
            self._store_commits(batch.commits, done)
        if batch.left:  # by an amend or a rebase, perhaps, which leave nothing of it
            done.retired += retire_commits(self._workspace, self._tree.lost_commits(batch.left))
        done.retired += sync(self._workspace, self._tree.unreachable)

    def _store_files(self, batch: Batch, done: Ingested) -> None:
        gone = {self._tree.place(file).name for file in batch.removed}
        if batch.files:
            source = _Noting(self._tree.files(batch.files))
            ingest(self._workspace, source, done=done)
            # What gives no memory any more, because it was emptied or is no text now, had perhaps given one.
            unread = {failure.file for failure in done.failed}
            gone |= {self._tree.place(file).name for file in batch.files} - source.names - unread
        if gone:
            retired = retire(self._workspace, gone)
            done.retired += retired
            done.paths += [f"{name} (gone)" for name in sorted(gone)] if retired else []

    def _store_commits(self, revisions: str, done: Ingested) -> None:
        try:
            ingest(self._workspace, self._tree.commits(revisions), done=done)
        except (NotFoundError, ProviderError) as error:
            if self._once:
                raise
            self._report(f"{error.message}; run `memcli ingest --git {revisions}` for these commits")

    def _report(self, message: str) -> None:
        self._workspace.warn(message)
        self._progress.log({"event": "trouble", "message": message})

    def _log_batch(self, batch: Batch, done: Ingested) -> None:
        for failure in done.failed:
            self._report(f"skipped {failure.place}: {failure.reason}")
        results = {name: value for name, value in done.to_json().items() if name != "paths"}
        counts = {"files": len(batch.files), "removed": len(batch.removed), "moved": len(batch.moved)}
        self._progress.log({"event": "batch", **counts, "commits": batch.commits, **results})


class _Noting:
    """A source that notes which files it had something of."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.names: set[str] = set()

    @property
    def skipped(self) -> Mapping[str, int]:
        return self._source.skipped

    @property
    def failed(self) -> Sequence[Failure]:
        return self._source.failed

    def candidates(self) -> Iterator[Mapping[str, object]]:
        for fields in self._source.candidates():
            metadata = fields.get("metadata")
            if isinstance(metadata, Mapping):
                self.names.add(str(metadata.get("source")))
            yield fields
