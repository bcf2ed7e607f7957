"""What must be true after every step."""

from __future__ import annotations

import json
from typing import Any

from tests.faults.scene import Ended
from tests.oracle.bench import Bench
from tests.oracle.compare import settle
from tests.oracle.fields import Fields, is_read, spelled_out, value
from tests.oracle.model import Model, Trashed
from tests.oracle.words import part
from tests.oracle.world import World

_MAIN = ".memory/spaces/main.json"
_INBOX = ".memory/local/inbox/spaces/main.json"
_OTHER = "other/.memory/spaces/main.json"


class Judge:
    """Compares the stores of a bench with a world. `checks` counts what was looked at."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.checks = 0

    def after(self, before: World, world: World, ended: Ended, code: int, what: str) -> tuple[World, list[str]]:
        """After a command that was to end with `code`, and to make `world` of what was there `before`."""
        problems = []
        if ended.code != code:
            problems.append(f"{what} exits with {ended.code}, not {code}: {(ended.err or ended.out).strip()[-300:]}")
        self._learn_read(world)
        for name, model in self._models(world).items():
            problems += [f"{name}: {problem}" for problem in settle(model, self.stored(name))]
            self.checks += len(model.objects)
        self._note_told(world)
        if ended.code == 0 and _is_changed(before.main, world.main):  # the next writer finishes what a killed one began
            world.erased, world.erasing = world.erased | world.erasing, set()
        return world, problems

    def after_kill(self, before: World, after: World) -> tuple[World, list[str]]:
        """After a kill in the middle: each file as before or as after, and nothing out of the inbox too early."""
        self._learn_read(after)
        result, problems, is_after = before.copy(), [], {}
        for name in self._models(after):
            old, new = self._models(before.copy()).get(name), self._models(after.copy())[name]
            stored = self.stored(name)
            wrong_new = settle(new, stored)
            wrong_old = settle(old, stored) if old is not None else ["was not there"]
            self.checks += 2 * len(new.objects)
            if wrong_new and wrong_old:
                problems += [f"{name} after a kill, neither before ({wrong_old[0]}) nor after ({wrong_new[0]})"]
            is_after[name] = not wrong_new
            setattr(result, name, old if wrong_new else new)
        is_early = is_after.get("inbox") and not is_after["main"] and before.inbox.objects != after.inbox.objects
        if is_early and after.main.objects != before.main.objects:
            problems.append("the inbox has let go of what is not in the space yet")
        for name in ("ended", "rejected"):
            setattr(result, name, getattr(after if is_after["main"] else before, name))
        begun = after.erased & result.words([before.main.objects, before.inbox.objects])
        result.erased, result.erasing = after.erased - begun, after.erasing | (begun if is_after["main"] else set())
        self._note_told(result)
        self._trash_after_kill(result)
        return result, problems

    def always(self, now: str, world: World, erasure: bool) -> list[str]:
        """What must hold after any command."""
        problems = []
        ended = self._bench.ask(now, ["check", "store"])
        if ended.code:
            problems.append(f"fsck exits with {ended.code}: {(ended.out + ended.err).strip()[-400:]}")
        files = self._files()
        kept = b"".join(data for name, data in files.items() if "cache" not in name and "audit" not in name)
        problems += [
            f"no file has the text of {w!r} any more"
            for w in sorted(world.told - world.ended)
            if w.encode() not in kept
        ]
        self.checks += 1 + len(world.told)
        if erasure and world.erased:
            quoted = world.words([world.main.objects, world.inbox.objects])
            world.erased -= quoted  # told again, and from then on kept as any other text
            problems += [
                f"{word!r} was erased, and is in {name}"
                for word in sorted(world.erased - quoted)
                for name, data in files.items()
                if part(word) in data
            ]
            self.checks += len(world.erased)
        return problems

    def stored(self, name: str) -> list[Fields]:
        """The memories in the file of one of the models."""
        path = self._bench.work / {"main": _MAIN, "inbox": _INBOX, "other": _OTHER}[name]
        space: Any = json.loads(path.read_bytes()) if path.exists() else {"space": "main", "objects": []}
        return [spelled_out(memory, space["space"]) for memory in space["objects"]]

    def _learn_read(self, world: World) -> None:
        """Takes what was read from files as it is, if that is at work; what was told is compared all the same."""
        if world.is_reading:
            known = world.main.objects
            read = [memory for memory in self.stored("main") if is_read(memory)]
            known.update({m["id"]: m for m in read if m["id"] not in known or is_read(known[m["id"]])})
        world.is_reading = False

    def _note_told(self, world: World) -> None:
        for model in (world.main, world.inbox):
            world.told |= world.words([value(memory, "raw") for memory in model.objects.values()])

    def _models(self, world: World) -> dict[str, Model]:
        models = {"main": world.main, "inbox": world.inbox}
        return models | ({"other": world.other} if world.other is not None else {})

    def _files(self) -> dict[str, bytes]:
        root = self._bench.work / ".memory"
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}

    def _trash_after_kill(self, world: World) -> None:
        """A kill between trash and space leaves a copy in the trash: that, or one less, is what there is now."""
        found: list[tuple[str, int, list[Trashed]]] = []
        for path in (self._bench.work / ".memory/local/trash").glob("*.json"):
            data = json.loads(path.read_bytes())
            at = data["removed"]["at"]
            severed = data["removed"].get("severed", [])
            run = [Trashed(at, memory, _severed(severed, memory["id"])) for memory in data["objects"]]
            found.append((at, path.stat().st_mtime_ns, run))
        world.main.trash = [one for _, _, run in sorted(found, key=lambda run: run[:2]) for one in run]


def _is_changed(before: Model, after: Model) -> bool:
    return before.objects != after.objects


def _severed(noted: list[Fields], name: str) -> dict[str, tuple[list[Fields], bool, str | None]]:
    severed: dict[str, tuple[list[Fields], bool, str | None]] = {}
    for one in noted:
        links, was_superseded, until = severed.get(one["id"], ([], False, None))
        severed[one["id"]] = (
            [*links, *(link for link in one["links"] if link["to"] == name)],
            was_superseded or one.get("superseded_by") == name,
            one.get("valid_until") or until,
        )
    return severed
