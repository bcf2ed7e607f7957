"""Files that are ingested, changed, moved and deleted; and the inbox, where what is proposed waits."""

from __future__ import annotations

from copy import deepcopy

from tests.oracle.day import Day
from tests.oracle.fields import Fields, is_read, says, value
from tests.oracle.model import CONFLICT, Refused
from tests.oracle.words import KINDS, TAGS, path
from tests.oracle.world import World

_FILES = tuple(f"docs/guide/{name}" for name in ("setup", "limits", "setup.md", "limits.md", "tokens.md", "cli.py"))
_INBOX_FIELDS = ("path", "kind", "tags", "pinned", "importance")


def ingest(day: Day) -> object:
    """Up to three changes of files, and then the folder is ingested."""
    files, ended = deepcopy(day.world.files), []
    for _ in range(day.rng.randint(1, 3)):
        name = day.rng.choice(_FILES)
        ended += [name]
        if name in files and day.rng.random() < 0.3:
            del files[name]
            day.bench.remove(name)
        elif name in files and day.rng.random() < 0.3 and (new := day.rng.choice(_FILES)) not in files:
            files[new] = files.pop(name)
            ended += [new]
            day.bench.move(name, new)
        else:
            files[name] = _content(day, name)
            day.bench.write(name, files[name])
    day.world.files = files
    if not files:
        return False

    def change(world: World) -> None:
        world.is_reading = True
        world.end([m for m in world.main.objects.values() if is_read(m) and m["metadata"].get("source") in files])

    done = day.act(["ingest", "docs", "--space", "main"], change)
    if done.code == 0 and not day.report.problems:
        day.report.problems += _unread(day)
    return done


def _content(day: Day, name: str) -> str:
    if name.endswith(".py"):
        return "".join(
            f'def f{n}():\n    """{day.text()}"""\n    return {n}\n\n\n' for n in range(day.rng.randint(1, 3))
        )
    sections = (f"## Part {n}\n\n{day.text()}\n\n" for n in range(day.rng.randint(1, 4)))
    return f"# Title {day.word()}\n\n{day.text()}\n\n" + "".join(sections)


def _unread(day: Day) -> list[str]:
    """Words of the files that no active memory has."""
    active = [m["raw"] for m in day.main.objects.values() if is_read(m) and value(m, "active")]
    return [
        f"{word!r} of {name} is in no active memory of a file"
        for name, text in day.world.files.items()
        for word in sorted(day.world.words(text))
        if not any(word in raw for raw in active)
    ]


def propose(day: Day) -> object:
    """A text for the inbox, which may be one that is known."""
    rng, other = day.rng, day.some()
    given: Fields = {"raw": other["raw"] if other is not None and rng.random() < 0.15 else day.text()}
    arguments = ["remember", "--propose"]
    for name, new, chance in (("path", path(rng), 0.4), ("kind", rng.choice(KINDS), 0.3)):
        if rng.random() < chance:
            given[name] = new
            arguments += [f"--{name}", new]
    if rng.random() < 0.3:
        given["tags"] = [rng.choice(TAGS)]
        arguments += ["--tag", given["tags"][0]]
    if other is not None and rng.random() < 0.25 and other["raw"] != given["raw"]:
        arguments += ["--supersedes", other["id"]]

    def change(world: World) -> None:
        known = [(says(m), _place(m)) for m in (*world.main.objects.values(), *world.inbox.objects.values())]
        if any(said == says(given) and given.get("path", at) == at for said, at in [*known, *world.rejected]):
            return
        if "path" in given and world.inbox.at(given["path"]) is not None:
            memory = world.inbox.create(given, day.now)  # both are kept
        else:
            memory = world.inbox.remember(given, day.now)
        world.inbox.free.setdefault(memory["id"], set()).add("proposal")

    return day.act([*arguments, "--", given["raw"]], change)


def accept(day: Day) -> object:
    chosen = _waiting(day)
    if not chosen:
        return False
    chosen.sort(key=lambda m: (_supersedes(m) in day.main.objects, _place(m), m["id"]))

    def change(world: World) -> None:
        for memory in chosen:
            _check_target(world, memory, chosen)
        for memory in chosen:
            given = {"raw": memory["raw"], **{n: memory[n] for n in _INBOX_FIELDS if n in memory["proposal"]["given"]}}
            if "path" in given:
                given["path"] = _place(memory)
            if "path" in given and (there := world.main.at(given["path"])) is not None and there["raw"] != given["raw"]:
                world.end([there])
            if (ref := _supersedes(memory)) in world.main.objects:
                world.main.supersede(str(ref), given, day.now)
            else:
                world.main.remember(given, day.now)
            del world.inbox.objects[memory["id"]]

    writes = any(_supersedes(m) is None for m in chosen) + sum(_supersedes(m) is not None for m in chosen)
    return day.act(["inbox", "accept", *(m["id"] for m in chosen)], change, may_kill=writes == 1)


def reject(day: Day) -> object:
    """What is rejected leaves its place, and is known again."""
    chosen = _waiting(day)

    def change(world: World) -> None:
        for memory in chosen:
            world.end([memory])
            world.rejected.append((says(memory), _place(memory)))
            stub = {n: memory[n] for n in ("id", "path", "kind", "created_at", "updated_at", "metadata")}
            world.inbox.objects[memory["id"]] = {**stub, "active": False, "relevance": "medium"}
            world.inbox.free[memory["id"]] = {"metadata", "proposal"}

    return day.act(["inbox", "reject", *(m["id"] for m in chosen)], change) if chosen else False


def amend_proposal(day: Day) -> object:
    """Edits what waits."""
    chosen = _waiting(day)[:1]
    if not chosen:
        return False
    fields: Fields = day.rng.choice([{"raw": day.text()}, {"tags": ["draft"]}, {"kind": "fact"}])

    def change(world: World) -> None:
        name = chosen[0]["id"]
        if "raw" in fields:
            world.end([chosen[0]])
        world.inbox.edit(name, fields, day.now)
        world.inbox.free.setdefault(name, set()).add("proposal")

    ((name, new),) = fields.items()
    setting = f"{name}={','.join(new) if isinstance(new, list) else new}"
    return day.act(["inbox", "edit", chosen[0]["id"], "--set", setting], change, may_kill=False)


def _waiting(day: Day) -> list[Fields]:
    """Some of what waits."""
    waiting = [m for m in day.world.inbox.objects.values() if value(m, "active")]
    return day.rng.sample(waiting, min(len(waiting), day.rng.choice([1, 1, 2, 9])))


def _place(memory: Fields) -> str:
    """The path that it was proposed for, which it may share with others."""
    return str(memory.get("proposal", {}).get("path") or memory["path"])


def _check_target(world: World, memory: Fields, chosen: list[Fields]) -> None:
    """What is at its path must be what was there when it was proposed, and no other may be accepted with it there."""
    if "path" not in memory["proposal"]["given"]:
        return
    rivals = [m for m in chosen if "path" in m["proposal"]["given"] and _place(m) == _place(memory)]
    there = world.main.at(_place(memory))
    known = memory["proposal"]["target"], [there["id"], there["metadata"]["hash"]] if there is not None else None
    is_changed = there is not None and known[0] != known[1] and says(there) != says(memory)
    if len(rivals) > 1 or is_changed:
        raise Refused(CONFLICT)


def _supersedes(memory: Fields) -> str | None:
    found = memory["proposal"]["supersedes"]
    return str(found) if found is not None else None


ACTIONS = {
    "ingest": (ingest, 6), "propose": (propose, 5), "accept": (accept, 3), "reject": (reject, 1), "amend a proposal": (amend_proposal, 1),
}  # fmt: skip
