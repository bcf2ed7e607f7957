"""Intake: what becomes of a space when another one is taken into it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from memcli.errors import RefusedError
from memcli.model.memory import Memory
from memcli.model.names import free_path, memory_id
from memcli.model.references import is_same_memory, renamed, without_dangling
from memcli.model.space import Space
from memcli.record import Record, replace


class IntakePlan(Record):
    """The space as it will be, and how many memories come to it in which way.

    `kept` are newer here than there; `policy` says whose policy holds afterwards: `kept`, or `taken` from there.
    """

    after: Space
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    kept: int = 0
    removed: int = 0
    policy: str = "kept"


def plan_intake(mine: Space, incoming: Space, mode: str, is_new: bool) -> IntakePlan:
    """The plan for taking `incoming` into `mine`, which `is_new` when it has never been written.

    `replace`, and a new space, take all of it, policy and metadata included. `merge` takes memories alone, so that
    no bundle can loosen the policy of a space that is there; of two memories with one id the newer is kept.
    Raises RefusedError when memories would be removed and the policy of `mine` forbids it.
    """
    incoming = _at_home(mine.name, incoming)
    incoming = incoming if is_new else _reidentified(mine, incoming)
    there = {m.id for m in (*incoming.objects, *(mine.objects if mode == "merge" else ()))}
    sound = tuple(without_dangling(memory, there.__contains__) for memory in incoming.objects)
    incoming = replace(incoming, objects=sound)
    if not is_new and mode == "merge":
        return _merged(mine, incoming)
    before = {m.id: m for m in mine.objects}
    removed = before.keys() - {m.id for m in incoming.objects}
    if removed and not mine.policy.allow_delete:
        raise RefusedError(
            f"replacing would delete {len(removed)} memories of space {mine.name!r}, "
            "and its policy does not allow deletion (allow_delete is false)",
            f"use --mode merge, or run `memcli space policy {mine.name} --set allow_delete=true`",
        )
    plan = IntakePlan(
        replace(incoming, name=mine.name), removed=len(removed),
        policy="kept" if mine.policy == incoming.policy else "taken",
    )  # fmt: skip
    return _counted(plan, before, incoming.objects)


def _at_home(name: str, incoming: Space) -> Space:
    """`incoming`, in the space `name`: what led there from another one is a link within it."""
    mark = f"{name}:"
    if incoming.name == name or not any(link["to"].startswith(mark) for m in incoming.objects for link in m.links):
        return incoming
    links = [tuple({**link, "to": link["to"].removeprefix(mark)} for link in m.links) for m in incoming.objects]
    objects = (replace(memory, links=own) for memory, own in zip(incoming.objects, links, strict=True))
    return replace(incoming, objects=tuple(objects))


def _reidentified(mine: Space, incoming: Space) -> Space:
    """`incoming` with other ids for the memories that came to the id of another memory of `mine`."""
    before = {m.id: m for m in mine.objects}
    taken = {*before, *(m.id for m in incoming.objects)}
    ids: dict[str, str] = {}
    for memory in incoming.objects:
        if memory.id in before and not is_same_memory(before[memory.id], memory):
            names = (memory_id(mine.name, memory.path, number) for number in count(1))
            ids[memory.id] = next(n for n in names if n not in taken or _is_known(before.get(n), memory))
            taken.add(ids[memory.id])
    if not ids:
        return incoming
    ordered = sorted((renamed(memory, ids) for memory in incoming.objects), key=lambda m: m.order)
    return replace(incoming, objects=tuple(ordered))


def _is_known(mine: Memory | None, memory: Memory) -> bool:
    """Whether a memory that came to another id at an earlier intake is `mine` now."""
    if mine is None or mine.created_at != memory.created_at:
        return False
    return mine.path == memory.path or mine.hash == memory.hash  # many are made in one second


def _merged(mine: Space, incoming: Space) -> IntakePlan:
    before = {m.id: m for m in mine.objects}
    wins = [m for m in incoming.objects if m.id not in before or before[m.id].updated_at <= m.updated_at]
    moving = {m.id for m in wins}
    taken = {m.path for m in mine.objects if m.id not in moving}
    placed = []
    for memory in wins:
        free = _free(memory, taken)
        taken.add(free.path)
        placed.append(free)
    changed = [m for m in placed if before.get(m.id) != m]
    after = mine.put(changed, max(mine.updated_at, incoming.updated_at)) if changed else mine
    return _counted(IntakePlan(after, kept=len(incoming.objects) - len(wins)), before, placed)


def _free(memory: Memory, taken: set[str]) -> Memory:
    """`memory` at its path or, where another one has that, at one that is made its own by its id."""
    path = free_path(memory.path, memory.id, taken)
    return memory if path == memory.path else replace(memory, path=path)


def _counted(plan: IntakePlan, before: dict[str, Memory], incoming: Iterable[Memory]) -> IntakePlan:
    created = updated = unchanged = 0
    for memory in incoming:
        mine = before.get(memory.id)
        created += mine is None
        unchanged += mine == memory
        updated += mine is not None and mine != memory
    return replace(plan, created=created, updated=updated, unchanged=unchanged)
