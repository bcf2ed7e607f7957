"""What can happen in a day: each draws what it needs, runs a command, and says what that must make of the world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle import exchange, reading
from tests.oracle.day import Day, to_json
from tests.oracle.fields import Fields, is_read
from tests.oracle.model import Model
from tests.oracle.words import KINDS, TAGS, path
from tests.oracle.world import World

Action = Callable[[Day], object]
_RELATIONS = ("relates_to", "depends_on", "derived_from", "contradicts")


def begin(day: Day) -> None:
    """Makes the store, with the policy of the day."""
    grace = day.options.grace
    day.act(["init"], lambda _: None, may_kill=False)
    settings = ["allow_delete=true", *([f"grace_days={grace:g}"] if grace is not None else [])]
    day.act(["space", "create", "main"], lambda _: None, may_kill=False)
    day.act(["space", "policy", "main", *_sets(settings)], lambda _: None, may_kill=False)
    if grace is not None:
        day.world.main.grace = grace


def tell(day: Day) -> object:
    """A new text, with some of its fields given."""
    given, arguments = _given(day)
    return _remember(day, given, ["remember", *arguments, "--", given["raw"]])


def tell_again(day: Day) -> object:
    """A text that is there, or was, once more."""
    memory = day.some()
    if memory is None:
        return False
    given, arguments = _given(day, str(memory["raw"]), places=day.rng.random() < 0.3)
    return _remember(day, given, ["remember", *arguments, "--", given["raw"]])


def tell_many(day: Day) -> object:
    """Several texts in one write, which may meet at one path."""
    batch = [_given(day)[0] for _ in range(day.rng.randint(2, 5))]

    def change(world: World) -> None:
        for given in batch:
            _told(world, world.main, given, day.now)

    lines = "".join(f"{to_json(given)}\n" for given in batch)
    return day.act(["remember", "--batch", "-"], change, lines)


def supersede(day: Day) -> object:
    """A new text in the place of a memory."""
    old = day.some()
    if old is None:
        return False
    other = day.some()
    raw = other["raw"] if other is not None and day.rng.random() < 0.1 else None
    given, arguments = _given(day, raw, places=day.rng.random() < 0.2)
    ref = day.ref(old)

    def change(world: World) -> None:
        model = world.main
        if "path" in given and (there := model.at(given["path"])) is not None and there["id"] != old["id"]:
            world.end([there])
        model.supersede(ref, given, day.now)

    return day.act(["remember", *arguments, "--supersedes", ref, "--", given["raw"]], change)


def edit(day: Day) -> object:
    """One to three fields, each that there is."""
    memory = day.some()
    if memory is None:
        return False
    ref = day.ref(memory)
    fields = dict(day.rng.choice(_edits(day)) for _ in range(day.rng.choice([1, 1, 2, 3])))
    if "raw" in fields and is_read(memory):
        return False

    def change(world: World) -> None:
        if {"raw", "metadata"} & fields.keys():  # metadata holds what gave way in merges
            world.end([world.main.get(ref)])
        world.main.edit(ref, fields, day.now)

    settings = [f"{name}={new if isinstance(new, str) else to_json(new)}" for name, new in fields.items()]
    return day.act(["edit", ref, *_sets(settings)], change)


def amend(day: Day) -> object:
    """A memory at another path, which may be taken, or with other tags, or pinned or not."""
    memory = day.some()
    if memory is None:
        return False
    ref, new, now = day.ref(memory), path(day.rng), day.now
    add, remove = day.rng.choice(TAGS), day.rng.choice([*TAGS, *memory["tags"]])
    steps: list[tuple[list[str], Callable[[Model], object]]] = [
        (["edit", ref, "--set", f"path={new}"], lambda model: model.edit(ref, {"path": new}, now)),
        (["pin", ref], lambda model: model.pin(ref, True, now)),
        (["pin", ref, "--remove"], lambda model: model.pin(ref, False, now)),
    ]
    if add != remove:
        steps += [(["edit", ref, "--tag", add, "--untag", remove], lambda model: model.tag(ref, [add], [remove], now))]
    line, act = day.rng.choice(steps)
    return day.act(line, lambda world: act(world.main))


def forget(day: Day) -> object:
    return _leave(day, ["forget"], lambda world, refs: world.main.forget(refs, day.now))


def purge(day: Day) -> object:
    """Deletes what is named. Without grace its words must be nowhere."""

    def change(world: World, refs: list[str]) -> None:
        gone = world.main.purge(refs, day.now)
        if not world.main.grace:
            world.end(gone, erased=True)

    return _leave(day, ["forget", "--purge", "--yes"], change)


def restore(day: Day) -> object:
    if not day.main.trash:
        return False
    name = day.rng.choice(day.main.trash).memory["id"]
    return day.act(["restore", name], lambda world: world.main.restore(name, day.now))


def collect(day: Day) -> object:
    days = day.rng.choice([1, 3, 7, 20])

    def change(world: World) -> None:
        gone, past = world.main.collect(days, day.now)
        world.end(past)
        if not world.main.grace:
            world.end(gone, erased=True)

    return day.act(["gc", "--ttl-days", str(days)], change)


def link_to_nothing(day: Day) -> object:
    """A wrong link: nothing may change."""
    memory = day.some()
    if memory is None:
        return False
    fields: Fields = {"links": [{"to": day.rng.choice(["mem_nowhere", memory["id"]]), "relation": "relates_to"}]}
    return day.act(
        ["edit", memory["id"], "--set", f"links={to_json(fields['links'])}"],
        lambda world: world.main.edit(memory["id"], fields, day.now),
    )


def _leave(day: Day, verb: list[str], change: Callable[[World, list[str]], object]) -> object:
    """Runs a verb that takes memories away, on one, on two, or on a whole heading."""
    memory, other = day.some(), day.some()
    if memory is None or other is None:
        return False
    if day.rng.random() < 0.2:
        heading = str(memory["path"]).rpartition("/")[0] or str(memory["path"])
        return day.act([*verb, "--recursive", heading], lambda world: change(world, world.main.under(heading)))
    refs = [day.ref(memory), *([other["id"]] if day.rng.random() < 0.3 else [])]
    return day.act([*verb, *refs], lambda world: change(world, refs))


def _remember(day: Day, given: Fields, arguments: list[str]) -> object:
    return day.act(arguments, lambda world: _told(world, world.main, given, day.now))


def _told(world: World, model: Model, given: Fields, now: str) -> None:
    """Remembers; what stood at the path that is given was named by it."""
    there = model.at(given["path"]) if "path" in given else None
    if there is not None and there["raw"] != given["raw"]:
        world.end([there])
    model.remember(given, now)


def _given(day: Day, raw: str | None = None, *, places: bool = True) -> tuple[Fields, list[str]]:
    """Some fields of a memory, and the options that give them."""
    rng = day.rng
    given: Fields = {"raw": raw or day.text()}
    arguments: list[str] = []

    def give(name: str, chance: float, new: Any, *options: str) -> None:
        if rng.random() < chance:
            given[name] = new
            arguments.extend(options)

    here = path(rng) if rng.random() < 0.8 else str((day.some() or {"path": path(rng)})["path"])
    if places:
        give("path", 0.5, here, "--path", here)
    kind, word = rng.choice(KINDS), rng.choice(TAGS)
    give("kind", 0.3, kind, "--kind", kind)
    give("tags", 0.3, [word], "--tag", word)
    give("pinned", 0.15, True, "--pin")
    give("importance", 0.1, 0.9, "--importance", "0.9")
    other = day.some()
    if other is not None and other["raw"] != given["raw"] and other["path"] != given.get("path"):
        relation = rng.choice(_RELATIONS)
        link = {"to": other["id"], "relation": relation}
        give("links", 0.25, [link], "--link", f"{relation}:{day.ref(other)}")
    return given, arguments


def _edits(day: Day) -> list[tuple[str, Any]]:
    """A value for each field that can be edited."""
    rng = day.rng
    other = day.some()
    links = [{"to": other["id"], "relation": rng.choice(_RELATIONS)}] if other is not None else []
    return [
        ("raw", day.text()), ("raw", day.text()), ("kind", rng.choice(KINDS)), ("path", path(rng)),
        ("tags", [rng.choice(TAGS)]), ("pinned", rng.random() < 0.5), ("relevance", rng.choice(["high", "low"])),
        ("summary_micro", "In short."), ("summary_short", None), ("summary_long", "At length."),
        ("importance", rng.choice([0.1, None])), ("confidence", 0.4), ("trust", 0.6), ("strength", 7),
        ("active", rng.random() < 0.7), ("links", links), ("links", None), ("scope", "global"),
        ("superseded_by", rng.choice([None, other["id"] if other is not None else None])),
        ("valid_from", "2026-01-01T00:00:00Z"), ("valid_until", rng.choice([None, "2026-02-20T00:00:00Z"])),
        ("content", {"goal": rng.randrange(9)}), ("triggers", ["path:src/**"]), ("enforce", True),
        ("procedure", {"steps": ["one", "two"]}), ("episode", {"title": "A day"}),
        ("provenance", {"source": "user_stated", "reason": "asked"}), ("metadata", {"ticket": rng.randrange(99)}),
        ("context", [{"text": "What was said before."}]),
    ]  # fmt: skip


def _sets(settings: list[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


ACTIONS: dict[str, tuple[Action, int]] = {
    "tell": (tell, 14), "tell again": (tell_again, 4), "tell many": (tell_many, 3), "supersede": (supersede, 6),
    "edit": (edit, 10), "amend": (amend, 11), "forget": (forget, 4), "purge": (purge, 5),
    "restore": (restore, 5), "collect": (collect, 2), "link to nothing": (link_to_nothing, 1),
    **exchange.ACTIONS, **reading.ACTIONS,
}  # fmt: skip
"""What can happen, and how often."""
