"""Opens the sources of `ingest`: files, commits, staged changes; and finds lost commits."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError, ProviderError
from memcli.ports import Source
from memcli.store.layout import find_work_tree

if TYPE_CHECKING:
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource


def staged_source() -> Source:
    """The staged changes of the repository of the working directory. Raises NotFoundError, ProviderError."""
    from memcli.ingest.commits import StagedSource

    return StagedSource(os.getcwd())


def commit_source(workspace: Workspace, revisions: str, *, whole: bool = False) -> CommitSource:
    """The commits of a range in the repository of the working directory: those that the space does not have, or all of them if
    `whole`. Raises NotFoundError, ProviderError, CorruptError, StoreError."""
    from memcli.ingest.commits import CommitSource

    known = {} if whole else workspace.commits.load(workspace.space)
    return CommitSource(os.getcwd(), revisions, known, within=os.path.dirname(workspace.root))


def state_of_commits(workspace: Workspace) -> str:
    """A digest that changes when a commit may have been lost, or `main` has changed; empty without a repository."""
    from memcli.digests import sha256
    from memcli.git.repository import find_repository
    from memcli.git.tree import tips

    with suppress(NotFoundError, ProviderError), closing(workspace.store.open(workspace.main)) as snapshot:
        found = tips(find_repository(os.path.dirname(workspace.root)))
        return sha256("\n".join([snapshot.fingerprint, os.getcwd(), *found]).encode()).hexdigest()
    return ""


def lost_commits(root: str) -> Callable[[Collection[str]], Collection[str]]:
    """A function that returns those of some commits that are reachable from no branch of the repository; none where the working
    directory is in another repository than the store at `root`, to which the commits belong."""

    def find(commits: Collection[str]) -> Collection[str]:
        from memcli.git.index_file import common_dir
        from memcli.git.repository import find_repository
        from memcli.git.tree import unreachable

        with suppress(NotFoundError, ProviderError):
            own, here = find_repository(os.path.dirname(root)), find_repository(os.getcwd())
            if common_dir(own.git_dir()) == common_dir(here.git_dir()):
                return unreachable(own, commits)
        return ()

    return find


def file_source(workspace: Workspace, paths: Sequence[str], *, may_be_gone: bool = False) -> FileSource:
    """Files and folders, with paths relative to the work tree. Raises NotFoundError for one that does not exist, unless it
    `may_be_gone`: then its memories are deactivated."""
    from memcli.ingest.files import FileSource

    here = os.getcwd()
    base = find_work_tree(here, os.path.expanduser("~")) or os.path.dirname(workspace.root)
    return FileSource(paths, base, may_be_gone=may_be_gone)
