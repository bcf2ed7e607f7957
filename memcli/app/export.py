"""Export: makes the file of a space, or of a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from memcli.app.workspace import Workspace, load
from memcli.codec.bundle import Export, check_size, seal
from memcli.errors import NotFoundError, RefusedError
from memcli.model.catalogue import CatalogueFilter
from memcli.record import replace


def export_space(
    workspace: Workspace,
    name: str,
    *,
    under: str = "",
    kinds: Sequence[str] = (),
    tags: Sequence[str] = (),
    sign: Callable[[bytes], str] | None = None,
    redact: bool = False,
) -> Export:
    """The export of the space `name`, or of its memories at or below a path, of one of the kinds, and with all of the tags;
    with `redact`, without secrets.

    Raises NotFoundError, CorruptError; RefusedError for a private space, and, without `redact`, for one with secrets.
    """
    if not workspace.has_space(name):
        raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")
    filters = {"kind": sorted(set(kinds)), "tag": sorted(set(tags)), "under": [under.strip("/")]}
    part = {option: values for option, values in filters.items() if any(values)}
    with closing(workspace.store.open(name)) as snapshot:
        space = snapshot.header()
        if not part:
            check_size(name, sum(1 for _ in snapshot.records()))  # before all memories are decoded
    if space.policy.is_private:
        raise RefusedError(
            f"space {name!r} is private (policy.visibility) and cannot be exported",
            f"`memcli space policy {name} --unset visibility` shares it",
        )
    space = load(workspace, name)
    if part:
        wanted = CatalogueFilter(under, tuple(kinds), tuple(tags), inactive=True)
        space = replace(space, objects=tuple(filter(wanted.has, space.objects)))
    # Redaction on the way in is no proof: files are edited by hand, and older rules found less.
    clean, count = workspace.redactor.clean_space(space)
    if count and not redact:
        places = "1 place has" if count == 1 else f"{count} places have"
        raise RefusedError(
            f"{places} secrets in the export of space {name!r}",
            "`memcli check secrets` shows where; --redact exports without them",
        )
    return seal(clean, part, sign)
