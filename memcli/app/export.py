"""Export: a space, or a part of it, as it is written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from memcli.app.workspace import Workspace, load
from memcli.codec.bundle import FORMATS, Export, check_size, seal
from memcli.errors import NotFoundError, RefusedError
from memcli.model.memory import Memory
from memcli.model.space import is_under
from memcli.record import Record, replace


class Selection(Record):
    """Which memories to hand on: of one of the kinds, with all of the tags, at or below a path. Empty: all."""

    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    under: str = ""

    def takes(self, memory: Memory) -> bool:
        """Whether the memory is one of them."""
        return (
            (not self.kinds or memory.kind in self.kinds)
            and all(tag in memory.tags for tag in self.tags)
            and is_under(memory.path, self.under)
        )

    def told(self) -> dict[str, list[str]]:
        """The filters that are set, by the names of their options."""
        told = {"kind": sorted(set(self.kinds)), "tag": sorted(set(self.tags)), "under": [self.under.strip("/")]}
        return {name: values for name, values in told.items() if any(values)}


def export_space(
    workspace: Workspace,
    name: str,
    selection: Selection,
    sign: Callable[[bytes], str] | None = None,
    *,
    redact: bool = False,
) -> Export:
    """The space `name`, or what is selected of it, ready to be written; with `redact` without what is secret in it.

    Raises NotFoundError, CorruptError; RefusedError for a private space, and for secrets that may not be taken out.
    """
    if not workspace.has_space(name):
        raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")
    with closing(workspace.store.open(name)) as snapshot:
        space = snapshot.header()
        if not selection.told():
            check_size(name, sum(1 for _ in snapshot.records()))
    if space.policy.is_private:
        raise RefusedError(
            f"space {name!r} is private (policy.visibility) and cannot be exported",
            f"`memcli space policy {name} --unset visibility` shares it",
        )
    space = load(workspace, name)
    part = selection.told()
    if part:
        space = replace(space, objects=tuple(m for m in space.objects if selection.takes(m)))
    clean, count = workspace.redactor.clean_space(space)
    if count and not redact:
        places = "1 place has" if count == 1 else f"{count} places have"
        raise RefusedError(
            f"{places} secrets in the export of space {name!r}",
            "`memcli check secrets` shows where; --redact exports without them",
        )
    return seal(clean, part, sign)


def written(export: Export, form: str) -> Iterator[bytes]:
    """The export in one of the formats, piece by piece."""
    return FORMATS[form].encode(export)
