"""A watch with all that it needs: the work tree's news, the store, and what was told so far."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode, encode_line
from memcli.errors import StoreError
from memcli.ingest.state import WatchState, paths_from_json, paths_to_json
from memcli.model.memory import Json
from memcli.record import Record, replace
from memcli.store.atomic import append_line, make_folder, remove_quietly, write_file
from memcli.store.holder import held, holder_of
from memcli.store.layout import Layout, find_work_tree
from memcli.store.log import Log
from memcli.store.reading import read_json, read_regular

if TYPE_CHECKING:
    from threading import Event

    from memcli.app.watch import Changes, Watch
    from memcli.ingest.watch import Watcher

_THE_WATCH = "the watch of this store"
_LOCK = "watch.lock"
_MAX_DOUBTS = 1 << 30


class WatchOptions(Record):
    """What a watch is to follow, and how. `all_is_new`: with nothing known so far, all files are news."""

    paths: Sequence[str] = ()
    globs: Sequence[str] = ()
    with_git: bool = True
    once: bool = False
    embed: bool = False
    all_is_new: bool = False


def only_watch(workspace: Workspace) -> AbstractContextManager[None]:
    """Keeps other watches off the store while the block runs. Raises LockedError, telling who is at work."""
    layout = Layout(workspace.root)
    make_folder(layout.local(""))
    return held(layout.local(_LOCK), _THE_WATCH, workspace.clock())


def open_watch(workspace: Workspace, options: WatchOptions, stop: Event) -> Watch:
    """A watch over the work tree that the working directory is in, going on from where the last one ended.

    To be run within `only_watch`.
    """
    from memcli.app.watch import Watch
    from memcli.git.repository import Repository
    from memcli.git.rewritten import lost
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource
    from memcli.ingest.labels import memory_path, readable
    from memcli.ingest.watch import Watcher

    layout = Layout(workspace.root)
    work_tree = _work_tree()
    base = work_tree or layout.work_tree
    log = Log(layout.local("watch.log"))

    def tell(entry: Mapping[str, Json]) -> None:
        log.add({"at": workspace.clock(), "pid": os.getpid(), "space": workspace.space, **entry})

    def warn(message: str) -> None:
        workspace.warn(message)
        tell({"event": "trouble", "message": message})

    lock = layout.local(_LOCK)
    mine = _identity(lock)
    states = _States(layout, workspace.space, workspace.redactor)
    watcher = Watcher(
        base,
        paths=options.paths,
        globs=options.globs,
        with_git=work_tree is not None and options.with_git and _has_git(warn),
        state=states.load() or (WatchState() if options.all_is_new else None),
        stop=stop,
        warn=warn,
        once=options.once,
    )
    return Watch(
        workspace=workspace,
        work_tree=base,
        batches=watcher.batches(),
        file_source=lambda files: FileSource([os.path.join(base, f) for f in files], base, may_be_gone=True),
        commit_source=lambda revisions: CommitSource(base, revisions),
        lost_commits=lambda commit: lost(Repository(base), commit),
        name_of=readable,
        path_of=memory_path,
        progress=_Progress(states, watcher),
        recheck=watcher.recheck,
        is_there=lambda: _identity(lock) == mine,
        wait=stop.wait,
        log=tell,
        once=options.once,
        embed=options.embed,
    )


def watch_status(workspace: Workspace) -> dict[str, Json]:
    """Whether a watch of this store is at work, which, and what the last one did."""
    layout = Layout(workspace.root)
    holder = holder_of(layout.local(_LOCK), _THE_WATCH)
    state = _States(layout, workspace.space, workspace.redactor).load() or WatchState()
    log = Log(layout.local("watch.log"))
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


class _States(Record):
    """What has been told, on disk: a state, and behind it the names of the files that it may be wrong about."""

    layout: Layout
    space: str
    redactor: Redactor

    def load(self) -> WatchState | None:
        known = read_json(self._file)
        doubts = self._load_doubts()
        if known is None and not doubts:
            return None
        return WatchState.from_json(known).doubting(doubts)

    def save(self, state: WatchState) -> None:
        kept = self._without_secrets(list(state.files))
        state = (
            state if len(kept) == len(state.files) else replace(state, files={path: state.files[path] for path in kept})
        )
        write_file(self._file, encode(state.to_json()), 0o600)
        remove_quietly(self._doubts)  # killed before this, the next watch looks at some files in vain

    def doubt(self, paths: Sequence[str]) -> None:
        paths = self._without_secrets(paths)
        try:
            # A line of its own, also after half a line that a full disk cut off.
            append_line(self._doubts, b"\n" + encode_line(paths_to_json(paths)), sync=True)
        except OSError as error:
            raise StoreError(f"cannot write {self._doubts}: {error.strerror}", "check space and permissions") from None

    def _without_secrets(self, paths: Sequence[str]) -> Sequence[str]:
        """The paths that may be written down; a file whose name is a secret is looked at anew by each watch."""
        detector = self.redactor.detector(self.space)
        if not detector.find("\n".join(paths)):
            return paths
        return [path for path in paths if not detector.find(path)]

    @property
    def _file(self) -> str:
        return self.layout.local(f"{self.space}.watch.json")

    @property
    def _doubts(self) -> str:
        return self.layout.local(f"{self.space}.watch.doubts")

    def _load_doubts(self) -> list[str]:
        import json

        try:
            lines = (read_regular(self._doubts, _MAX_DOUBTS) or b"").splitlines()
        except OSError:
            return []
        paths: list[str] = []
        for line in lines:
            try:
                paths += paths_from_json(json.loads(line))
            except ValueError:
                continue  # the last line of one that was killed
        return paths


class _Progress(Record):
    """Keeps what a watcher told, and was dealt with."""

    states: _States
    watcher: Watcher

    def doubt(self, changes: Changes) -> None:
        moved = [path for pair in changes.moved for path in pair]
        if paths := [*changes.files, *changes.removed, *moved]:
            self.states.doubt(paths)

    def save(self) -> None:
        self.states.save(self.watcher.state)


def _identity(path: str) -> tuple[int, int] | None:
    """What tells one file from another; None when it is not there."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _work_tree() -> str | None:
    return find_work_tree(os.getcwd(), os.path.expanduser("~"))


def _has_git(warn: Callable[[str], None]) -> bool:
    import shutil

    if shutil.which("git") is None:
        warn("git is not on PATH: files are followed, commits are not")
        return False
    return True
