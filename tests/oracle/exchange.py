"""Exports, imports, and a clone that goes its own way until the two are merged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy

from tests.oracle import diverge
from tests.oracle.day import Day
from tests.oracle.fields import Fields, is_read
from tests.oracle.model import Model
from tests.oracle.words import TAGS, path
from tests.oracle.world import World

_SPACE = ".memory/spaces/main.json"
_CLONE = "other/.memory/spaces/main.json"
_BASE = "base.json"


def export(day: Day) -> object:
    """Writes a bundle that a later step may import."""
    name = f"bundle-{len(day.world.exports)}.{day.rng.choice(['json', 'jsonl', 'md'])}"
    ended = day.act(["export", "--out", name], lambda _: None)
    if ended.code == 0:
        day.world.exports[name] = deepcopy(list(day.main.objects.values()))
    return ended


def round_trip(day: Day) -> object:
    """An export, imported into an empty store, gives the same bytes."""
    if not day.main.objects:
        return False
    day.act(["export", "--out", "whole.json"], lambda _: None, may_kill=False)
    shutil.rmtree(day.bench.work / "fresh", ignore_errors=True)
    (day.bench.work / "fresh").mkdir()
    day.act(["init", "--root", "fresh"], lambda _: None, may_kill=False)
    day.act(["import", "whole.json", "--root", "fresh"], lambda _: None, may_kill=False)
    here, there = (day.bench.work / name / _SPACE for name in (".", "fresh"))
    if here.read_bytes() != there.read_bytes():
        day.report.problems.append("the space is not the same after a round trip through a bundle")
    return True


def take_in(day: Day) -> object:
    """Imports an earlier bundle."""
    if not day.world.exports:
        return False
    name = day.rng.choice(sorted(day.world.exports))
    return _import(day, name, day.world.exports[name])


def branch(day: Day) -> object:
    """A clone of the store as it is, to work on beside it."""
    if not day.main.objects:
        return False
    day.bench.remove("other")
    day.bench.copy(_SPACE, _CLONE)
    day.bench.copy(_SPACE, _BASE)
    day.world.base = deepcopy(day.main.objects)
    day.world.other = Model(deepcopy(day.main.objects), until=deepcopy(day.main.until), grace=day.main.grace)
    day.world.apart = set()
    return True


def elsewhere(day: Day) -> object:
    """Up to three steps in the clone."""
    for _ in range(day.rng.randint(1, 3)):
        if day.world.other is None or day.report.problems:
            return False
        _apart(day)
    return True


def merge(day: Day) -> object:
    """What git does with the two: the merge driver, with the state that both come from."""
    if day.world.other is None:
        return False
    theirs = day.world.other.objects
    day.bench.copy(_SPACE, "ours.json")
    day.act(["merge-driver", _BASE, "ours.json", _CLONE], lambda _: None, may_kill=False)
    day.bench.copy("ours.json", _SPACE)

    def change(world: World) -> None:
        world.main.learn_ends(_other(world))
        diverge.merge(world, theirs)
        world.ended |= world.apart
        world.other = None

    return day.act(["list", "--all"], change, may_kill=False)


def take_in_clone(day: Day) -> object:
    """A bundle of the clone, imported."""
    if day.world.other is None:
        return False
    day.act(["export", "--root", "other", "--out", "clone.json"], lambda _: None, may_kill=False)
    if day.report.problems:
        return False
    return _import(day, "clone.json", list(day.world.other.objects.values()))


def _import(day: Day, name: str, memories: list[Fields]) -> object:
    incoming = {memory["id"]: memory for memory in memories if not day.world.main.is_erased(memory)}
    in_place = day.rng.random() < 0.2

    def change(world: World) -> None:
        if world.other is not None:
            world.main.learn_ends(world.other)
        if in_place:
            diverge.replace(world, incoming, day.now)
        else:
            diverge.take_in(world, incoming)

    return day.act(["import", name, "--mode", "replace" if in_place else "merge"], change)


def _apart(day: Day) -> None:
    """One step in the clone. The words of texts that are there no longer were ended in it."""
    assert day.world.other is not None
    memory, other, now = day.some(day.world.other), day.some(day.world.other), day.now
    raw, new, word = day.text(), path(day.rng), day.rng.choice(TAGS)
    steps: list[tuple[list[str], Callable[[Model], object]]] = [
        (["remember", "--path", new, "--", raw], lambda model: model.remember({"raw": raw, "path": new}, now))
    ] * 2
    if memory is not None and other is not None:
        name, links = memory["id"], [{"to": other["id"], "relation": "relates_to"}]
        steps += [
            (["remember", "--supersedes", name, "--", raw], lambda model: model.supersede(name, {"raw": raw}, now)),
            (["edit", name, "--set", f"path={new}"], lambda model: model.edit(name, {"path": new}, now)),
            (["edit", name, "--tag", word], lambda model: model.tag(name, [word], [], now)),
            (
                ["edit", name, "--set", f"links={json.dumps(links)}"],
                lambda model: model.edit(name, {"links": links}, now),
            ),
            (["forget", name], lambda model: model.forget([name], now)),
            (["forget", "--purge", "--yes", name], lambda model: model.purge([name], now)),
        ]
        if not is_read(memory):
            steps += [(["edit", name, "--set", f"raw={raw}"], lambda model: model.edit(name, {"raw": raw}, now))] * 2
    line, act = day.rng.choice(steps)

    def change(world: World) -> None:
        model = _other(world)
        before = {memory["raw"] for memory in model.objects.values()}
        act(model)
        for text in before - {memory["raw"] for memory in model.objects.values()}:
            world.apart |= world.words(text)

    day.act([line[0], "--root", "other", *line[1:]], change, may_kill=False)


def _other(world: World) -> Model:
    assert world.other is not None
    return world.other


ACTIONS = {
    "export": (export, 2), "round trip": (round_trip, 1), "import": (take_in, 3), "branch": (branch, 3),
    "elsewhere": (elsewhere, 9), "merge": (merge, 4), "import a clone": (take_in_clone, 2),
}  # fmt: skip
