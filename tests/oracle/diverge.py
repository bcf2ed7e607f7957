"""Two versions of a space that went different ways: what a merge, and what an import, must make of them."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

from tests.oracle.fields import DEFAULTS, Fields, is_same_memory, says, value
from tests.oracle.model import Model
from tests.oracle.world import World

_LEFT_OPEN = {"metadata", "version", "strength", "chunks", "summary_micro", "summary_short", "summary_long"}
Objects = dict[str, Fields]


def merge(world: World, theirs: Objects) -> None:
    """Makes of the space what the three-way merge with `theirs` must be; `world.base` is what both come from."""
    base, ours, model, is_renamed = world.base, world.main.objects, world.main, False
    model.objects = {}
    for name in sorted(ours.keys() | theirs.keys()):
        before, left, right = base.get(name), ours.get(name), theirs.get(name)
        if left is None or right is None:
            kept = left or right
            assert kept is not None
            if before is not None and _equal(kept, before):
                world.end([kept])
                continue
            model.objects[name] = deepcopy(kept)
            model.free[name] = {"metadata"} if before is not None else set()
        elif before is None and not is_same_memory(left, right):
            _both(model, left, right)
            is_renamed = True
        elif _equal(left, right) or (before is not None and _equal(right, before)):
            model.objects[name] = deepcopy(left)
        elif before is not None and _equal(left, before):
            model.objects[name] = deepcopy(right)
        else:
            model.objects[name] = _merged(model, before or {}, left, right)
    model.drop_dangling()
    if is_renamed:
        _free_references(model, model.objects)
    _free_paths(model)


def take_in(world: World, incoming: Objects) -> None:
    """Makes of the space what an import of `incoming` in the mode `merge` must: of two versions the newer."""
    model = world.main
    for name, memory in _told_apart(model, incoming).items():
        mine = model.objects.get(name)
        if mine is None or mine["updated_at"] <= memory["updated_at"]:
            if mine is not None and mine["raw"] != memory["raw"]:
                world.end([mine])
            model.objects[name] = memory
    model.drop_dangling()
    _free_paths(model)


def replace(world: World, incoming: Objects, now: str) -> None:
    """Makes of the space what an import of `incoming` in the mode `replace` must."""
    model = world.main
    taken = _told_apart(model, incoming)
    gone = model.purge(model.objects.keys() - taken.keys(), now)
    if not model.grace:
        world.end(gone, erased=True)
    displaced = [m for n, m in model.objects.items() if not _equal(m, taken[n])]
    model.displace(displaced, now)
    if not model.grace:
        world.end([m for m in displaced if m["raw"] != taken[m["id"]]["raw"]])
    model.objects = taken
    model.drop_dangling()
    _free_paths(model)


def _told_apart(model: Model, incoming: Objects) -> Objects:
    """What comes, with another id for each memory whose id another memory has."""
    known = model.objects.values()
    told: Objects = {}
    for name, memory in deepcopy(incoming).items():
        if name not in model.objects or is_same_memory(model.objects[name], memory):
            told[name] = memory
            continue
        same = [m["id"] for m in known if _is_twin(m, memory)]
        model.made += 1
        new = same[0] if same else f"?{model.made}"
        told[new] = {**memory, "id": new}
        model.until[new] = model.until.get(new, set()) | model.until.get(name, set())
    if told.keys() != incoming.keys():
        _free_references(model, told.keys() | model.objects.keys())
    return told


def _merged(model: Model, base: Fields, left: Fields, right: Fields) -> Fields:
    newer, older = (left, right) if left["updated_at"] >= right["updated_at"] else (right, left)
    free = set(_LEFT_OPEN)
    merged: Fields = {"id": left["id"]}
    for name in (left.keys() | right.keys() | DEFAULTS.keys()) - {"id"}:
        was, new, old = value(base, name), value(newer, name), value(older, name)
        if name in ("tags", "links"):
            merged[name] = _union(was or [], new, old)
        elif new != old and was not in (new, old) and newer["updated_at"] == older["updated_at"]:
            free.add(name)  # which of two is newer, their bytes decide
            merged[name] = new
        else:
            merged[name] = new if old == was or new == old else old if new == was else new
    merged["updated_at"] = newer["updated_at"]
    free.add("created_at" if not base else "metadata")
    if any(value(merged, n) != value(base, n) for n in ("links", "triggers", "anchors", "context")):
        free |= {"triggers", "anchors", "context"}
    model.free[left["id"]] = free
    return merged


def _union(was: list, new: list, old: list) -> list:  # type: ignore[type-arg]
    def places(items: list) -> dict:  # type: ignore[type-arg]
        return {(i if isinstance(i, str) else (i["to"], i["relation"])): i for i in items}

    before, left, right = places(was), places(new), places(old)
    kept = [place for place in {**left, **right} if place not in before or (place in left and place in right)]
    return [left.get(place, right.get(place)) for place in kept]


def _both(model: Model, left: Fields, right: Fields) -> None:
    """Two memories that came to one id: both are there, and one of them has another."""
    for memory in (left, right):
        model.made += 1
        name = f"?{model.made}"
        model.objects[name] = {**deepcopy(memory), "id": name}
        model.until[name] = set(model.until.get(memory["id"], ()))
        model.free[name] = {"links", "superseded_by", "valid_until", "chunks"}


def _free_references(model: Model, names: Iterable[str]) -> None:
    """Leaves open which ids the memories refer to, and thus what ended one, where some have got new ids."""
    for name in names:
        model.free.setdefault(name, set()).update({"links", "superseded_by", "valid_until", "chunks"})


def _free_paths(model: Model) -> None:
    """Leaves the path open where several want the same."""
    paths = [memory["path"] for memory in model.objects.values()]
    for name, memory in model.objects.items():
        if paths.count(memory["path"]) > 1:
            model.free.setdefault(name, set()).add("path")


def _is_twin(first: Fields, second: Fields) -> bool:
    is_alike = first["path"] == second["path"] or says(first) == says(second)
    return is_alike and bool(first["created_at"] == second["created_at"])


def _equal(first: Fields, second: Fields) -> bool:
    return all(value(first, name) == value(second, name) for name in first.keys() | second.keys())
