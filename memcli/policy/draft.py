"""The draft: a locked space with pending changes, read as if they were already written; and links between memories.

Intake: the plan for merging another space into one, or for replacing it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from memcli.codec.memory import check_validity
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.links import (
    SUPERSEDES,
    Going,
    elsewhere,
    is_same_memory,
    refers_to,
    renamed,
    severed_between,
    without_dangling,
)
from memcli.model.memory import Json, Memory, default_importance
from memcli.model.names import free_path, ids_of, memory_id
from memcli.model.shapes import RELATIONS
from memcli.model.space import Change, Policy, Space, find_reference, is_under, under_any
from memcli.policy.ageing import check_season
from memcli.record import Record, replace
from memcli.safety.patterns import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Shelf

CONTRADICTS = "contradicts"


def with_link(memory: Memory, to: str, relation: str, weight: float | None, now: str) -> Memory:
    """The memory with one link of this relation to `to`: an existing link keeps its date and, without `weight`, its
    weight."""
    place = (to, relation)
    links = []
    for link in memory.links:
        is_it = (link["to"], link["relation"]) == place
        links.append({**link, "weight": weight} if is_it and weight is not None else link)
    if not linked(memory, to, [relation]):
        links.append({"to": to, "relation": relation, "weight": 1.0 if weight is None else weight, "created_at": now})
    return memory if tuple(links) == memory.links else replace(memory, links=tuple(links))


def without_links(memory: Memory, to: str, relations: Collection[str]) -> Memory:
    """The memory without its links of these relations to `to`."""
    gone = linked(memory, to, relations)
    return replace(memory, links=tuple(link for link in memory.links if link not in gone)) if gone else memory


def linked(memory: Memory, to: str, relations: Collection[str] = RELATIONS) -> list[Mapping[str, Json]]:
    """The links of these relations from the memory to `to`."""
    return [link for link in memory.links if link["to"] == to and link["relation"] in relations]


def superseded(old: Memory, by: str, now: str) -> Memory:
    """`old` marked as superseded by the memory `by`, and as valid until `now` at most."""
    # A validity that ends before it begins is refused everywhere, so a later beginning is the end too.
    return replace(old, superseded_by=by, valid_until=max(min(old.valid_until or now, now), old.valid_from or ""))


def released(old: Memory, by: str, since: Collection[str], others: Sequence[tuple[str, str]]) -> Memory:
    """`old` without its supersession by the memory `by`, which dates from one of the times `since`.

    The last of `others`, by time and id, supersedes it instead. Without `others` it is current again, and valid again if
    the supersession set the end of its validity.
    """
    if old.superseded_by != by:
        return old
    fields: dict[str, Any] = {"superseded_by": max(others)[1] if others else None}
    if not others and old.valid_until in since:
        fields["valid_until"] = None
    return replace(old, **fields)


def superseders(objects: Collection[Memory], old: str, but: str) -> list[tuple[str, str]]:
    """The time of the link and the id, for each memory except `but` that links to `old` as superseded."""
    return [
        (str(link.get("created_at", "")), memory.id)
        for memory in objects
        if memory.id != but
        for link in linked(memory, old, [SUPERSEDES])
    ]


def find(shelf: Shelf, ref: str) -> Memory:
    """The memory that `ref` names: an id, a path, or an unambiguous prefix of an id.

    Raises NotFoundError when there is none, UsageError when several ids have the prefix.
    """
    # An id has precedence over an equal path in every command.
    exact = (shelf.get(ref) or shelf.at(ref)) if ref else None
    ids = ids_of(ref, shelf.ids_with_prefix) if exact is None else []
    return find_reference(ref, exact, ids, shelf.get, f"space {shelf.header.name!r}")


def resolve_links(
    shelf: Shelf, links: Sequence[Mapping[str, Json]], known: Sequence[Mapping[str, Json]], now: str
) -> tuple[Mapping[str, Json], ...]:
    """`links` without duplicates, dated, and with ids in place of paths of existing memories. A link among `known` keeps its
    date."""
    dates = {(link["to"], link["relation"]): link["created_at"] for link in known if "created_at" in link}
    resolved: dict[tuple[str, str], Mapping[str, Json]] = {}
    for link in links:
        found = shelf.get(link["to"]) or shelf.at(link["to"])
        to = found.id if found is not None else link["to"]
        place = (to, link["relation"])
        resolved.setdefault(place, {"created_at": dates.get(place, now), **link, "to": to})
    return tuple(resolved.values())


def to_itself(memory: Memory) -> UsageError:
    """The error for a memory that would link to itself."""
    return UsageError(f"memory {memory.id} cannot be linked to itself", "link it to another memory")


def check_references(shelf: Shelf, memory: Memory) -> None:
    """Raises NotFoundError when the memory refers to a missing one, UsageError when it refers to itself.

    References into another space are not checked.
    """
    successor = [memory.superseded_by] if memory.superseded_by is not None else []
    for name in [*(link["to"] for link in memory.links), *successor]:
        if name == memory.id:
            raise to_itself(memory)
        if shelf.get(name) is None and (name in successor or elsewhere(name) is None):
            raise NotFoundError(
                f"no memory {name!r} in space {shelf.header.name!r} to link to", "`memcli list` lists the memories"
            )
    seen = {memory.id}
    for name in successor:
        following: str | None = name
        while following is not None and (other := shelf.get(following)) is not None:
            if following in seen:
                raise UsageError(
                    f"memory {memory.id} would supersede itself", "supersede the last memory of the chain instead"
                )
            seen.add(following)
            following = other.superseded_by


class Draft:
    """A shelf with pending changes. It is a shelf itself, so that a draft can be made on a draft and discarded."""

    def __init__(self, base: Shelf) -> None:
        self._base = base
        self._put: dict[str, Memory] = {}
        self._drop: set[str] = set()
        self._erase: set[str] = set()
        self._spared: set[str] = set()
        self._gone: dict[str, Memory] = {}
        self._displaced: dict[str, Memory] = {}
        self._paths: dict[str, str] = {}
        self._hashes: dict[str, dict[str, None]] = {}
        self._header: Space | None = None
        self.grown = 0  # memories added less memories removed, compared with the base

    @property
    def header(self) -> Space:
        return self._header or self._base.header

    @property
    def size(self) -> int:
        return self._base.size + self.grown

    def get(self, name: str) -> Memory | None:
        return self._put.get(name) or (None if name in self._drop else self._base.get(name))

    def at(self, path: str) -> Memory | None:
        if path in self._paths:
            return self._put[self._paths[path]]
        return self._standing(self._base.at(path))

    def find_by_hash(self, digest: str) -> list[Memory]:
        standing = [memory for memory in self._base.find_by_hash(digest) if self._standing(memory)]
        put = [self._put[name] for name in self._hashes.get(digest, ())]
        return sorted([*standing, *put], key=lambda memory: memory.order) if put else standing

    def ids_with_prefix(self, text: str) -> list[str]:
        standing = {name for name in self._base.ids_with_prefix(text) if name not in self._drop}
        return sorted(standing | {name for name in self._put if name.startswith(text)})

    def under(self, *prefixes: str) -> list[Memory]:
        standing = [m for m in self._base.under(*prefixes) if self._standing(m)]
        is_in = under_any(prefixes)
        return sorted([*standing, *(m for m in self._put.values() if is_in(m.path))], key=lambda m: (m.path, m.id))

    def memories(self, *keys: str) -> Iterator[Memory]:
        yield from (memory for memory in self._base.memories(*keys) if self._standing(memory))
        yield from self._put.values()

    def referring(self, ids: Collection[str]) -> list[Memory]:
        standing = [memory for memory in self._base.referring(ids) if self._standing(memory)]
        put = [memory for memory in self._put.values() if refers_to(memory, ids)]
        return sorted([*standing, *put], key=lambda memory: memory.order)

    def load(self) -> Space:
        whole = self._base.load()
        changed = whole.put(self._put.values(), "").drop(self._drop, "") if self._put or self._drop else whole
        return replace(self.header, objects=changed.objects)

    def take(self, change: Change) -> list[tuple[Memory | None, Memory | None]]:
        """Applies `change` to the draft; returns each memory that it touches before and after, None where it does not exist."""
        self._erase |= change.drop if change.erase else set()
        self._spared |= change.drop if change.keep else set()
        for name in change.displaced:
            if (before := self.get(name)) is not None:
                self._displaced.setdefault(name, before)
        touched: list[tuple[Memory | None, Memory | None]] = []
        for name in sorted(change.drop):
            before = self.get(name)
            self._discard(name, before)
            self._drop.add(name)
            touched.append((before, None))
            if before is not None:
                # Also one that is only pending: its writer was told that it is stored, so the trash must have it.
                self._gone[name] = before
        for memory in change.put:
            before = self.get(memory.id)
            touched.append((before, memory))
            self._discard(memory.id, before)
            self.grown += 1
            self._drop.discard(memory.id)
            self._gone.pop(memory.id, None)
            self._put[memory.id] = memory
            self._paths[memory.path] = memory.id
            self._hashes.setdefault(memory.hash, {})[memory.id] = None
        if change.header is not None:
            self._header = replace(change.header, objects=())
        if change.now and (change.put or change.drop):
            self._header = replace(self.header, updated_at=change.now)
        return [(before, after) for before, after in touched if before is not after]

    def going(self) -> Going:
        """The memories removed or replaced, in their last state and in order, also those that were only pending."""
        gone = sorted({**self._displaced, **self._gone}.values(), key=lambda memory: memory.order)
        displaced = frozenset(self._displaced.keys() - self._gone.keys())
        pairs = [(self._base.get(name), after) for name, after in sorted(self._put.items())] if self._gone else []
        severed = [severed_between(before, after, self._gone) for before, after in pairs if before is not None]
        return Going(
            replace(self._base.header, objects=tuple(m for m in gone if m.id not in self._erase)),
            tuple(m for m in gone if m.id in self._erase),
            tuple(one for one in severed if one is not None),
            displaced=displaced,
            spared=frozenset(self._spared),
            replacing=tuple(self._put[name] for name in sorted(displaced & self._put.keys())),
        )

    def change(self) -> Change:
        """All pending changes as one."""
        return Change(tuple(self._put.values()), frozenset(self._drop), "", self._header)

    def _discard(self, name: str, before: Memory | None) -> None:
        """Discards the pending memory of this id. `before` is the memory that the id has, pending or not."""
        self.grown -= before is not None
        if (old := self._put.pop(name, None)) is not None:
            del self._hashes[old.hash][name]
            if self._paths.get(old.path) == name:
                del self._paths[old.path]

    def _standing(self, memory: Memory | None) -> Memory | None:
        """`memory` of the base unless a pending change removes or replaces it; then None."""
        return None if memory is None or memory.id in self._put or memory.id in self._drop else memory


def is_auto_pinned(memory: Memory, policy: Policy) -> bool:
    """Whether the memory meets all conditions of one of the policy's `auto_pin` rules.

    Raises UsageError for a pattern that is no RE2 expression, which only a hand-written policy can hold.
    """
    for n, rule in enumerate(policy.auto_pin):
        if (
            rule
            and rule.get("kind", memory.kind) == memory.kind
            and ("tag" not in rule or rule["tag"] in memory.tags)
            and is_under(memory.path, rule.get("under", ""))
        ):
            at = f"policy.auto_pin[{n}].pattern"
            if "pattern" not in rule or compile_pattern(rule["pattern"], at).search(memory.raw):
                return True
    return False


def consistent(memory: Memory) -> Memory:
    """`memory` without an importance equal to the default of its kind. Raises UsageError as `check_validity` and
    `check_season` do."""
    check_validity({"valid_from": memory.valid_from, "valid_until": memory.valid_until})
    if memory.season is not None:
        check_season(memory.season)
    is_default = memory.importance == default_importance(memory.kind)
    return replace(memory, importance=None) if is_default else memory


class IntakePlan(Record):
    """The space after the intake, and counts of memories by outcome.

    `kept`: memories that are newer in this space than in the incoming one. `policy`: `kept`, or `taken` from the incoming
    space.
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
    no bundle can loosen the policy of an existing space; of two memories with one id the newer wins.
    Raises RefusedError when memories would be removed and the policy of `mine` forbids it.
    """
    if incoming.name != mine.name:
        # The links of the other space to this one become internal.
        mark = f"{mine.name}:"
        links = [tuple({**link, "to": link["to"].removeprefix(mark)} for link in m.links) for m in incoming.objects]
        objects = (replace(memory, links=own) for memory, own in zip(incoming.objects, links, strict=True))
        incoming = replace(incoming, objects=tuple(objects))
    incoming = incoming if is_new else _reidentified(mine, incoming)
    there = {m.id for m in (*incoming.objects, *(mine.objects if mode == "merge" else ()))}
    sound = tuple(without_dangling(memory, there.__contains__) for memory in incoming.objects)
    incoming = replace(incoming, objects=sound)
    before = {m.id: m for m in mine.objects}
    if not is_new and mode == "merge":
        wins = [m for m in incoming.objects if m.id not in before or before[m.id].updated_at <= m.updated_at]
        moving = {m.id for m in wins}
        taken = {m.path for m in mine.objects if m.id not in moving}
        placed = []
        for memory in wins:
            path = free_path(memory.path, memory.id, taken)  # with a digest of the id where the path is taken
            taken.add(path)
            placed.append(memory if path == memory.path else replace(memory, path=path))
        changed = [m for m in placed if before.get(m.id) != m]
        after = mine.put(changed, max(mine.updated_at, incoming.updated_at)) if changed else mine
        return _counted(IntakePlan(after, kept=len(incoming.objects) - len(wins)), before, placed)
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


def _reidentified(mine: Space, incoming: Space) -> Space:
    """`incoming` with new ids for memories whose id belongs to a different memory of `mine`."""
    before = {m.id: m for m in mine.objects}
    taken = {*before, *(m.id for m in incoming.objects)}
    ids: dict[str, str] = {}
    for memory in incoming.objects:
        if memory.id in before and not is_same_memory(before[memory.id], memory):
            for name in (memory_id(mine.name, memory.path, number) for number in count(1)):
                if name not in taken:
                    break
                other = before.get(name)
                # Keeps the id from an earlier intake. `created_at` alone is not enough: many are made in one second.
                if (
                    other
                    and other.created_at == memory.created_at
                    and (other.path == memory.path or other.hash == memory.hash)
                ):
                    break
            ids[memory.id] = name
            taken.add(name)
    if not ids:
        return incoming
    ordered = sorted((renamed(memory, ids) for memory in incoming.objects), key=lambda m: m.order)
    return replace(incoming, objects=tuple(ordered))


def _counted(plan: IntakePlan, before: dict[str, Memory], incoming: Iterable[Memory]) -> IntakePlan:
    created = updated = unchanged = 0
    for memory in incoming:
        mine = before.get(memory.id)
        created += mine is None
        unchanged += mine == memory
        updated += mine is not None and mine != memory
    return replace(plan, created=created, updated=updated, unchanged=unchanged)
