"""A watch with all that it needs: the work tree, the store, and what was seen so far."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.errors import StoreError, hint_of
from memcli.extras.watch.scan import SavedState, WatchState
from memcli.model.changes import Batch
from memcli.model.memory import Json
from memcli.ports import Source
from memcli.record import Record
from memcli.store.atomic import append_line, make_folder, remove_quietly, write_file
from memcli.store.layout import Layout, find_work_tree, identity
from memcli.store.lock import held, holder_of
from memcli.store.log import Log
from memcli.store.notes import BuildState
from memcli.store.reading import read_regular
from memcli.store.state import State
from memcli.store.switch import is_off
from memcli.wiring.sources import lost_commits

if TYPE_CHECKING:
    from threading import Event

    from memcli.app.ingest import FilePlace
    from memcli.app.watch import Watch
    from memcli.extras.watch.watcher import Watcher

_THE_WATCH = "the watch of this store"
_LOCK, _LOG = "watch.lock", "watch.log"
_MAX_BYTES = 1 << 30


class WatchRequest(Record):
    """What a watch is to follow, and how. `all_is_new`: when nothing was seen so far, all files have changed.
    `upkeep`: what is due is maintained when nothing happens."""

    paths: Sequence[str] = ()
    globs: Sequence[str] = ()
    with_git: bool = True
    once: bool = False
    embed: bool = False
    all_is_new: bool = False
    upkeep: bool = False


@contextmanager
def open_watch(workspace: Workspace, options: WatchRequest, stop: Event) -> Iterator[tuple[Watch, str]]:
    """The watch, and the work tree that it follows: the one that the working directory is in, from where the last
    watch ended. Raises LockedError while there is another watch of the store.
    """
    from memcli.app.watch import Watch
    from memcli.extras.watch import watcher as _  # noqa: F401 - imports take long, and must not while it is said to run

    layout = Layout(workspace.root)
    make_folder(layout.local(""))
    with held(layout.local(_LOCK), _THE_WATCH, workspace.clock()):
        repository = find_work_tree(os.getcwd(), os.path.expanduser("~"))
        root = repository or layout.work_tree
        log = _WatchLog(workspace, layout)
        state = SavedState(_Local(workspace, layout))
        if not options.paths and not options.globs and _build(workspace, repository, stop, with_git=options.with_git):
            state.save(WatchState())  # all files are to follow
        watcher = _watcher(root, options, state, stop, log, has_git=repository is not None)
        progress = _Progress(workspace.root, state, watcher, log)
        watch = Watch(
            workspace,
            _WatchTree(workspace, root, watcher),
            progress,
            stop,
            once=options.once,
            embed=options.embed,
            upkeep=options.upkeep,
        )
        log.add({"event": "start", "work_tree": root})
        yield watch, root
        if not watch.is_gone:
            log.add({"event": "end"})


def _build(workspace: Workspace, root: str | None, stop: Event, *, with_git: bool) -> bool:
    """Ingests the history where the space is missing; whether all files are to follow."""
    from memcli.git.repository import Repository
    from memcli.wiring.build import begin, build_commits

    repository = Repository(root) if root else None
    build = begin(workspace, repository.head() if repository and with_git else "")
    if build is None:
        return False
    if repository:
        build_commits(workspace, repository, build, stop.is_set)
    if not stop.is_set():
        BuildState(State(Layout(workspace.root)), workspace.space).clear()
    return True


def watch_status(workspace: Workspace) -> dict[str, Json]:
    """Whether a watch of this store is running, which, and what the last one did."""
    layout = Layout(workspace.root)
    holder = holder_of(layout.local(_LOCK), _THE_WATCH)
    state = SavedState(_Local(workspace, layout)).load() or WatchState()
    log = Log(layout.local(_LOG))
    return {
        "running": holder is not None,
        "pid": holder.pid if holder else None,
        "since": holder.since if holder else None,
        "space": workspace.space,
        "files": len(state.files),
        "last_commit": state.head or None,
        "last_batch": log.last("batch"),
        "last_trouble": log.last("trouble"),
    }


def _watcher(
    root: str, options: WatchRequest, state: SavedState, stop: Event, log: _WatchLog, *, has_git: bool
) -> Watcher:
    from memcli.extras.watch.watcher import Watcher

    seen = state.load()
    if seen is None and (options.all_is_new or not log.is_there()):
        seen = WatchState()  # the state of a store that was moved away just now is not that of a first watch
    return Watcher(
        root,
        paths=options.paths,
        globs=options.globs,
        with_git=has_git and options.with_git and _can_run_git(log),
        state=seen,
        stop=stop,
        warn=log.report,
        once=options.once,
    )


def _can_run_git(log: _WatchLog) -> bool:
    from memcli.git.repository import find_program

    if find_program("git", os.getcwd()) is None:
        log.report("git is not on PATH: watching files but not commits")
        return False
    return True


class _WatchLog:
    """The log of all watches of a store, by this process for one space."""

    def __init__(self, workspace: Workspace, layout: Layout) -> None:
        self._workspace = workspace
        self._log = Log(layout.local(_LOG))
        self._lock = layout.local(_LOCK)
        self._identity = identity(self._lock)

    def add(self, entry: Mapping[str, Json]) -> None:
        workspace = self._workspace
        self._log.add({"at": workspace.clock(), "pid": os.getpid(), "space": workspace.space, **entry})

    def report(self, message: str) -> None:
        self._workspace.warn(message)
        self.add({"event": "trouble", "message": message})

    def is_there(self) -> bool:
        """Whether the store is still the one that the log was opened in."""
        return identity(self._lock) == self._identity


class _Progress:
    """How far a watch is: its state and its log."""

    def __init__(self, root: str, state: SavedState, watcher: Watcher, log: _WatchLog) -> None:
        self._root = root
        self._state = state
        self._watcher = watcher
        self._log = log

    def doubt(self, batch: Batch) -> None:
        self._state.doubt(batch)

    def save(self) -> None:
        self._state.save(self._watcher.state)

    def is_there(self) -> bool:
        return self._log.is_there()

    def is_off(self) -> bool:
        return is_off(self._root, os.environ)

    def log(self, entry: Mapping[str, Json]) -> None:
        self._log.add(entry)


class _WatchTree:
    """A work tree as it is watched, and as `ingest` reads it."""

    def __init__(self, workspace: Workspace, root: str, watcher: Watcher) -> None:
        self._workspace = workspace
        self._root = root
        self._watcher = watcher
        self._find_lost = lost_commits(workspace.root)

    def batches(self) -> Iterator[Batch]:
        return self._watcher.batches()

    def recheck(self) -> None:
        self._watcher.recheck()

    def files(self, names: Sequence[str]) -> Source:
        from memcli.ingest.files import FileSource

        return FileSource([os.path.join(self._root, name) for name in names], self._root, may_be_gone=True)

    def commits(self, revisions: str) -> Source:
        from memcli.ingest.commits import CommitSource

        known = self._workspace.commits.load(self._workspace.space)
        return CommitSource(self._root, revisions, known, within=os.path.dirname(self._workspace.root))

    def lost_commits(self, commit: str) -> Collection[str]:
        from memcli.git.repository import Repository
        from memcli.git.tree import lost

        return lost(Repository(self._root), commit)

    def unreachable(self, commits: Collection[str]) -> Collection[str]:
        return self._find_lost(commits)

    def place(self, file: str) -> FilePlace:
        from memcli.app.ingest import FilePlace
        from memcli.ingest.labels import memory_path
        from memcli.model.names import readable

        return FilePlace(readable(file), memory_path(file))


class _Local:
    """The files of a space's watch in `local/`."""

    def __init__(self, workspace: Workspace, layout: Layout) -> None:
        self._workspace = workspace
        self._layout = layout

    def read(self, name: str) -> bytes:
        path = self._path(name)
        try:
            return read_regular(path, _MAX_BYTES) or b""
        except OSError as error:  # taken for a first watch, it would pass over all that changed since the last
            raise StoreError(f"cannot read {path}: {error.strerror}", hint_of(error, "check its permissions")) from None

    def write(self, name: str, data: bytes) -> None:
        write_file(self._path(name), data, 0o600)

    def append(self, name: str, line: bytes) -> None:
        path = self._path(name)
        try:
            append_line(path, b"\n" + line, sync=True)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}", "check free space and permissions") from None

    def remove(self, name: str) -> None:
        remove_quietly(self._path(name))

    def without_secrets(self, paths: Sequence[str]) -> Sequence[str]:
        named = self._workspace.redactor.names(self._workspace.space, paths)
        return [path for path, name in zip(paths, named, strict=True) if name == path]

    def _path(self, name: str) -> str:
        return self._layout.local(f"{self._workspace.space}.{name}")
