"""Audit: what was done to a space, by whom and when, and whether the record of it stands."""

from __future__ import annotations

from typing import Any

from memcli.app.workspace import Workspace
from memcli.clock import normalize_time
from memcli.codec.audit import Verification, entries, verify
from memcli.errors import CorruptError


def acts(workspace: Workspace, limit: int | None, since: str | None, ref: str | None) -> list[dict[str, Any]]:
    """The last `limit` acts in their order: those since a time, and those that touched the memory `ref`.

    `ref` is an id, the beginning of one, or a path. Raises UsageError for what is no time, StoreError.
    """
    found = list(entries(workspace.audit.read(workspace.space)))
    if since is not None:
        start = normalize_time(since)
        found = [act for act in found if str(act.get("time", "")) >= start]
    if ref is not None:
        found = [act for act in found if any(_is(change, ref) for change in act.get("changes", ()))]
    return found if limit is None else found[max(0, len(found) - limit) :]


def check(workspace: Workspace) -> Verification:
    """Whether every line stands as it was written. Raises CorruptError naming the first that does not, StoreError."""
    found = verify(workspace.audit.read(workspace.space))
    if found.broken:
        raise CorruptError(
            f"audit/{workspace.space}.jsonl:{found.broken}: {found.reason}",
            f"the {found.entries - 1} entries before it are intact; do not rely on the rest",
        )
    return found


def _is(change: dict[str, Any], ref: str) -> bool:
    return bool(ref) and (str(change.get("id", "")).startswith(ref) or change.get("path") == ref)
