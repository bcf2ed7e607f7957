"""What memories are taken from: files, commits, other tools' memory, and what changes while one watches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode
from memcli.ports import Source
from memcli.store.atomic import make_folder, read_json, write_file
from memcli.store.layout import Layout, find_work_tree

if TYPE_CHECKING:
    from threading import Event

    from memcli.app.watch import Watch
    from memcli.ingest.foreign import ForeignSource


def commit_source(revisions: str) -> Source:
    """The commits of a range in the repository that the working directory is in. Raises NotFoundError, ProviderError."""
    from memcli.ingest.commits import CommitSource

    return CommitSource(os.getcwd(), revisions)


def file_source(workspace: Workspace, paths: Sequence[str]) -> Source:
    """Files and folders; their paths are told from the work tree. Raises NotFoundError for one that is not there."""
    from memcli.ingest.files import FileSource

    here = os.getcwd()
    return FileSource(paths, find_work_tree(here, os.path.expanduser("~")) or os.path.dirname(workspace.root))


def foreign_source(workspace: Workspace, path: str, data: bytes | None, form: str) -> ForeignSource:
    """The files of another tool: a folder, or one file (of the name `path`) whose content is `data`.

    Their names are told from the work tree.
    """
    from collections import Counter

    from memcli.ingest.foreign import ForeignSource, files_under, label

    base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or os.path.dirname(workspace.root)
    skipped: Counter[str] = Counter()
    if data is None:
        return ForeignSource(files_under(path, base, skipped), form, skipped, strict=False)
    return ForeignSource([(label(path, base), data)], form, skipped, strict=True)


def open_watch(
    workspace: Workspace, paths: Sequence[str], globs: Sequence[str], *, with_git: bool, once: bool, stop: Event
) -> Watch:
    """A watch over the work tree that the working directory is in, going on from where the last one ended."""
    import shutil

    from memcli.app.watch import Watch
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource
    from memcli.ingest.labels import readable
    from memcli.ingest.state import WatchState
    from memcli.ingest.watch import Watcher

    layout = Layout(workspace.root)
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    if with_git and work_tree is not None and shutil.which("git") is None:
        workspace.warn("git is not on PATH: files are followed, commits are not")
        with_git = False
    saved = layout.local(f"{workspace.space}.watch.json")
    known = read_json(saved)
    watcher = Watcher(
        work_tree or layout.work_tree, paths=paths, globs=globs, with_git=with_git and work_tree is not None,
        state=None if known is None else WatchState.from_json(known), stop=stop, warn=workspace.warn, once=once,
    )  # fmt: skip
    base = work_tree or layout.work_tree
    make_folder(os.path.dirname(saved))

    def save() -> None:
        write_file(saved, encode(watcher.state.to_json()), 0o600)

    return Watch(
        workspace=workspace,
        work_tree=base,
        lock=layout.local("watch.lock"),
        batches=watcher.batches(),
        file_source=lambda files: FileSource([os.path.join(base, f) for f in files], base, may_be_gone=True),
        commit_source=lambda revisions: CommitSource(base, revisions),
        name_of=readable,
        save=save,
    )
