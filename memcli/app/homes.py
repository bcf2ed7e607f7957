"""Homes: the store and the space in which a memory is to be changed that somebody names as recall shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.app.catalogue import SpaceReader, reading
from memcli.app.ends import located
from memcli.app.lookup import find_elsewhere, find_in, reading_asked, telling_where
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.model.catalogue import CatalogueFilter
from memcli.record import replace

Homes = list[tuple[Workspace, list[str]]]
"""Each workspace with those of the named memories that are to be changed in it."""


def by_home(workspace: Workspace, refs: Sequence[str], *, recursive: bool = False) -> tuple[Homes, MemcliError | None]:
    """Where the memories are that `refs` name; and the error for those that are nowhere, if there are any.

    Unless the user has named a space, a memory that the project does not have is looked for in the user-wide store. With
    `recursive`, each may be a path with memories below it. Raises the error if none is anywhere.
    """
    with reading_asked(workspace) as spaces:

        def home(ref: str) -> Workspace:
            with telling_where(workspace, [ref]):
                return _home(workspace, spaces, ref, recursive)

        return grouped(refs, home)


def grouped(refs: Sequence[str], home: Callable[[str], Workspace]) -> tuple[Homes, MemcliError | None]:
    """The refs by what `home` says, and the error for those of which it raises NotFoundError or UsageError. Raises it if it
    does so for all."""
    found: dict[tuple[str, str], tuple[Workspace, list[str]]] = {}
    errors: list[MemcliError] = []
    for ref in refs:
        try:
            one = home(ref)
        except (NotFoundError, UsageError) as error:
            errors.append(error)
        else:
            found.setdefault((one.root, one.space), (one, []))[1].append(ref)
    missing = joined(errors)
    if missing is not None and not found:
        raise missing
    return list(found.values()), missing


def joined(errors: Sequence[MemcliError]) -> MemcliError | None:
    """The errors as one, of the kind of the first."""
    if len(errors) < 2:
        return errors[0] if errors else None
    return type(errors[0])("; ".join(dict.fromkeys(error.message for error in errors)), errors[0].hint)


def home_of_link(workspace: Workspace, start: str, end: str) -> Workspace:
    """The workspace of the store that has both ends of a link. Raises UsageError if each is in another store."""
    if workspace.is_space_named:
        return workspace
    far = [ref for ref in (start, end) if not _is_located(workspace, ref) and find_elsewhere(workspace, ref)]
    if len(far) == 1:
        raise UsageError(
            f"{far[0]!r} is in the user-wide store and the other memory is not", "link memories of the same store"
        )
    return beyond(workspace, start) if far else workspace


def beyond(workspace: Workspace, ref: str, space: str | None = None) -> Workspace:
    """The workspace of the user-wide store, over `space` if one is named. Says that `ref` is changed there."""
    other = workspace.elsewhere
    assert other is not None
    workspace.warn(f"{ref!r} is in the user-wide store: the change is made there")
    return other if space is None else replace(other, space=space, is_space_named=True)


def _home(workspace: Workspace, spaces: Sequence[SpaceReader], ref: str, recursive: bool) -> Workspace:
    try:
        space = _first_below(spaces, ref) if recursive else None
        space = space or find_in(spaces, ref)[0]
    except NotFoundError:
        name = None if workspace.is_space_named else _space_elsewhere(workspace, ref, recursive)
        if name is None:
            raise
        return beyond(workspace, ref, name)
    if space.name == workspace.space or space.policy.is_derived:
        return workspace
    return replace(workspace, space=space.name, is_space_named=True)


def _first_below(spaces: Sequence[SpaceReader], path: str) -> SpaceReader | None:
    """The first of the spaces that has something at or below a path."""
    below = CatalogueFilter(under=path.strip("/"), inactive=True)
    return next((space for space in spaces if space.count(below)), None) if below.under else None


def _space_elsewhere(workspace: Workspace, ref: str, recursive: bool) -> str | None:
    """The space of the user-wide store that has the memory, or something below the path."""
    if found := find_elsewhere(workspace, ref):
        return found[0]
    other = workspace.elsewhere
    if not recursive or other is None:
        return None
    with reading(other, other.store.spaces()) as spaces:
        space = _first_below(spaces, ref)
        return space.name if space else None


def _is_located(workspace: Workspace, ref: str) -> bool:
    try:
        located(workspace, ref)
    except NotFoundError:
        return False
    return True
