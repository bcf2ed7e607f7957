"""A watch of a store: it stores the changes of a work tree in batches, and does upkeep while there are none.

Its state is saved in `local/`, so that the next watch continues from there. A save replaces the whole state. The paths of a
batch are appended to a second file, the doubts, before the batch is stored, and removed when the state is saved afterwards: if a
watch is killed in between, the next one reads these files again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from memcli.app.ingest import FilePlace, Ingested, ingest, relocate, retire, retire_commits
from memcli.app.repo import sync
from memcli.app.space import embed_or_warn, index_status
from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode, encode_line
from memcli.errors import MemcliError, NotFoundError, ProviderError, StoreError, hint_of, reporting_done
from memcli.extras.watch.scan import WatchState, name_from_json, name_to_json
from memcli.extras.watch.watcher import Watcher
from memcli.git.repository import Repository, find_program
from memcli.git.tree import lost
from memcli.ingest.commits import CommitSource
from memcli.ingest.files import FileSource
from memcli.ingest.labels import memory_path
from memcli.model.changes import Batch
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.model.names import readable
from memcli.ports import Source
from memcli.record import Record, replace
from memcli.store.atomic import append_line, make_folder, read_regular, remove_quietly, write_file
from memcli.store.layout import Layout, find_work_tree, identity
from memcli.store.lock import held, holder_of
from memcli.store.log import Log
from memcli.store.notes import end_build
from memcli.store.state import State
from memcli.store.trust import is_off
from memcli.wiring import extra
from memcli.wiring.sources import begin, build_commits, lost_commits, redaction

if TYPE_CHECKING:
    from memcli.extras.watch.command import WatchOptions

THE_WATCH = "the watch of this store"
"""The name of the lock's holder in messages."""
LOCK = "watch.lock"
_MAX_BYTES = 1 << 30
# A store that is locked is free soon, a full disk is not: each pause is twice the one before.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_TO_THE_HOUR = len("2026-01-31T09")

_T = TypeVar("_T")


class WatchFiles:
    """The files of watches in `local/`: the `entries` of their log, and the state and the doubts of one space.

    A watched file whose name has a secret is in neither of the two, and each watch reads it again.
    """

    def __init__(self, workspace: Workspace) -> None:
        layout = Layout(workspace.root)
        self._workspace = workspace
        self._state = layout.local(f"{workspace.space}.watch.json")
        self._doubts = layout.local(f"{workspace.space}.watch.doubts")
        self.entries = Log(layout.local("watch.log"))
        self._lock = layout.local(LOCK)
        self._identity = identity(self._lock)

    def load(self) -> WatchState | None:
        """The saved state, with unknown stamps for the files in the doubts; None before the first save. Raises StoreError."""
        known = _from_json(_read(self._state))
        doubts = []
        for line in _read(self._doubts).splitlines():
            paths = _from_json(line)  # None for the half line of a watch that was killed
            doubts += (
                [name_from_json(path) for path in paths if isinstance(path, str)] if isinstance(paths, list) else []
            )
        if known is None and not doubts:
            return None
        return WatchState.from_json(known).doubting(doubts)

    def save(self, state: WatchState) -> None:
        """Replaces the saved state, and removes the doubts. Raises StoreError."""
        state = replace(state, files={path: state.files[path] for path in self._without_secrets(list(state.files))})
        write_file(self._state, encode(state.to_json()), 0o600)
        remove_quietly(self._doubts)  # after a crash before this line the next watch reads some files in vain

    def doubt(self, batch: Batch) -> None:
        """Adds the files of a batch to the doubts: until the next `save` they may be stored or not. Raises StoreError."""
        if paths := batch.paths():
            line = encode_line([name_to_json(path) for path in self._without_secrets(paths)])
            try:
                # The newline first ends a line that was cut off by a crash.
                append_line(self._doubts, b"\n" + line, sync=True)
            except OSError as error:
                raise StoreError(
                    f"cannot write {self._doubts}: {error.strerror}", "check free space and permissions"
                ) from None

    def log(self, entry: Mapping[str, Json]) -> None:
        """Appends a line to the log."""
        workspace = self._workspace
        self.entries.add({"at": workspace.clock(), "pid": os.getpid(), "space": workspace.space, **entry})

    def is_there(self) -> bool:
        """Whether the store is still the one that it was when this object was created."""
        return identity(self._lock) == self._identity

    def is_off(self) -> bool:
        """Whether memory is switched off in this clone."""
        return is_off(self._workspace.root, os.environ)

    def _without_secrets(self, paths: Sequence[str]) -> Sequence[str]:
        named = self._workspace.redactor.names(self._workspace.space, paths)
        return [path for path, name in zip(paths, named, strict=True) if name == path]


def _read(path: str) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES) or b""
    except OSError as error:
        # Not the state of a first watch: that would skip all changes since the last one.
        raise StoreError(f"cannot read {path}: {error.strerror}", hint_of(error, "check its permissions")) from None


def _from_json(data: bytes) -> object:
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None


class WatchedTree(Record):
    """A work tree with its watcher, as sources for `ingest`. `unreachable` returns those of some commits that no branch
    contains any more."""

    _workspace: Workspace
    _root: str
    watcher: Watcher
    unreachable: Callable[[Collection[str]], Collection[str]]

    def files(self, names: Sequence[str]) -> Source:
        """A source of the memories of files."""
        paths = [os.path.join(self._root, name) for name in names]
        return FileSource(paths, self._root, redaction(self._workspace), may_be_gone=True)

    def commits(self, revisions: str) -> Source:
        """A source of the commits of a range that the space does not have. Raises NotFoundError, ProviderError."""
        known = self._workspace.commits.load(self._workspace.space)
        return CommitSource(self._root, revisions, known, within=os.path.dirname(self._workspace.root))

    def lost_commits(self, commit: str) -> Collection[str]:
        """The ancestors of a commit, with itself, that no branch or tag contains any more."""
        return lost(Repository(self._root), commit)


class Watch:
    """A watch that is ready to run.

    With `once` a batch that cannot be stored raises an error, else it is tried again. In idle moments it computes vectors with
    `embed`, and runs due maintenance with `upkeep`. If the store is removed it ends, and `is_gone` is true.
    """

    def __init__(
        self,
        workspace: Workspace,
        tree: WatchedTree,
        files: WatchFiles,
        stop: Event,
        *,
        once: bool = False,
        embed: bool = False,
        upkeep: bool = False,
    ) -> None:
        self._tree = tree
        self._files = files
        self._stop = stop
        self._once = once
        self._embed = embed
        self._upkeep = upkeep
        self._workspace = workspace
        self._report = partial(report, workspace, files)
        self._warned = ""
        self._counts = Ingested()
        self._is_saved = False
        self._upkeep_hour = ""  # when upkeep was last considered
        # Fingerprints of the space: that of the index, the one of two idle moments in a row or of the last batch, and the last.
        self._indexed = self._quiet = self._last = ""
        self.is_gone = False

    def run(self) -> Iterator[Ingested]:
        """Yields the result of each batch once it is stored, until the watch is stopped or the store is removed.

        A batch is in doubt before it is stored, and saved afterwards: whenever this ends, nothing is lost.
        """
        with reporting_done(self._counts.stored):
            for batch in self._tree.watcher.batches():
                if self._is_lost():
                    return
                if batch.is_idle:
                    self._patiently(self._use_spare_time)
                    continue
                done = self._persist(batch)
                if done is None:
                    return
                self._is_saved = False
                for failure in done.failed:
                    self._report(f"skipped {failure.place}: {failure.reason}")
                results = {name: value for name, value in done.to_json().items() if name != "paths"}
                counts = {"files": len(batch.files), "removed": len(batch.removed), "moved": len(batch.moved)}
                self._files.log({"event": "batch", **counts, "commits": batch.commits, **results})
                yield done
            if not self._is_lost():
                if not self._is_saved or self._once:
                    self._files.save(self._tree.watcher.state)
                if self._embed and self._once:
                    embed_or_warn(self._workspace)

    def _is_lost(self) -> bool:
        self.is_gone = self.is_gone or not self._files.is_there()
        return self.is_gone

    def _persist(self, batch: Batch) -> Ingested | None:
        """Stores a batch, and tries again until that succeeds; waits while memory is off. Returns None if the watch is
        stopped, or the store removed, before that."""
        while self._files.is_off():
            if self._once or self._stop.wait(_FIRST_PAUSE) or self._is_lost():
                return None
        pause = _FIRST_PAUSE
        while not (done := self._patiently(lambda: self._attempt(batch))):
            if self._stop.wait(pause) or self._is_lost():
                return None
            pause = min(2 * pause, _LONGEST_PAUSE)
        return done

    def _patiently(self, work: Callable[[], _T]) -> _T | None:
        """The result of `work`; None if it fails, which is reported unless the last failure was the same. Raises MemcliError with `once`."""
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
        """Stores a batch. One that fails for a bug of memcli is reported and skipped, so that later ones are stored. Raises MemcliError."""
        done = Ingested()
        try:
            self._files.doubt(batch)
            was_replaced = bool(batch.left) and self._quiet not in ("", self._version())
            self._store(batch, done)
            if was_replaced:  # a checkout brought another version of the space, which may lack what was stored
                self._tree.watcher.recheck()
            self._quiet = self._last = self._version()
        except MemcliError:
            raise
        except Exception as error:
            if self._once:
                raise
            names = [*batch.files, *batch.removed, *([batch.commits] if batch.commits else [])]
            self._report(f"skipped {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}: {reason_of(error)}")
            return Ingested()
        finally:
            self._counts.merge_counts(done)
            self._counts.retired += done.retired
        return done

    def _store(self, batch: Batch, done: Ingested) -> None:
        if batch.moved:
            done.updated += relocate(self._workspace, [(place_of(old), place_of(new)) for old, new in batch.moved])
        gone = {place_of(file).name for file in batch.removed}
        if batch.files:
            source = _NamingSource(self._tree.files(batch.files))
            ingest(self._workspace, source, done=done)
            # A file that yields no memory now, since it is empty or not text, may have yielded some before.
            unread = {failure.file for failure in done.failed}
            gone |= {place_of(file).name for file in batch.files} - source.names - unread
        if gone:
            retired = retire(self._workspace, gone)
            done.retired += retired
            done.paths += [f"{name} (gone)" for name in sorted(gone)] if retired else []
        if batch.commits:
            try:
                ingest(self._workspace, self._tree.commits(batch.commits), done=done)
            except (NotFoundError, ProviderError) as error:
                if self._once:
                    raise
                # Commits that git cannot read now must not hold up the files: they are left to the user.
                self._report(f"{error.message}; run `memcli ingest --git {batch.commits}` for these commits")
        if batch.left:  # an amend or a rebase leaves commits that no branch contains
            done.retired += retire_commits(self._workspace, self._tree.lost_commits(batch.left))
        done.retired += sync(self._workspace, self._tree.unreachable)

    def _use_spare_time(self) -> None:
        """Saves the state, updates the index, and once an hour looks for due maintenance and runs it. Raises MemcliError."""
        if not self._is_saved:
            self._files.save(self._tree.watcher.state)
            self._is_saved = True
        now = self._version()
        if now not in ("", self._indexed):
            (embed_or_warn if self._embed else index_status)(self._workspace)
            self._indexed = now
        # Only a version that is still there in the next idle moment: a checkout writes the space before it writes HEAD.
        if now == self._last:
            self._quiet = now
            hour = self._workspace.clock()[:_TO_THE_HOUR]
            if self._upkeep and not self._files.is_off() and hour != self._upkeep_hour:
                self._upkeep_hour = hour
                changed = [one for one in extra("upkeep.maintain").maintain_behind(self._workspace) if one.plan.after]
                for done in changed:
                    counts = {"space": done.space, "changed": len(done.plan.after), "run": done.run}
                    self._files.log({"event": "upkeep", **counts})
                if changed:
                    now = self._quiet = self._version()
        self._last = now

    def _version(self) -> str:
        snapshot = self._workspace.store.open(self._workspace.space)
        snapshot.close()
        return snapshot.fingerprint


def report(workspace: Workspace, files: WatchFiles, message: str) -> None:
    """Shows a problem to the user, and adds it to the log."""
    workspace.warn(message)
    files.log({"event": "trouble", "message": message})


def place_of(file: str) -> FilePlace:
    """The name of a file and the path of its memories."""
    return FilePlace(readable(file), memory_path(file))


class _NamingSource:
    """A source that records the `names` of the files that yielded a memory."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.skipped = source.skipped
        self.failed = source.failed
        self.names: set[str] = set()

    def candidates(self) -> Iterator[Mapping[str, object]]:
        for fields in self._source.candidates():
            metadata = fields.get("metadata")
            if isinstance(metadata, Mapping):
                self.names.add(str(metadata.get("source")))
            yield fields


@contextmanager
def open_watch(
    workspace: Workspace, options: WatchOptions, stop: Event, *, all_is_new: bool = False, upkeep: bool = False
) -> Iterator[tuple[Watch, str]]:
    """Yields a watch, and the work tree that it follows: that of the working directory, from the state of the last watch.

    Without a saved state the files of the work tree count as known, with `all_is_new` as changed. With `upkeep` the watch runs
    due maintenance in idle moments. Raises LockedError while another watch of the store runs.
    """
    layout = Layout(workspace.root)
    make_folder(layout.local(""))
    with held(layout.local(LOCK), THE_WATCH, workspace.clock()):
        repository = find_work_tree(os.getcwd(), os.path.expanduser("~"))
        root = repository or layout.work_tree
        files = WatchFiles(workspace)
        if not options.paths and not options.glob and _build(workspace, repository, stop, with_git=options.git):
            files.save(WatchState())  # the space is new: all files count as changed
        seen = files.load()
        if seen is None and (all_is_new or not files.is_there()):
            seen = WatchState()  # a store that was just moved away has no state, but that is not a first watch
        follows_commits = repository is not None and options.git
        if follows_commits and find_program("git", os.getcwd()) is None:
            report(workspace, files, "git is not on PATH: watching files but not commits")
            follows_commits = False
        watcher = Watcher(
            root,
            paths=options.paths,
            globs=options.glob,
            with_git=follows_commits,
            state=seen,
            stop=stop,
            warn=partial(report, workspace, files),
            once=options.once,
        )
        tree = WatchedTree(workspace, root, watcher, lost_commits(workspace.root))
        watch = Watch(workspace, tree, files, stop, once=options.once, embed=options.embed, upkeep=upkeep)
        files.log({"event": "start", "work_tree": root})
        yield watch, root
        if not watch.is_gone:
            files.log({"event": "end"})


def _build(workspace: Workspace, root: str | None, stop: Event, *, with_git: bool) -> bool:
    """Ingests the history if the space does not exist. Returns whether all files must be ingested, too."""
    repository = Repository(root) if root else None
    build = begin(workspace, repository.head() if repository and with_git else "")
    if build is None:
        return False
    if repository:
        build_commits(workspace, repository, build, stop.is_set)
    # A build that was stopped is not complete, so the next watch goes on with it.
    if not stop.is_set():
        end_build(State(Layout(workspace.root)), workspace.space)
    return True


def watch_status(workspace: Workspace) -> dict[str, Json]:
    """The status of the watch of a store as JSON: its process, its state, and the last entries of its log."""
    files = WatchFiles(workspace)
    holder = holder_of(Layout(workspace.root).local(LOCK), THE_WATCH)
    pid, since = holder or (None, None)
    state = files.load() or WatchState()
    return {
        "running": holder is not None,
        "pid": pid,
        "since": since,
        "space": workspace.space,
        "files": len(state.files),
        "last_commit": state.head or None,
        "last_batch": files.entries.last("batch"),
        "last_trouble": files.entries.last("trouble"),
    }
