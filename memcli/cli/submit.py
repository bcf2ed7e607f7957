"""Whether what is to be remembered goes in, or waits in the inbox."""

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
    """Stores the candidates, or lets them wait in the inbox: proposals always wait; under `review: true` so does
    everything that no person at a terminal says, unless `yes`. Raises what remember raises."""
    proposed = propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    if not proposed and (yes or is_terminal()):
        return remember(workspace, candidates, supersedes)
    from memcli.app.inbox import offer

    return offer(workspace, candidates, supersedes, propose_all=proposed)
