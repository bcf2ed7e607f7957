"""Spaces: list them, count what they hold, and make and show their index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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
"""A space of so many bytes is indexed in a moment."""


def embed_spaces(workspace: Workspace, goes_on: Callable[[], bool] = lambda: True) -> bool:
    """Makes the vectors that are missing in the spaces to read, and of what was said in sessions, for as long as it
    `goes_on`; False without an embedder.

    What was told comes first, and what is to be made is chosen anew when something has changed. What was made before an
    error is kept. Raises ProviderError, RefusedError.
    """
    while goes_on():
        spaces = sorted(_indexed(workspace), key=lambda one: one[0].store.policy(one[1]).is_derived)
        before = _versions(spaces)

        def is_current() -> bool:
            return goes_on() and _versions(spaces) == before  # noqa: B023 - it is asked in this round alone

        for over, name in spaces:
            if not _embed(over, name, is_current):
                return False
            if not is_current():
                break
        else:
            break
    return True


def embed_few(workspace: Workspace, most: int) -> bool:
    """Makes the vectors that are missing in the spaces to read if that takes a moment: they are at most `most`, and little is
    to be indexed first; whether none is missing now. Raises ProviderError, RefusedError."""
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
    """As `embed_spaces`, for a command whose own work is done: an embedder that fails is no error of it."""
    try:
        embed_spaces(workspace)
    except (ProviderError, RefusedError) as error:
        workspace.warn(error.message)


def index_status(workspace: Workspace) -> dict[str, Json]:
    """What the index holds of the spaces to read, and of what was said in sessions, once it is up to date."""
    counts: Counter[str] = Counter()
    for over, name in _indexed(workspace):
        with opened(over, name) as (_, view):
            counts.update(view.status())
    return {"space": workspace.space, **counts, "embedder": workspace.index.embedder()}


def _indexed(workspace: Workspace) -> list[tuple[Workspace, str]]:
    said = up_to_date(workspace)
    return [*((workspace, name) for name in workspace.spaces_to_read), *([(said, said.space)] if said else [])]


def _embed(workspace: Workspace, space: str, goes_on: Callable[[], bool]) -> bool:
    while True:  # what was erased meanwhile must not come back: the rest is read anew
        with suppress(OutdatedError), opened(workspace, space) as (_, view):
            return view.embed(goes_on)


def _versions(spaces: Sequence[tuple[Workspace, str]]) -> list[str]:
    """What differs when one of the spaces does."""
    found = []
    for over, name in spaces:
        with closing(over.store.open(name)) as snapshot:
            found.append(snapshot.fingerprint)
    return found


def clusters(workspace: Workspace, space: str | None = None, *, only_known: bool = False) -> Clusters:
    """The clusters of a space as it is now, and why there are none where that has a reason.

    They are kept in the cache, and found anew when the space has changed; with `only_known` no work is done for it.
    Raises CorruptError, StoreError.
    """
    with opened(workspace, space) as (_, view):
        return view.clusters(only_known=only_known)
