"""Why a tool call is refused: an enforced memory has a trigger that matches it, and the policy `agents.enforce` is `deny`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.model.edits import FileEdit
from memcli.model.shapes import DENY

if TYPE_CHECKING:
    from memcli.app.guard import GuardFinding

_MOST = 5


def reason_to_refuse(workspace: Workspace, edits: Sequence[FileEdit]) -> str:
    """A line for each enforced memory that forbids the change, with its id; empty if none does, or if the policy does not ask
    for it. Raises what guard raises."""
    if workspace.in_force(workspace.load_policy(workspace.main)).agents.get("enforce") != DENY:
        return ""
    from memcli.app.guard import guard

    found: dict[str, GuardFinding] = {}
    for finding in guard(workspace, edits).findings:
        if finding.is_enforced:
            found.setdefault(finding.memory.id, finding)
    if not found:
        return ""
    lines = [_line(finding) for finding in found.values()][:_MOST]
    return "\n".join(["Refused by an enforced memory of this project:", *lines, "`memcli get ID` shows its reason."])


def _line(finding: GuardFinding) -> str:
    where = f"{finding.file}: " if finding.file else ""
    return f"- {where}[{finding.memory.id}] {finding.text} (trigger: {finding.trigger})"
