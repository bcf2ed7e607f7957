"""Why a tool call is refused: an enforced memory has a trigger that matches it, and the policy `agents.enforce` is `deny`."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.guard import Finding, guard
from memcli.app.workspace import Workspace
from memcli.model.edits import FileEdit

_MOST = 5


def reason_to_refuse(workspace: Workspace, edits: Sequence[FileEdit]) -> str:
    """A line for each enforced memory that forbids the change, with its id; empty if none does. Raises what guard raises."""
    found = {
        finding.memory.id: finding for finding in reversed(guard(workspace, edits).findings) if finding.is_enforced
    }
    if not found:
        return ""
    lines = [_line(finding) for finding in reversed(found.values())][:_MOST]
    return "\n".join(["Refused by an enforced memory of this project:", *lines, "`memcli get ID` shows its reason."])


def _line(finding: Finding) -> str:
    where = f"{finding.file}: " if finding.file else ""
    return f"- {where}[{finding.memory.id}] {finding.text} (trigger: {finding.trigger})"
