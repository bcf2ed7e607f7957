"""Spaces: makes the index of the spaces to read, with vectors and clusters, and reports its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress

from memcli.app.talk import up_to_date
from memcli.app.workspace import Workspace, opened
from memcli.errors import NotFoundError, OutdatedError, ProviderError, RefusedError
from memcli.model.memory import Json
from memcli.model.recall import Clusters
from memcli.model.space import size_of
from memcli.settings import meant_by


def check_exists(workspace: Workspace, name: str) -> None:
    """Raises NotFoundError unless there is a space `name`."""
    if not any(map(workspace.has_space, meant_by(name))):
        raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")


_FEW_BYTES = 1 << 18
"""A space of at most so many bytes is indexed at once."""


def embed_spaces(workspace: Workspace, goes_on: Callable[[], bool] = lambda: True) -> bool:
    """Makes the missing vectors of the spaces to read and of the messages of sessions, while `goes_on` returns True. Returns
    False without an embedder.

    Spaces with stored memories come before derived ones. When a space changes meanwhile, the missing vectors are determined
    again. Vectors that were made before an error stay. Raises ProviderError, RefusedError.
    """
    while goes_on():
        # Derived spaces last: they may be large, and stored memories are wanted first.
        spaces = sorted(_indexed(workspace), key=lambda one: one[0].store.policy(one[1]).is_derived)
        before = [over.fingerprint(name) for over, name in spaces]

        def is_current() -> bool:
            return goes_on() and [over.fingerprint(name) for over, name in spaces] == before  # noqa: B023 - called in this round only

        for over, name in spaces:
            if not _embed(over, name, is_current):
                return False
            # Chosen anew, since a note that was stored meanwhile would wait behind the vectors of a whole history.
            if not is_current():
                break
        else:
            break
    return True


def embed_few(workspace: Workspace, most: int) -> bool:
    """Makes the missing vectors of the spaces to read if they are at most `most`, and little has to be indexed first; returns
    whether none is missing now. Raises ProviderError, RefusedError."""
    for name in workspace.spaces_to_read:
        with closing(workspace.store.open(name)) as snapshot:
            if size_of(snapshot.fingerprint) > _FEW_BYTES:
                catalogue = workspace.index.existing(snapshot)
                if catalogue is None:
                    return False
                catalogue.close()
            with closing(workspace.index.view(snapshot)) as view:
                status = view.status()
                missing = status["chunks"] - status["vectors"]
                if missing > most or (missing and not view.embed()):
                    return False
                most -= missing
    return True


def embed_or_warn(workspace: Workspace) -> None:
    """As `embed_spaces`, after the work of a command: a failing embedder causes a warning."""
    try:
        embed_spaces(workspace)
    except (ProviderError, RefusedError) as error:
        workspace.warn(error.message)


def index_status(workspace: Workspace) -> dict[str, Json]:
    """The counts of the index of the spaces to read and of the messages of sessions, after bringing it up to date."""
    counts: Counter[str] = Counter()
    for over, name in _indexed(workspace):
        with opened(over, name) as (_, view):
            counts.update(view.status())
    return {"spaces": list(workspace.spaces_to_read), **counts, "embedder": workspace.index.embedder()}


def _indexed(workspace: Workspace) -> list[tuple[Workspace, str]]:
    """The spaces to read and the one of the messages of sessions, each with its workspace."""
    talk = up_to_date(workspace)
    return [*((workspace, name) for name in workspace.spaces_to_read), *([(talk, talk.space)] if talk else [])]


def _embed(workspace: Workspace, space: str, goes_on: Callable[[], bool]) -> bool:
    # Memories that are erased meanwhile raise OutdatedError: their vectors must not be stored again.
    while True:
        with suppress(OutdatedError), opened(workspace, space) as (_, view):
            return view.embed(goes_on)


def clusters(workspace: Workspace, space: str | None = None, *, only_known: bool = False) -> Clusters:
    """The clusters of the present version of a space. They are cached, and computed when the space has changed; with
    `only_known`, only cached ones are returned. Raises CorruptError, StoreError."""
    with opened(workspace, space) as (_, view):
        return view.clusters(only_known=only_known)
