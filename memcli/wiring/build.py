"""Builds the space for what is read from the repository where a clone has none: commits, newest first, then files."""

from __future__ import annotations

import os
from collections.abc import Callable

from memcli.app.ingest import Ingested, ingest
from memcli.app.workspace import Workspace
from memcli.git.repository import Repository, folder_in
from memcli.settings import REPO
from memcli.store.layout import Layout
from memcli.store.notes import BuildState
from memcli.store.state import State


def is_missing(workspace: Workspace) -> bool:
    """Whether the space is to be made here: what people stored is there, and nothing of the repository."""
    if workspace.space != REPO or workspace.is_space_named or workspace.has_space(REPO):
        return False
    return workspace.has_space(workspace.main)


def begin(workspace: Workspace, head: str) -> str | None:
    """The last commit of the build of the space that is to begin now, or to go on; None where it is built."""
    state = BuildState(State(Layout(workspace.root)), workspace.space)
    if is_missing(workspace):
        state.begin(head)
        return head
    return state.head() if workspace.has_space(workspace.space) else None


def build_commits(
    workspace: Workspace, repository: Repository, head: str, is_stopped: Callable[[], bool] = lambda: False
) -> Ingested:
    """Ingests the commits that are still to come, newest first. Raises MemcliError."""
    from memcli.ingest.commits import CommitSource

    if not head or not repository.has_commit(head):
        return Ingested()
    known = workspace.commits.load(workspace.space)
    return ingest(workspace, CommitSource(repository.root, head, known, is_stopped, os.path.dirname(workspace.root)))


def build_files(workspace: Workspace, root: str) -> Ingested:
    """Ingests the files of the work tree, or of the folder in it that the store is for, which ends the build. Raises MemcliError."""
    from memcli.ingest.files import FileSource

    folder = os.path.join(root, folder_in(root, os.path.dirname(workspace.root)))
    done = ingest(workspace, FileSource([os.path.normpath(folder)], root))
    BuildState(State(Layout(workspace.root)), workspace.space).clear()
    return done
