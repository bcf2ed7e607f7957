"""A watch with all that it needs: the work tree, the store, and what was seen so far."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event

from memcli.app.workspace import Workspace
from memcli.extras.watch.scan import WatchState
from memcli.extras.watch.storing import LOCK, THE_WATCH, Watch, WatchedTree, WatchFiles, report
from memcli.extras.watch.watcher import Watcher
from memcli.git.repository import Repository, find_program
from memcli.model.memory import Json
from memcli.record import Record
from memcli.store.atomic import make_folder
from memcli.store.layout import Layout, find_work_tree
from memcli.store.lock import held
from memcli.store.notes import BuildState
from memcli.store.state import State
from memcli.wiring.build import begin, build_commits
from memcli.wiring.sources import lost_commits


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
    layout = Layout(workspace.root)
    make_folder(layout.local(""))
    with held(layout.local(LOCK), THE_WATCH, workspace.clock()):
        repository = find_work_tree(os.getcwd(), os.path.expanduser("~"))
        root = repository or layout.work_tree
        files = WatchFiles(workspace)
        if not options.paths and not options.globs and _build(workspace, repository, stop, with_git=options.with_git):
            files.save(WatchState())  # all files are to follow
        seen = files.load()
        if seen is None and (options.all_is_new or not files.is_there()):
            seen = WatchState()  # the state of a store that was moved away just now is not that of a first watch
        follows_commits = repository is not None and options.with_git
        if follows_commits and find_program("git", os.getcwd()) is None:
            report(workspace, files, "git is not on PATH: watching files but not commits")
            follows_commits = False
        watcher = Watcher(
            root,
            paths=options.paths,
            globs=options.globs,
            with_git=follows_commits,
            state=seen,
            stop=stop,
            warn=lambda message: report(workspace, files, message),
            once=options.once,
        )
        tree = WatchedTree(workspace, root, watcher, lost_commits(workspace.root))
        watch = Watch(workspace, tree, files, stop, once=options.once, embed=options.embed, upkeep=options.upkeep)
        files.log({"event": "start", "work_tree": root})
        yield watch, root
        if not watch.is_gone:
            files.log({"event": "end"})


def _build(workspace: Workspace, root: str | None, stop: Event, *, with_git: bool) -> bool:
    """Ingests the history where the space is missing; whether all files are to follow."""
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
    files = WatchFiles(workspace)
    holder = files.holder()
    pid, since = holder or (None, None)
    state = files.load() or WatchState()
    return {
        "running": holder is not None,
        "pid": pid,
        "since": since,
        "space": workspace.space,
        "files": len(state.files),
        "last_commit": state.head or None,
        "last_batch": files.last("batch"),
        "last_trouble": files.last("trouble"),
    }
