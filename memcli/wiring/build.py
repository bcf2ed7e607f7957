"""Builds the derived space `repo` in a clone that has none: from commits, newest first, then files."""

from __future__ import annotations

import os
from collections.abc import Callable

from memcli.app.ingest import Ingested, ingest
from memcli.app.workspace import Workspace
from memcli.git.repository import Repository, folder_in
from memcli.settings import REPO
from memcli.store.layout import Layout
from memcli.store.notes import begin_build, build_head, end_build
from memcli.store.state import State


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
    done = ingest(workspace, FileSource([os.path.normpath(folder)], root))
    end_build(State(Layout(workspace.root)), workspace.space)
    return done
