"""Homes: finds the store and the space of a named memory, in which a command is to change it: recall shows memories of several
spaces and of the user-wide store.

It also finds the two ends of a link, which may be in different spaces, and checks that such a link is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.app.catalogue import SpaceReader, find_elsewhere, find_in, reading, telling_where
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, RefusedError, UsageError
from memcli.model.catalogue import CatalogueFilter
from memcli.model.links import MUTUAL, SUPERSEDES, elsewhere
from memcli.model.memory import Json, Memory
from memcli.record import Record
from memcli.settings import REPO


class LinkEnd(Record):
    """One end of a link: a memory, and the space that has it."""

    space: str
    memory: Memory

    @property
    def name(self) -> str:
        """The target of a link from another space to this memory."""
        return f"{self.space}:{self.memory.id}"

    def to_json(self) -> dict[str, Json]:
        return {"id": self.memory.id, "path": self.memory.path, "space": self.space}


def located(workspace: Workspace, ref: str) -> LinkEnd:
    """The memory that `ref` names: in a space to read, else in the space that is its prefix, else in any. Raises NotFoundError,
    UsageError for a name that several other spaces have."""
    first, named = workspace.spaces_to_read, elsewhere(ref)
    with reading(workspace, first) as near:
        if any(space.find(ref) is not None for space in near):
            return _end(workspace, *find_in(near, ref))
        others = [name for name in workspace.store.spaces() if name not in first]
        if named and named[0] in (*first, *others):
            with reading(workspace, [named[0]]) as spaces:
                return _end(workspace, *find_in(spaces, named[1]))
        far = []
        for name in others:
            with reading(workspace, [name]) as (space,):
                if (memory := space.find(ref)) is not None:
                    far.append(_end(workspace, space, memory))
        if len(far) > 1:
            names = " and ".join(repr(end.space) for end in far)
            raise UsageError(f"{ref!r} is in spaces {names}", f"name the space: {far[0].space}:{ref}")
        return far[0] if far else _end(workspace, *find_in(near, ref))


def _end(workspace: Workspace, space: SpaceReader, memory: Memory) -> LinkEnd:
    """The memory as the end of a link; of one in a derived space that was copied into `main`, the copy."""
    if memory.superseded_by and space.policy.is_derived:
        with reading(workspace, [workspace.main]) as (main,):
            if (copy := main.find(memory.superseded_by)) is not None:
                return LinkEnd(main.name, copy)
    return LinkEnd(space.name, memory)


def space_of(workspace: Workspace, end: LinkEnd) -> str:
    """The space in which to link the memory: its own, but `main` for one of `repo`. Raises RefusedError for other derived
    spaces."""
    # A derived space would lose the link when it is rebuilt.
    if not workspace.store.policy(end.space).is_derived:
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
    """Raises UsageError, RefusedError unless a memory of `space` may have a link of this relation to `end`. With
    `is_stored_here`, only that memory has the link; otherwise `end` can have it where the relation is mutual."""
    if space == end.space:
        return
    if relation == SUPERSEDES:
        raise UsageError(
            f"a memory of space {space!r} cannot supersede one of space {end.space!r}",
            f"replace it there: `memcli remember TEXT --space {end.space} --supersedes {end.memory.id}`",
        )
    is_hidden = workspace.store.policy(end.space).is_private and not workspace.store.policy(space).is_private
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
    """Links for a memory of the space of the workspace; those to memories of other spaces get their ids.

    Links with targets of `known` ones, and to `own` names, are returned unchanged. Raises NotFoundError, and as `check_across`;
    with `drop`, links that would raise are left out.
    """
    unchanged = own | {str(one["to"]) for one in known}
    resolved = []
    for one in links:
        try:
            name = str(one["to"])
            resolved.append(one if name in unchanged else {**one, "to": _resolved(workspace, name, one["relation"])})
        except (NotFoundError, RefusedError, UsageError):
            if not drop:
                raise
    return tuple(resolved)


def _resolved(workspace: Workspace, name: str, relation: str) -> str:
    """The target of a link from the space of the workspace to the memory that `name` names; `name` itself within the space."""
    if elsewhere(name) is None:
        return name
    with reading(workspace, [workspace.space]) as (space,):
        if space.find(name) is not None:
            return name
    end = located(workspace, name)
    if end.space == workspace.space or space_of(workspace, end) != end.space:
        return end.memory.id  # storing the link copies a memory of a derived space that it names by id
    check_across(workspace, workspace.space, end, relation, is_stored_here=True)
    return end.name


Homes = list[tuple[Workspace, list[str]]]
"""Each workspace with the names of the memories to change in it."""


def by_home(workspace: Workspace, refs: Sequence[str], *, recursive: bool = False) -> tuple[Homes, MemcliError | None]:
    """The workspaces in which to change the memories that `refs` name, and the error for those that do not exist, if any.

    Unless the user has named a space, a memory that the project does not have is searched in the user-wide store. With
    `recursive`, each may be a path with memories below it. Raises the error if none exists.
    """
    with reading(workspace) as spaces:

        def home(ref: str) -> Workspace:
            with telling_where(workspace, [ref]):
                try:
                    space = _first_below(spaces, ref) if recursive else None
                    space = space or find_in(spaces, ref)[0]
                except NotFoundError:
                    name = None if workspace.is_space_named else _space_elsewhere(workspace, ref, recursive)
                    if name is None:
                        raise
                    return beyond(workspace, ref, name)
            # A memory of a derived space is changed as a copy in `main`, which `app/repo.py` makes.
            if space.name == workspace.space or space.policy.is_derived:
                return workspace
            return workspace.copy_with(space=space.name, is_space_named=True)

        return grouped(refs, home)


def grouped(refs: Sequence[str], home: Callable[[str], Workspace]) -> tuple[Homes, MemcliError | None]:
    """The refs by the workspace that `home` returns for each, and one error for those for which it raises NotFoundError or
    UsageError. Raises that error if there are no others."""
    found: dict[tuple[str, str], tuple[Workspace, list[str]]] = {}
    errors: list[MemcliError] = []
    for ref in refs:
        try:
            one = home(ref)
        except (NotFoundError, UsageError) as error:
            # One reference that names nothing must not keep the others from being changed.
            errors.append(error)
        else:
            found.setdefault((one.root, one.space), (one, []))[1].append(ref)
    missing = joined(errors)
    if missing is not None and not found:
        raise missing
    return list(found.values()), missing


def joined(errors: Sequence[MemcliError]) -> MemcliError | None:
    """The errors as one of the class of the first; None if there are none."""
    if len(errors) < 2:
        return errors[0] if errors else None
    return type(errors[0])("; ".join(dict.fromkeys(error.message for error in errors)), errors[0].hint)


def home_of_link(workspace: Workspace, start: str, end: str) -> Workspace:
    """The workspace of the store that has both ends of a link. Raises UsageError if they are in different stores."""
    if workspace.is_space_named:
        return workspace
    far = []
    for ref in (start, end):
        try:
            located(workspace, ref)
        except NotFoundError:
            if find_elsewhere(workspace, ref):
                far.append(ref)
    if len(far) == 1:
        raise UsageError(
            f"{far[0]!r} is in the user-wide store and the other memory is not", "link memories of the same store"
        )
    return beyond(workspace, start) if far else workspace


def beyond(workspace: Workspace, ref: str, space: str | None = None) -> Workspace:
    """The workspace of the user-wide store, over `space` if given. Warns that `ref` is changed there."""
    other = workspace.elsewhere
    assert other is not None
    workspace.warn(f"{ref!r} is in the user-wide store: the change is made there")
    return other if space is None else other.copy_with(space=space, is_space_named=True)


def _first_below(spaces: Sequence[SpaceReader], path: str) -> SpaceReader | None:
    """The first of the spaces with a memory at or below a path."""
    below = CatalogueFilter(under=path.strip("/"), inactive=True)
    return next((space for space in spaces if space.count(below)), None) if below.under else None


def _space_elsewhere(workspace: Workspace, ref: str, recursive: bool) -> str | None:
    """The space of the user-wide store that has the memory or, with `recursive`, one at or below the path."""
    if found := find_elsewhere(workspace, ref):
        return found[0]
    other = workspace.elsewhere
    if not recursive or other is None:
        return None
    with reading(other, other.store.spaces()) as spaces:
        space = _first_below(spaces, ref)
        return space.name if space else None
