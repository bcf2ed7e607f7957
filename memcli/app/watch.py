"""Watch: carry what changes in a work tree over into memories, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from memcli.app.embed import embed_space, index_status
from memcli.app.ingest import Ingested, ingest, retire, retire_commits
from memcli.app.relocate import Place, relocate
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, ProviderError
from memcli.model.failure import Failure, reason_of
from memcli.model.memory import Json
from memcli.ports import Source
from memcli.record import Record

_T = TypeVar("_T")
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


class Changes(Protocol):
    """One batch: files to read again, files that are gone or elsewhere, a range of commits; or none of it, and time."""

    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def removed(self) -> tuple[str, ...]: ...
    @property
    def commits(self) -> str | None: ...
    @property
    def moved(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def left(self) -> str: ...
    @property
    def is_idle(self) -> bool: ...


class Progress(Protocol):
    """What has been told and dealt with, kept so that the next watch goes on from there."""

    def doubt(self, changes: Changes) -> None:
        """Notes that this batch may or may not have been dealt with, until the next `save`. Raises StoreError."""

    def save(self) -> None:
        """Keeps that all that was told is dealt with. Raises StoreError."""


class Watch(Record, frozen=False, kw_only=True):
    """A watch that is ready to run.

    `name_of` and `path_of` give the name and the path that a memory knows a file by. `recheck` has all files told
    again; `lost_commits` names those that led to a commit which was left, and that no branch leads to any more; `is_there` says whether there still is the same store; `wait` waits for some seconds, and says whether to stop. `log`
    is told what happened. With `once` what cannot be stored is an error, else it is tried again. With `embed` vectors
    are made when there is time. It ends early, and `is_gone` is true, when the store is not there any more.
    """

    workspace: Workspace
    work_tree: str
    batches: Iterator[Changes]
    file_source: Callable[[Sequence[str]], Source]
    commit_source: Callable[[str], Source]
    lost_commits: Callable[[str], Collection[str]]
    name_of: Callable[[str], str]
    path_of: Callable[[str], str]
    progress: Progress
    recheck: Callable[[], None]
    is_there: Callable[[], bool]
    wait: Callable[[float], bool]
    log: Callable[[Mapping[str, Json]], None]
    once: bool = False
    embed: bool = False
    is_gone: bool = False
    _is_saved: bool = False
    _told: str = ""
    _warm_for: str = ""  # the version of the space that the index is up to date with
    _left: str = ""  # the version that was there when all was quiet
    _seen: str = ""

    def run(self) -> Iterator[Ingested]:
        """What became of each batch, once it is stored; ends when stopped, and when the store is gone.

        What is told is noted before it is stored and saved behind it: whenever this ends, nothing is lost.
        """
        for changes in self.batches:
            if self._is_lost():
                return
            if changes.is_idle:
                self._patiently(self._rest)
                continue
            done = self._persist(changes)
            if done is None:
                return
            self._is_saved = False
            self._log_batch(changes, done)
            yield done
        if not self._is_lost():
            if not self._is_saved or self.once:
                self.progress.save()
            if self.embed and self.once:
                embed_space(self.workspace)

    def _rest(self) -> None:
        """Does what there is time for when nothing happens. Raises MemcliError."""
        if not self._is_saved:
            self.progress.save()
            self._is_saved = True
        now = self._version()
        if now not in ("", self._warm_for):
            (embed_space if self.embed else index_status)(self.workspace)
            self._warm_for = now
        # Only what stays so for a while: a checkout writes the space first, and then which commit it is of.
        if now == self._seen:
            self._left = now
        self._seen = now

    def _is_lost(self) -> bool:
        self.is_gone = self.is_gone or not self.is_there()
        return self.is_gone

    def _version(self) -> str:
        snapshot = self.workspace.store.open(self.workspace.space)
        snapshot.close()
        return snapshot.fingerprint

    def _persist(self, changes: Changes) -> Ingested | None:
        """Stores a batch, however long that takes; None when stopped before, or without a store to put it into."""
        pause = _FIRST_PAUSE
        while not (done := self._patiently(lambda: self._attempt(changes))):
            if self.wait(pause) or self._is_lost():
                return None
            pause = min(2 * pause, _LONGEST_PAUSE)
        return done

    def _patiently(self, work: Callable[[], _T]) -> _T | None:
        """What `work` returns; None when it fails, which is told when it is news. Raises MemcliError only `once`."""
        try:
            done = work()
        except MemcliError as error:
            if self.once:
                raise
            if error.message != self._told:
                self._told = error.message
                self._tell("trouble", f"{error.message}; trying again until it works")
            return None
        self._told = ""
        return done

    def _attempt(self, changes: Changes) -> Ingested:
        """Stores a batch; one that memcli itself fails at is left out, so that those behind it come in. Raises
        MemcliError."""
        try:
            return self._store(changes)
        except MemcliError:
            raise
        except Exception as error:
            if self.once:
                raise
            names = [*changes.files, *changes.removed, *([changes.commits] if changes.commits else [])]
            self._tell(
                "trouble", f"left out {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}: {reason_of(error)}"
            )
            return Ingested()

    def _store(self, changes: Changes) -> Ingested:
        self.progress.doubt(changes)
        version = self._version() if changes.left else ""
        done = Ingested()
        if changes.moved:
            moves = [(self._place(old), self._place(new)) for old, new in changes.moved]
            done.updated += relocate(self.workspace, moves)
        gone = {self.name_of(file) for file in changes.removed}
        if changes.files:
            source = _Noting(self.file_source(changes.files))
            done.merge(ingest(self.workspace, source))
            # What gives no memory any more, because it was emptied or is no text now, had perhaps given one.
            unread = {failure.file for failure in done.failed}
            gone |= {self.name_of(file) for file in changes.files} - source.names - unread
        if gone:
            retired = retire(self.workspace, gone)
            done.retired += retired
            done.paths += [f"{name} (gone)" for name in sorted(gone)] if retired else []
        if changes.commits:
            done.merge(self._commits(changes.commits))
        if changes.left:  # by an amend or a rebase, perhaps, which leave nothing of it
            done.retired += retire_commits(self.workspace, self.lost_commits(changes.left))
        if changes.left and self._left not in ("", version):
            self.recheck()  # the space came along with the commit, and may know less than was told
        self._left = self._seen = self._version()
        return done

    def _commits(self, revisions: str) -> Ingested:
        try:
            return ingest(self.workspace, self.commit_source(revisions))
        except (NotFoundError, ProviderError) as error:
            if self.once:
                raise
            self._tell("trouble", f"{error.message}; `memcli ingest --git {revisions}` for these commits")
            return Ingested()

    def _place(self, file: str) -> Place:
        return Place(self.name_of(file), self.path_of(file))

    def _tell(self, event: str, message: str) -> None:
        self.workspace.warn(message)
        self.log({"event": event, "message": message})

    def _log_batch(self, changes: Changes, done: Ingested) -> None:
        for failure in done.failed:
            self._tell("trouble", f"{failure.place} was left out: {failure.reason}")
        told = {name: value for name, value in done.to_json().items() if name != "paths"}
        counts = {"files": len(changes.files), "removed": len(changes.removed), "moved": len(changes.moved)}
        self.log({"event": "batch", **counts, "commits": changes.commits, **told})


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
