"""Verify what a prompt is told, by a language model, where the user has switched that on."""

from __future__ import annotations

import math

from memcli.app.recall import Verify
from memcli.app.topic import NOT_REPEATED
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.recall import Bundle
from memcli.store.layout import Layout
from memcli.store.mark import Mark

MOST = 50
_PAUSE_SECONDS = 60
"""After a failure no prompt has to wait for another one so long."""
_WITHIN_SECONDS = 10.0
"""How long a model may take where no agent waits."""


class PromptCheck:
    """How one prompt is verified, until `ends` by the monotonic clock. `verify` is None where it is not: when it is switched
    off, no model can be asked, or one has failed just now."""

    def __init__(self, workspace: Workspace, ends: float = math.inf) -> None:
        self._mark = Mark(Layout(workspace.root).local("agents.unverified"))
        self._now = workspace.clock()
        self.verify: Verify | None = None
        self._problem = ""
        try:
            if most := _number(workspace.hook_verify):
                self._choose(workspace, most, ends)
        except UsageError as error:
            self._problem = error.message

    def _choose(self, workspace: Workspace, most: int, ends: float) -> None:
        """Raises UsageError when the workspace names no model."""
        from memcli.app.relevance import Verifier
        from memcli.model.prompt import model_name

        model_name(workspace.model)
        if self._mark.is_younger(_PAUSE_SECONDS, self._now):
            self._problem = "the model failed less than a minute ago"
        else:
            self.verify = Verifier(workspace, most, _WITHIN_SECONDS, ends)

    def facts(self, bundle: Bundle) -> dict[str, Json]:
        """What the log says of it. A failure is remembered, unless it is that of the prompt."""
        verdict = bundle.verdict
        if verdict is None:
            return {"verified": self._problem} if self._problem else {}
        if verdict.failure and bundle.query.topic != NOT_REPEATED:
            self._mark.set(self._now)
        return {"verified": verdict.failure or f"{verdict.rejected} of {verdict.asked} rejected"}


def _number(text: str) -> int:
    """How many candidates are verified; 0 for none. Raises UsageError."""
    if not text:
        return 0
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST)) else -1
    if not 0 <= number <= MOST:
        raise UsageError(f"hook_verify must be a number from 0 to {MOST}, not {text[:40]!a}")
    return number
