"""Consult: what was decided about what is being changed, in a few lines for whoever writes the commit's message."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.edits import FileEdit
from memcli.model.recall import Query

BACKEND = "basic"
"""A change is a bag of words and no question, and there is no time for meaning."""
KINDS = ("constraint", "negative", "decision")
_MIN_POINTS = 5.0  # two words of the change in summary and text, or one in the path and in either of them


def consult(workspace: Workspace, edits: Sequence[FileEdit], limit: int) -> list[str]:
    """At most `limit` lines, constraints first; for a workspace whose backend is BACKEND. Raises what recall raises."""
    query = Query(
        topic="", now=workspace.clock(), limit=limit, kinds=KINDS, min_score=_MIN_POINTS,
        weights={"importance": 0.0}, edits=tuple(edits),
    )  # fmt: skip
    (bundle,) = recall(workspace, [query], with_global=False)
    found = sorted((section.memory for section in bundle.sections), key=lambda memory: KINDS.index(memory.kind))
    return [f"{memory.kind} [{memory.id}] {memory.summary_micro or memory.raw}" for memory in found]
