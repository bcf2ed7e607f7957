"""Opens the sources of `ingest`: files, commits, staged changes; finds lost commits; and builds the derived space `repo` in a clone
that has none: from commits, newest first, then files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from memcli.app.ingest import Ingested, ingest
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError, ProviderError
from memcli.git.repository import Repository, folder_in
from memcli.ports import Source
from memcli.settings import REPO
from memcli.store.layout import Layout, find_work_tree
from memcli.store.notes import begin_build, build_head, end_build
from memcli.store.state import State

if TYPE_CHECKING:
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource, Redact


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
        # With the working directory: in another repository, no commit is taken for lost.
        found = tips(find_repository(os.path.dirname(workspace.root)))
        return sha256("\n".join([snapshot.fingerprint, os.getcwd(), *found]).encode()).hexdigest()
    return ""


def is_own_repository(root: str) -> bool | None:
    """Whether the working directory is in the repository of the store at `root`, and not in another one, such as a submodule;
    None where one of them is in none."""
    from memcli.git.index_file import common_dir
    from memcli.git.repository import find_repository

    with suppress(NotFoundError, ProviderError):
        own, here = find_repository(os.path.dirname(root)), find_repository(os.getcwd())
        return common_dir(own.git_dir()) == common_dir(here.git_dir())
    return None


def lost_commits(root: str) -> Callable[[Collection[str]], Collection[str]]:
    """A function that returns those of some commits that are reachable from no branch of the repository; none where the working
    directory is in another repository than the store at `root`, to which the commits belong."""

    def find(commits: Collection[str]) -> Collection[str]:
        from memcli.git.repository import find_repository
        from memcli.git.tree import unreachable

        with suppress(NotFoundError, ProviderError):
            if is_own_repository(root):
                return unreachable(find_repository(os.path.dirname(root)), commits)
        return ()

    return find


def file_source(workspace: Workspace, paths: Sequence[str], *, may_be_gone: bool = False) -> FileSource:
    """Files and folders, with paths relative to the work tree. Raises NotFoundError for one that does not exist, unless it
    `may_be_gone`: then its memories are deactivated."""
    from memcli.ingest.files import FileSource

    here = os.getcwd()
    base = find_work_tree(here, os.path.expanduser("~")) or os.path.dirname(workspace.root)
    return FileSource(paths, base, redaction(workspace), may_be_gone=may_be_gone)


def redaction(workspace: Workspace) -> Redact:
    """What removes the secrets from the text of a file, by the policy of the space."""
    return partial(workspace.redactor.text, workspace.space)


def is_missing(workspace: Workspace) -> bool:
    """Whether the space `repo` is to be built: `main` exists, and it does not."""
    if workspace.space != REPO or workspace.is_space_named or workspace.has_space(REPO):
        return False
    return workspace.has_space(workspace.main)


def begin(workspace: Workspace, head: str) -> str | None:
    """Begins the build of the space, if it is missing, or continues an interrupted one: returns its newest commit, None where the
    space is built."""
    state = State(Layout(workspace.root))
    if is_missing(workspace):
        begin_build(state, workspace.space, head)
        return head
    return build_head(state, workspace.space) if workspace.has_space(workspace.space) else None


def build_commits(
    workspace: Workspace, repository: Repository, head: str, is_stopped: Callable[[], bool] = lambda: False
) -> Ingested:
    """Ingests the commits up to `head` that the space does not have, newest first. Raises MemcliError."""
    from memcli.ingest.commits import CommitSource

    if not head or not repository.has_commit(head):
        return Ingested()
    known = workspace.commits.load(workspace.space)
    return ingest(workspace, CommitSource(repository.root, head, known, is_stopped, os.path.dirname(workspace.root)))


def build_files(workspace: Workspace, root: str) -> Ingested:
    """Ingests the files of the work tree, or of the folder in it that has the store, and ends the build. Raises MemcliError."""
    from memcli.ingest.files import FileSource

    folder = os.path.join(root, folder_in(root, os.path.dirname(workspace.root)))
    done = ingest(workspace, FileSource([os.path.normpath(folder)], root, redaction(workspace)))
    end_build(State(Layout(workspace.root)), workspace.space)
    return done
