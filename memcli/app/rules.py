"""Rules: the memories that `guard` enforces, and those whose code changed without a review."""

from __future__ import annotations

from memcli.app.anchors import enforced, tracked_spaces, unmatched_triggers, verify
from memcli.app.workspace import Workspace


def count_rules(workspace: Workspace) -> tuple[int, int]:
    """How many memories of tracked spaces are enforced, and how many have a stale or lost anchor, or a trigger that matches
    nothing any more, and fail `check code` for it. Raises CorruptError, StoreError."""
    spaces = tracked_spaces(workspace)
    count = sum(len(enforced(workspace, space)) for space in spaces)
    code = workspace.load_code()
    if code is None:
        return count, 0
    stale = {one.memory.id for one in verify(workspace, code, spaces) if one.is_failure}
    stale |= {one.memory.id for one in unmatched_triggers(workspace, code, spaces) if one.is_failure}
    return count, len(stale)
