"""Ends: the memories of any spaces that a link ties together, and what may lead where."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.catalogue import SpaceReader, reading
from memcli.app.lookup import find_in
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.references import MUTUAL, SUPERSEDES, elsewhere
from memcli.record import Record
from memcli.settings import REPO


class LinkEnd(Record):
    """One end of a link: a memory, and the space that has it."""

    space: str
    memory: Memory

    @property
    def name(self) -> str:
        """What a link from another space says it leads to."""
        return f"{self.space}:{self.memory.id}"

    def to_json(self) -> dict[str, Json]:
        return {"id": self.memory.id, "path": self.memory.path, "space": self.space}


def located(workspace: Workspace, ref: str) -> LinkEnd:
    """The memory that `ref` names: in a space to read, else in the space that it begins with, else in any."""
    asked, named = workspace.asked_spaces, elsewhere(ref)
    with reading(workspace, asked) as near:
        if any(space.find(ref) is not None for space in near):
            return _end(workspace, *find_in(near, ref))
        others = [name for name in workspace.store.spaces() if name not in asked]
        if named and named[0] in (*asked, *others):
            with reading(workspace, [named[0]]) as spaces:
                return _end(workspace, *find_in(spaces, named[1]))
        far = [end for name in others if (end := _exact(workspace, name, ref))]
        if len(far) > 1:
            names = " and ".join(repr(end.space) for end in far)
            raise UsageError(f"{ref!r} is in spaces {names}", f"name the space: {far[0].space}:{ref}")
        return far[0] if far else _end(workspace, *find_in(near, ref))


def _exact(workspace: Workspace, space: str, ref: str) -> LinkEnd | None:
    with reading(workspace, [space]) as (reader,):
        memory = reader.find(ref)
        return None if memory is None else _end(workspace, reader, memory)


def _end(workspace: Workspace, space: SpaceReader, memory: Memory) -> LinkEnd:
    """The memory; of one in a derived space that was copied, the copy."""
    if memory.superseded_by and space.policy.is_derived:
        with reading(workspace, [workspace.main]) as (main,):
            if (copy := main.find(memory.superseded_by)) is not None:
                return LinkEnd(main.name, copy)
    return LinkEnd(space.name, memory)


def space_of(workspace: Workspace, end: LinkEnd) -> str:
    """The space that will have the memory: a derived one loses it at its next rebuild."""
    if not workspace.load_policy(end.space).is_derived:
        return end.space
    if end.space != REPO:
        raise RefusedError(
            f"space {end.space!r} is derived, and its next rebuild would take the link away",
            f"`memcli remember` what {end.memory.path} says, and link that",
        )
    return workspace.main


def check_across(
    workspace: Workspace, space: str, end: LinkEnd, relation: str, *, is_stored_here: bool = False
) -> None:
    """Raises UsageError, RefusedError unless a memory of `space` may have a link of this relation to `end`."""
    if space == end.space:
        return
    if relation == SUPERSEDES:
        raise UsageError(
            f"a memory of space {space!r} cannot supersede one of space {end.space!r}",
            f"replace it there: `memcli remember TEXT --space {end.space} --supersedes {end.memory.id}`",
        )
    is_hidden = workspace.load_policy(end.space).is_private and not workspace.load_policy(space).is_private
    if is_hidden and (is_stored_here or relation not in MUTUAL):
        raise RefusedError(
            f"space {space!r} is shared and {end.space!r} is private: no clone would have {end.memory.path}",
            f"`memcli remember` in space {space!r} what it says and link that, or use `memcli link --relation relates_to`",
        )


def resolve_abroad(
    workspace: Workspace,
    links: Sequence[Json],
    known: Sequence[Json] = (),
    own: frozenset[str] = frozenset(),
    *,
    drop: bool = False,
) -> tuple[Json, ...]:
    """Links that are to be given to a memory of the workspace's space, with ids in those that lead to other spaces.

    Those that are `known`, and those to `own` names, are left as they are. Raises NotFoundError, and as `check_across`;
    with `drop`, what would be an error is left out.
    """
    kept = own | {str(one["to"]) for one in known}
    resolved = []
    for one in links:
        try:
            name = str(one["to"])
            resolved.append(one if name in kept else {**one, "to": _resolved(workspace, name, one["relation"])})
        except (NotFoundError, RefusedError, UsageError):
            if not drop:
                raise
    return tuple(resolved)


def _resolved(workspace: Workspace, name: str, relation: str) -> str:
    """The name by which a link from the workspace's space leads to what `name` names; itself within the space."""
    if elsewhere(name) is None:
        return name
    with reading(workspace, [workspace.space]) as (space,):
        if space.find(name) is not None:
            return name
    end = located(workspace, name)
    if end.space == workspace.space or space_of(workspace, end) != end.space:
        return end.memory.id  # one in a derived space is copied, as if it were named by its id alone
    check_across(workspace, workspace.space, end, relation, is_stored_here=True)
    return end.name
