"""The sessions that the verbs of `memcli session` are about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.conversation import Session as Conversation


VARIABLE = "MEMCLI_SESSION"
CURRENT = f"[default: {VARIABLE}, or the session started last]"


def chosen_session(workspace: Workspace, name: str | None, *states: str) -> Conversation:
    """The session of this name; else that of the environment, or the current one in the first of these states."""
    from memcli.app.session import current, find

    finish_endings(workspace)
    ref = name or os.environ.get(VARIABLE)
    return find(workspace, ref) if ref else current(workspace, *states)


def finish_endings(workspace: Workspace) -> None:
    """Finishes ends of sessions that were interrupted."""
    if workspace.sessions.ending(workspace.space):
        from memcli.app.session_end import finish_all

        with workspace.behind_the_write("finishing the end of an earlier session"):
            finish_all(workspace)
