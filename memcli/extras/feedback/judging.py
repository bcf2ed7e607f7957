"""Feedback on memories. It is recorded on this machine; `store maintain` changes confidence and strength by it."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.catalogue import find_elsewhere, find_in, reading
from memcli.app.homes import joined
from memcli.app.usage import ELSEWHERE
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.model.memory import Memory
from memcli.model.usage import Use
from memcli.record import Record

_LONGEST_REASON = 300
_DIGITS = 4


class Judged(Record):
    """A judged memory, its space, and the workspace of its store."""

    memory: Memory
    space: str
    home: Workspace


def feedback(
    workspace: Workspace, refs: Sequence[str], act: str, reason: str = ""
) -> tuple[list[Judged], MemcliError | None]:
    """Records that memories were helpful, unhelpful or rejected. `refs` are ids, paths, or numbers in the last bundle. Returns
    the judged memories, and the error about references to no memory, or None.

    Raises this error if no reference is found; StoreError, LockedError.
    """
    places: dict[int, tuple[str, str]] = {}  # the space and id of each memory of the last bundle, by number
    if any(map(_is_number, refs)):
        for use in workspace.usage.last():
            places |= {n: (use.space, name) for n, name in zip(use.places, use.ids, strict=True)}
        if not places:
            raise NotFoundError("no answer of recall that a number could refer to", "name the memory by its id or path")
    judged: dict[tuple[str, str, str], Judged] = {}
    errors: list[MemcliError] = []
    for ref in refs:
        # One reference to no memory must not keep the feedback on the others from being recorded.
        try:
            one = _numbered(workspace, int(ref), places) if _is_number(ref) else _named(workspace, ref)
        except (NotFoundError, UsageError) as error:
            errors.append(error)
        else:
            judged.setdefault((one.home.root, one.space, one.memory.id), one)
    missing = joined(errors)
    if missing is not None and not judged:
        raise missing
    redacted, _ = workspace.redactor.detector(workspace.space).redact(reason)
    text = " ".join(redacted.split())[:_LONGEST_REASON]
    for home in {one.home.root: one.home for one in judged.values()}.values():
        ids = [(one.space, one.memory.id) for one in judged.values() if one.home is home]
        # Into the local state, so that feedback changes no tracked file.
        home.usage.judge([Use(workspace.clock(), act, space, (name,), reason=text) for space, name in ids])
    return list(judged.values()), missing


def _is_number(ref: str) -> bool:
    """Whether a reference is a number in the last bundle; a longer one can only be a path."""
    return ref.isascii() and ref.isdigit() and len(ref) < _DIGITS


def _numbered(workspace: Workspace, number: int, places: dict[int, tuple[str, str]]) -> Judged:
    """The memory with this number in the last bundle. Raises NotFoundError."""
    if number not in places:
        raise NotFoundError(
            f"no memory {number} in the last answer of recall", f"it has numbers up to {max(places)}; or use an id"
        )
    space, name = places[number]
    home = workspace.elsewhere if space.startswith(ELSEWHERE) else workspace
    space = space.removeprefix(ELSEWHERE)
    if home is not None:
        with reading(home, [space]) as (reader,):
            if (memory := reader.find(name)) is not None:
                return Judged(memory, space, home)
    raise NotFoundError(f"memory {number} of the last answer, {name}, is gone", "`memcli list` lists the memories")


def _named(workspace: Workspace, ref: str) -> Judged:
    """The memory with this id or path in the spaces to read, else in the user-wide store. Raises NotFoundError, UsageError."""
    with reading(workspace) as spaces:
        try:
            reader, memory = find_in(spaces, ref)
        except NotFoundError:
            found = find_elsewhere(workspace, ref)
            if found is None or workspace.elsewhere is None:
                raise
            return Judged(found[1], found[0], workspace.elsewhere)
        return Judged(memory, reader.name, workspace)
