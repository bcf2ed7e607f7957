"""The model against the store: what differs, and what the model learns of what was left to the program."""

from __future__ import annotations

from typing import Any

from tests.oracle.fields import Fields, value
from tests.oracle.model import Model

_MOST = 200


def settle(model: Model, stored: list[Fields]) -> list[str]:
    """Compares the two; what differs. The model then knows the names of new memories, and what was free."""
    problems = [f"the {name} {given!r} stands twice" for name in ("id", "path") for given in _twice(stored, name)]
    there = {memory["id"]: memory for memory in stored}
    _name_new(model, there)
    problems += [f"vanished: {_shown(model.objects[name])}" for name in sorted(model.objects.keys() - there.keys())]
    problems += [f"came from nowhere: {_shown(there[name])}" for name in sorted(there.keys() - model.objects.keys())]
    for name in sorted(there.keys() & model.objects.keys()):
        problems += _differing(model.objects[name], there[name], model.free.get(name, set()))
    model.objects = {name: dict(memory) for name, memory in there.items()}
    model.free = {}
    return problems


def _name_new(model: Model, there: dict[str, Fields]) -> None:
    """Gives the memories that the program has named the names that it gave them."""
    for name in [name for name in model.objects if name.startswith("?")]:
        memory = model.objects[name]
        unknown = (m for n, m in there.items() if n not in model.objects and m["raw"] == memory["raw"])
        if (found := next(unknown, None)) is not None:
            _rename(model, name, found["id"])


def _rename(model: Model, old: str, new: str) -> None:
    model.objects = {new if name == old else name: memory for name, memory in model.objects.items()}
    model.objects[new]["id"] = new
    model.free[new] = model.free.pop(old, set())
    if old in model.until:
        model.until[new] = model.until.pop(old)
    for memory in model.objects.values():
        if memory.get("superseded_by") == old:
            memory["superseded_by"] = new
        for link in value(memory, "links"):
            if link["to"] == old:
                link["to"] = new


def _differing(wanted: Fields, found: Fields, free: set[str]) -> list[str]:
    names = sorted((wanted.keys() | found.keys()) - free - {"links", "tags"})
    problems = [
        f"{name} of {_shown(found)}: {_cut(value(found, name))}, not {_cut(value(wanted, name))}"
        for name in names
        if value(wanted, name) != value(found, name)
    ]
    if "tags" not in free and sorted(value(wanted, "tags")) != sorted(found["tags"]):
        problems.append(f"tags of {_shown(found)}: {found['tags']}, not {value(wanted, 'tags')}")
    if "links" not in free:
        problems += _differing_links(value(wanted, "links"), found)
    return problems


def _differing_links(wanted: list[Fields], found: Fields) -> list[str]:
    asked = {(link["to"], link["relation"]): link for link in wanted if link.get("by") != "check"}
    # What the check links by itself depends on the words that chance put together, and is tested elsewhere.
    there = {
        place: link
        for link in value(found, "links")
        if (place := (link["to"], link["relation"])) in asked or link.get("by") != "check"
    }
    if there.keys() != asked.keys():
        return [f"links of {_shown(found)}: {sorted(there)}, not {sorted(asked)}"]
    return [
        f"link of {_shown(found)}: {there[place]}, not {link}"
        for place, link in asked.items()
        if any(there[place].get(name) != given for name, given in link.items()) or "created_at" not in there[place]
    ]


def _twice(stored: list[Fields], name: str) -> list[Any]:
    every = [memory[name] for memory in stored]
    return sorted({given for given in every if every.count(given) > 1})


def _cut(given: Any) -> str:
    return repr(given) if len(repr(given)) < _MOST else f"{repr(given)[:_MOST]}..."


def _shown(memory: Fields) -> str:
    return f"{memory['id']} at {memory.get('path', '?')} ({value(memory, 'raw')[:50]!r})"
