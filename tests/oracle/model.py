"""The plain model: what a store must hold, as the JSON objects of its space file in a dict by id.

Written from what the specification says, not from the code. A call changes the model, or raises Refused and does not.
What the specification leaves to the program (paths, tags and summaries made of a text) is in `free`, and is taken from the
store when the two are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from tests.oracle.fields import DEFAULTS, Fields, dated, days, is_same_memory, places, same, says, value

_MADE_OF_TEXT = {"summary_micro", "summary_short", "summary_long", "chunks"}
_MADE = _MADE_OF_TEXT | {"path", "kind", "tags", "metadata"}
_FRESH = {"version": 1, "strength": 1, "active": True}
USAGE, MISSING, CONFLICT, POLICY = 2, 3, 4, 5


class Refused(Exception):  # noqa: N818 - it is what must happen
    """The command must end with this exit code, and change nothing."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Trashed:
    """A memory in the trash, when it went there, and what others lost with it, by their ids: their links to it, and,
    where it had superseded them, until when they held.
    """

    at: str
    memory: Fields
    severed: dict[str, tuple[list[Fields], bool, str | None]] = field(default_factory=dict)


@dataclass
class Model:
    """What a space, its trash and its inbox hold. `until` is when supersessions ended a memory, and `erased` when it went for
    good, by its id."""

    objects: dict[str, Fields] = field(default_factory=dict)
    free: dict[str, set[str]] = field(default_factory=dict)
    trash: list[Trashed] = field(default_factory=list)
    until: dict[str, set[str]] = field(default_factory=dict)
    erased: dict[str, str] = field(default_factory=dict)
    grace: float = 14
    made: int = 0

    def copy(self) -> Model:
        return deepcopy(self)

    def get(self, ref: str) -> Fields:
        memory = self.objects.get(ref) or self.at(ref)
        if memory is None:
            raise Refused(MISSING)
        return memory

    def at(self, path: str) -> Fields | None:
        return next((m for m in self.objects.values() if m.get("path") == path), None)

    def holds(self, memory: Fields, now: str) -> bool:
        until = value(memory, "valid_until")
        return value(memory, "superseded_by") is None and (until is None or now < until)

    def is_current(self, memory: Fields, now: str) -> bool:
        return bool(value(memory, "active")) and self.holds(memory, now)

    def remember(self, given: Fields, now: str) -> Fields:
        given = self._linked(given, now)
        memory, is_told = self._told(given, now)
        if memory is None:
            return self.create(given, now)
        if not is_told:
            self._confirm(memory, given, now)
        else:
            revived = {"active": True}
            if not self.holds(memory, now):
                revived |= {"superseded_by": None, "valid_until": None}
            if "links" in given:
                known = [link for link in value(memory, "links") if link["relation"] == "supersedes"]
                new = [link for link in given["links"] if places([link])[0] not in places(known)]
                given = {**given, "links": [*known, *new]}
            if given["raw"] != memory["raw"] and "tags" not in given:
                self._free(memory, {"tags"})  # those that were made from the old text are made anew
            self._change(memory, {**revived, **{k: v for k, v in given.items() if k != "id"}}, now)
        return memory

    def supersede(self, ref: str, given: Fields, now: str) -> Fields:
        old = self.get(ref)
        if says(given) == says(old) or given.get("id") == old["id"]:
            raise Refused(USAGE)
        named = old
        if not {"path", "id"} & given.keys() and (twin := self._told(given, now)[0]) is not None:
            given, named = {**given, "id": twin["id"]}, deepcopy(twin)
        given = {
            **{n: value(named, n) for n in ("path", "kind", "tags")},
            **({"pinned": True} if old["pinned"] else {}),
            **given,
        }
        self.until.setdefault(old["id"], set()).add(now)
        before = deepcopy(old)
        old |= {
            "valid_until": min(value(old, "valid_until") or now, now),
            "updated_at": now,
            "version": value(old, "version") + 1,
        }
        if given["path"] == old["path"]:
            self._move_away(old)
        new = self.remember(given, now)
        link = {"to": old["id"], "relation": "supersedes"}
        if link not in [{n: e[n] for n in link} for e in value(new, "links")]:
            new["links"] = [*value(new, "links"), link]
        old["superseded_by"] = new["id"]
        changed = {name for name in old.keys() | before.keys() if value(old, name) != value(before, name)}
        if changed <= {"updated_at", "version"}:  # superseded by the same memory before: nothing is new
            old.clear()
            old |= before
        return new

    def edit(self, ref: str, fields: Fields, now: str) -> None:
        memory = self.get(ref)
        wanted = {name: DEFAULTS.get(name) if new is None else new for name, new in fields.items()}
        other = self.at(wanted["path"]) if "path" in wanted else None
        if other is not None and other is not memory:
            raise Refused(CONFLICT)
        if "raw" in fields and "tags" not in fields:
            self._free(memory, {"tags"})  # those that were made from the old text are made anew
        self._change(memory, self._linked(wanted, now, memory["id"]), now)

    def tag(self, ref: str, add: Sequence[str], remove: Sequence[str], now: str) -> None:
        memory = self.get(ref)
        self._change(
            memory,
            {"tags": [t for t in {**dict.fromkeys(memory["tags"]), **dict.fromkeys(add)} if t not in remove]},
            now,
        )

    def pin(self, ref: str, pinned: bool, now: str) -> None:
        memory = self.get(ref)
        self._change(memory, {"pinned": pinned}, now)
        memory["updated_at"] = now

    def forget(self, refs: Sequence[str], now: str) -> None:
        for memory in [self.get(ref) for ref in refs]:
            self._change(memory, {"active": False}, now)

    def under(self, path: str) -> list[str]:
        return [name for name, m in self.objects.items() if f"{m['path']}/".startswith(f"{path}/")]

    def purge(self, refs: Iterable[str], now: str) -> list[Fields]:
        gone = {memory["id"]: memory for memory in [self.get(ref) for ref in refs]}
        for name in gone:
            del self.objects[name]
        trashed = [Trashed(now, deepcopy(memory), self._severed(memory["id"])) for memory in gone.values()]
        for memory in self.objects.values():
            if any(link["to"] in gone for link in value(memory, "links")):
                memory["links"] = [link for link in memory["links"] if link["to"] not in gone]
            self._release(memory, gone, now)
        for name in gone:
            self.erased.pop(name, None)
        if self.grace:
            self.trash += trashed
        else:
            self.erased |= dict.fromkeys(gone, now)
            self.trash = [one for one in self.trash if one.memory["id"] not in gone]
        return list(gone.values())

    def restore(self, name: str, now: str) -> Fields:
        """Brings back the memory of this id from the last run that removed it."""
        found = next((one for one in reversed(self.trash) if one.memory["id"] == name), None)
        if found is None:
            raise Refused(MISSING)
        memory = deepcopy(found.memory)
        there = self.objects.get(name)
        if there is not None and there != memory and not is_same_memory(there, memory):
            raise Refused(CONFLICT)
        if (other := self.at(memory["path"])) is not None and other["id"] != name:
            raise Refused(CONFLICT)
        self.trash.remove(found)
        if there != memory:
            if there is not None:
                self.displace([there], now)
            self.objects[name] = memory
            self.drop_dangling()
            for other, lost in found.severed.items():
                if other in self.objects:
                    self._rejoin(self.objects[other], memory, *lost)
            for link in value(memory, "links"):
                old = self.objects.get(link["to"])
                if link["relation"] == "supersedes" and old is not None and value(old, "superseded_by") is None:
                    old["superseded_by"] = name
                    old["valid_until"] = value(old, "valid_until") or link.get("created_at")
        self._rejoin_trash(found)
        return memory

    def displace(self, memories: Iterable[Fields], now: str) -> None:
        """Puts versions of memories that others take the place of into the trash."""
        if self.grace:
            self.trash += [Trashed(now, deepcopy(memory)) for memory in memories]

    def _rejoin_trash(self, found: Trashed) -> None:
        """What is in the trash gets back its references to what left it, and notes those that led from there to it."""
        name = found.memory["id"]
        for one in self.trash:
            other = one.memory["id"]
            if other == name:
                continue
            if other in found.severed:
                self._rejoin(one.memory, found.memory, *found.severed[other])
            links = [deepcopy(link) for link in value(found.memory, "links") if link["to"] == other]
            was_superseded = value(found.memory, "superseded_by") == other
            if links or was_superseded:
                known = one.severed.get(name, ([], False, None))
                until = value(found.memory, "valid_until") if was_superseded else known[2]
                one.severed[name] = ([*known[0], *links], known[1] or was_superseded, until)

    def collect(self, ttl: float, now: str) -> tuple[list[Fields], list[Fields]]:
        """What a `gc` deletes, and what it takes out of the trash for good."""
        due = [n for n, m in self.objects.items() if not m["pinned"] and days(m["updated_at"], now) > ttl]
        gone = self.purge(due, now) if due else []
        past = [one for one in self.trash if days(one.at, now) > self.grace]
        self.erased |= {one.memory["id"]: now for one in past}
        self.trash = [one for one in self.trash if one not in past and self.objects.get(one.memory["id"]) != one.memory]
        return gone, [one.memory for one in past]

    def is_erased(self, memory: Fields) -> bool:
        """Whether an import leaves the memory out: it was purged for good, and not made anew since."""
        name = memory["id"]
        return name not in self.objects and memory["created_at"] <= self.erased.get(name, "")

    def learn_ends(self, other: Model) -> None:
        """Takes over what another model knows of supersessions."""
        for name, times in other.until.items():
            self.until[name] = self.until.get(name, set()) | times

    def drop_dangling(self) -> None:
        for memory in self.objects.values():
            if value(memory, "links"):
                memory["links"] = [link for link in memory["links"] if link["to"] in self.objects]
            if value(memory, "superseded_by") not in (None, *self.objects):
                memory["superseded_by"] = None
                if value(memory, "valid_until") == memory["updated_at"]:  # it ended with its supersession
                    memory["valid_until"] = None

    def _told(self, given: Fields, now: str) -> tuple[Fields | None, bool]:
        """The memory that `given` tells again, and whether by its id or path."""
        if "id" in given:
            return self.objects.get(given["id"]), True
        if "path" in given:
            return self.at(given["path"]), True
        twins = [m for m in self.objects.values() if says(m) == says(given) and self.holds(m, now)]
        twins.sort(key=lambda m: (not value(m, "active"), m["updated_at"], m["id"]))
        return (twins[0] if twins else None), False

    def create(self, given: Fields, now: str) -> Fields:
        """A new memory, whatever there is."""
        self.made += 1
        name = given.get("id", f"?{self.made}")
        memory = {**_FRESH, "pinned": False, "created_at": now, "updated_at": now, **given, "id": name}
        self.free[name] = (_MADE - given.keys()) | {"metadata", "relevance"}
        if "path" in given and self.at(given["path"]) is not None:
            self._free(memory, {"path"})
        self.objects[name] = memory
        return memory

    def _confirm(self, memory: Fields, given: Fields, now: str) -> None:
        memory["strength"] = value(memory, "strength") + 1
        memory["tags"] = list({**dict.fromkeys(memory["tags"]), **dict.fromkeys(given.get("tags", []))})
        known = [{n: link[n] for n in ("to", "relation")} for link in value(memory, "links")]
        memory["links"] = [*value(memory, "links"), *(link for link in given.get("links", []) if link not in known)]
        memory |= {"active": True, "updated_at": now, "pinned": given.get("pinned", memory["pinned"])}
        self._free(memory, {"version"})

    def _change(self, memory: Fields, fields: Fields, now: str) -> None:
        if all(same(name, value(memory, name), new) for name, new in fields.items()):
            return
        follow = {"metadata", *_MADE_OF_TEXT} if fields.get("raw", memory["raw"]) != memory["raw"] else {"metadata"}
        if "path" in fields and (other := self.at(fields["path"])) is not None and other is not memory:
            follow.add("path")
        if "links" in fields:
            fields = {**fields, "links": dated(fields["links"], value(memory, "links"))}
        self._free(memory, follow - (fields.keys() - {"path", "metadata"}))
        memory |= {**fields, "updated_at": now, "version": value(memory, "version") + 1}

    def _linked(self, given: Fields, now: str, own: str = "") -> Fields:
        """`given`, when its references lead to memories that are there."""
        named = [link["to"] for link in given.get("links", [])] + [given.get("superseded_by")] * bool(
            given.get("superseded_by")
        )
        own = own or str((self._told(given, now)[0] or {}).get("id", ""))
        if own and own in named:
            raise Refused(USAGE)
        if not all(name in self.objects for name in named):
            raise Refused(MISSING)
        following = given.get("superseded_by")
        while own and following is not None:
            if following == own:
                raise Refused(USAGE)
            following = value(self.objects[following], "superseded_by")
        return given

    def _release(self, memory: Fields, gone: dict[str, Fields], now: str) -> None:
        if (by := value(memory, "superseded_by")) not in gone:
            return
        while by in gone:
            by = value(gone[by], "superseded_by")
        others = [
            (str(link.get("created_at", "")), other["id"])
            for other in self.objects.values()
            for link in value(other, "links")
            if link["to"] == memory["id"] and link["relation"] == "supersedes" and other["id"] not in gone
        ]
        if by is None and others:
            by = max(others)[1]
        memory["superseded_by"] = by
        if by is None:
            memory |= {"version": value(memory, "version") + 1, "updated_at": now}
            times = self.until.get(memory["id"], set())
            if value(memory, "valid_until") in times:
                memory["valid_until"] = None
            if len(times) > 1:  # which of several supersessions ended it may be forgotten with the first of them
                self._free(memory, {"valid_until"})

    def _severed(self, name: str) -> dict[str, tuple[list[Fields], bool, str | None]]:
        severed = {}
        for other, memory in self.objects.items():
            links = [deepcopy(link) for link in value(memory, "links") if link["to"] == name]
            if links or value(memory, "superseded_by") == name:
                severed[other] = (links, value(memory, "superseded_by") == name, value(memory, "valid_until"))
        return severed

    def _rejoin(
        self, memory: Fields, back: Fields, links: list[Fields], was_superseded: bool, until: str | None
    ) -> None:
        known = places(value(memory, "links"))
        lost = [link for link in links if (link["to"], link["relation"]) not in known]
        if lost:
            memory["links"] = [*value(memory, "links"), *lost]
        if was_superseded and value(memory, "superseded_by") in (None, value(back, "superseded_by")):
            memory["superseded_by"] = back["id"]
            memory["valid_until"] = value(memory, "valid_until") or until

    def _move_away(self, old: Fields) -> None:
        path = f"{old['path']}-superseded"
        if self.at(path) is not None:
            self._free(old, {"path"})
        old["path"] = path

    def _free(self, memory: Fields, names: set[str]) -> None:
        self.free.setdefault(memory["id"], set()).update(names)
