"""Store new memories, or put them into the inbox."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memcli.app.candidate import Candidate
from memcli.app.remember import Outcome, remember
from memcli.app.workspace import Workspace
from memcli.cli.output import is_terminal


def submit(
    workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None, *, propose: bool, yes: bool
) -> list[Outcome]:
    """Stores the candidates or puts them into the inbox: proposals always go there; under `review: true`, so does everything
    that is not entered by a person at a terminal, unless `yes`. Raises what remember raises.
    """
    proposed = propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    if not proposed and (yes or is_terminal()):
        return remember(workspace, candidates, supersedes)
    from memcli.app.inbox import offer

    return offer(workspace, candidates, supersedes, propose_all=proposed)
