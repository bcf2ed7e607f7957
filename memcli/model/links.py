"""Links of a memory to others: which are one and the same, and those that memcli made by itself.

Lineage: which store a space is in and how far its history has come, so that a store is known again, or not.

The run: what one command took out of a space, so that it can be brought back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

from memcli.model.memory import Json, Memory
from memcli.model.names import short_digest
from memcli.model.space import Policy, Space
from memcli.record import Record, field, replace
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONTRADICTS = "contradicts"
CHECK = "check"
"""What `by` says of a link that the check of a new memory made."""


def link_key(link: Mapping[str, Json]) -> Hashable:
    """Equal for links that are one."""
    return link["to"], link["relation"]


def union(
    first: Iterable[Any], second: Iterable[Any], key: Callable[[Any], Hashable] = lambda item: item
) -> tuple[Any, ...]:
    """The items of both, of those that have one key the first."""
    merged: dict[Hashable, Any] = {}
    for item in (*first, *second):
        merged.setdefault(key(item), item)
    return tuple(merged.values())


def is_found(link: Mapping[str, Json]) -> bool:
    """Whether the check made the link, so that it goes when the texts no longer contradict each other."""
    return is_contradiction(link) and link.get("by") == CHECK


def contradicted(memory: Memory) -> list[str]:
    """The ids of the memories that it contradicts."""
    return [link["to"] for link in memory.links if is_contradiction(link)]


def is_contradiction(link: Json) -> bool:
    """Whether it is such a link; a hand may have put anything in the place of one."""
    return isinstance(link, Mapping) and link.get("relation") == CONTRADICTS and isinstance(link.get("to"), str)


class Lineage(Record):
    """Where a space stands. `store` is the id of a server's schema, empty for a store in files; `version` counts the writes,
    and `epoch` is higher where the space was deleted and made again."""

    store: str = ""
    epoch: int = 0
    version: int = 0

    def follows(self, earlier: Lineage) -> bool:
        """Whether the same store may have come from there to here."""
        return self.store == earlier.store and (self.epoch, self.version) >= (earlier.epoch, earlier.version)


class SyncPoint(Record):
    """A space as two stores had it, and the other one's history until then: so many entries of its audit log, and the hash
    of the last of them. Where this store has not taken over all of it, `there` says what the other one had, by id and
    digest, empty for what it had not."""

    space: Space
    lineage: Lineage = Lineage()
    entries: int = 0
    head: str = ""
    there: Mapping[str, str] = field(default_factory=dict)


_SYNC = "store sync"
_NAME = regex(r"\d{8}T\d{6}Z-[0-9a-f]{8}(-\d+)?\Z")


class Severed(Record):
    """The references that the memory `id`, which stays, lost with a removal. `space` has it where it is another one."""

    id: str
    links: tuple[Mapping[str, Json], ...] = ()
    superseded_by: str | None = None
    valid_until: str | None = None
    space: str = ""


class Run(Record):
    """What a command removed at `removed_at`. `space` is the space's header with the removed memories alone. `replaced` has
    the digest of the version that took the place of one of them, by id."""

    name: str
    removed_at: str
    command: str
    space: Space
    severed: tuple[Severed, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)

    def grace(self, days: float) -> float:
        """For how many days it can be brought back where the policy grants `days`: what a sync removed, another store
        decided, and so it stays at least as long as by default."""
        return spared_days(days) if self.command == _SYNC else days

    @property
    def severed_within(self) -> list[Severed]:
        """What memories of the same space lost."""
        return [one for one in self.severed if not one.space]


class Going(Record):
    """What a write takes out of a space: `kept`, the header as it was with the memories that go into the trash, and
    `erased`, the memories that go for good. Of `displaced` ids another version stays, which is in `replacing`. The trash keeps
    `spared` ids whatever grace the policy grants. `severed` are the references that went too, `run` is where the trash keeps
    it all.
    """

    kept: Space
    erased: tuple[Memory, ...] = ()
    severed: tuple[Severed, ...] = ()
    run: str = ""
    displaced: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()
    replacing: tuple[Memory, ...] = ()


def spared_days(days: float) -> float:
    """For how many days the trash keeps what is spared, where the policy grants `days`."""
    return max(days, Policy().grace_days)


def severed_between(before: Memory, after: Memory, gone: Collection[str]) -> Severed | None:
    """The references to `gone` memories that one that stays lost between two states of it; None when it lost none."""
    links = tuple(link for link in before.links if link["to"] in gone and link not in after.links)
    successor = before.superseded_by
    if successor not in gone or successor == after.superseded_by:
        return Severed(before.id, links) if links else None
    return Severed(before.id, links, successor, before.valid_until)


def relinked(memory: Memory, severed: Severed, back: Collection[str]) -> Memory:
    """The memory with the links that it lost to those that are `back`."""
    known = {(link["to"], link["relation"]) for link in memory.links}
    links = [one for one in severed.links if one["to"] in back and (one["to"], one["relation"]) not in known]
    return replace(memory, links=(*memory.links, *links)) if links else memory


def rejoined(memory: Memory, severed: Severed, back: Mapping[str, Memory]) -> Memory:
    """The memory with the references that it lost to those that are `back`."""
    memory = relinked(memory, severed, back)
    successor = back.get(severed.superseded_by or "")
    if successor is None or memory.superseded_by not in (None, successor.superseded_by):
        return memory
    return replace(memory, superseded_by=successor.id, valid_until=memory.valid_until or severed.valid_until)


def run_name(removed_at: str, content: str) -> str:
    """In order of time; the same removal under the same clock has the same name."""
    return f"{removed_at.replace('-', '').replace(':', '')}-{short_digest(content, 8)}"


def is_run_name(name: str) -> bool:
    """Whether `name` can be the name of a run."""
    return bool(_NAME.match(name))
