"""Which spaces a caller sees, and what of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fastapi import Depends

from memcli.errors import NotFoundError
from memcli.model.references import elsewhere
from memcli.model.roles import READER, WRITER
from memcli.serve.access import Caller, needs

Reader = Annotated[Caller, Depends(needs(READER))]
Writer = Annotated[Caller, Depends(needs(WRITER))]
_FIRST = ("main", "repo", "journal")


def sees(caller: Caller, space: str) -> bool:
    """Whether the caller's token is for the space."""
    return not caller.spaces or space in caller.reach


def checked(caller: Caller, space: str) -> str:
    """`space`, if the caller sees it. Raises NotFoundError, as for one that does not exist."""
    if not sees(caller, space):
        raise NotFoundError(f"no space {space[:80]!r}", "the list of spaces is on the page Memories")
    return space


def chosen(caller: Caller, space: str) -> str:
    """`space`, or the one that a caller works in who names none."""
    known = [*_FIRST, *caller.spaces]
    return checked(caller, space or next(name for name in known if sees(caller, name)))


def seen(caller: Caller, found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The spaces of a list that the caller sees: those that everybody has first, then by name."""
    order = {name: place for place, name in enumerate(_FIRST)}
    shown = [one for one in found if sees(caller, str(one["space"]))]
    return sorted(shown, key=lambda one: (order.get(one["space"], len(order)), one["space"]))


def target(reference: str, space: str) -> tuple[str, str]:
    """The space and the id that a link of a memory in `space` leads to."""
    return elsewhere(reference) or (space, reference)
