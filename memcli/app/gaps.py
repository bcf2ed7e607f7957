"""Gaps: questions that nothing answered are kept where the policy says so, until something answers them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memcli.app.recall import recall
from memcli.app.usage import unnoted
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError
from memcli.model.gaps import Gap
from memcli.model.memory import Json
from memcli.model.recall import Query
from memcli.record import Record, as_dict


class Reviewed(Record):
    """Gaps that were asked again: those that something answers now, which are closed, and those that nothing does."""

    filled: tuple[Gap, ...] = ()
    open: tuple[Gap, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {"filled": [as_dict(gap) for gap in self.filled], "open": [as_dict(gap) for gap in self.open]}


def list_gaps(workspace: Workspace) -> list[Gap]:
    """The gaps of the space that the user named, or of all that keep them; what others have kept before is removed.

    Raises StoreError, LockedError.
    """
    gaps = workspace.gaps.read()
    kept = {space for space in dict.fromkeys(gap.space for gap in gaps) if is_kept(workspace, space)}
    drop(workspace, [gap for gap in gaps if gap.space not in kept])
    asked = {workspace.space} if workspace.is_space_named else kept
    return [gap for gap in gaps if gap.space in kept & asked]


def is_kept(workspace: Workspace, space: str) -> bool:
    """Whether the policy of the space keeps gaps here."""
    return workspace.in_force(workspace.load_policy(space)).gaps


def close(workspace: Workspace, refs: Sequence[str]) -> list[Gap]:
    """Removes the gaps that `refs` name, by number in the list or by topic. Raises NotFoundError, StoreError, LockedError."""
    gaps = list_gaps(workspace)
    chosen = [_find(gaps, ref) for ref in refs]
    drop(workspace, chosen)
    return chosen


def drop(workspace: Workspace, gaps: Collection[Gap]) -> None:
    """Removes gaps, and what a model said of them. Raises StoreError, LockedError."""
    if gaps:
        workspace.gaps.drop(gaps)
        workspace.answers.erase_questions()


def _find(gaps: Sequence[Gap], ref: str) -> Gap:
    if ref.isascii() and ref.isdigit() and 0 < int(ref) <= len(gaps):
        return gaps[int(ref) - 1]
    key = Gap(ref, "", 0, "", "").key[1]
    for gap in gaps:
        if gap.key[1] == key:
            return gap
    raise NotFoundError(f"no gap {ref[:80]!r}", "`memcli feedback gaps` lists them with their numbers")


def review(workspace: Workspace, since: str = "") -> Reviewed:
    """Asks again what nothing answered since a time, and closes what something answers now. Raises what recall raises."""
    gaps = [gap for gap in list_gaps(workspace) if since <= gap.last_at]
    if not gaps:
        return Reviewed()
    queries = [Query(topic=gap.topic, now=workspace.clock(), limit=1) for gap in gaps]
    answered = [bool(bundle.sections) for bundle in recall(unnoted(workspace), queries)]
    filled = [gap for gap, is_answered in zip(gaps, answered, strict=True) if is_answered]
    drop(workspace, filled)
    return Reviewed(tuple(filled), tuple(gap for gap in gaps if gap not in filled))
