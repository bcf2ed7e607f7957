"""The space: a named set of memories that are stored, shared and governed by a policy together; changes of it, and the roles
that tokens of `memcli serve` grant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memcli.errors import NotFoundError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import beginnings
from memcli.record import Record, as_dict, field, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Found = TypeVar("_Found")

READER, WRITER, ADMIN = "reader", "writer", "admin"
ROLES = (READER, WRITER, ADMIN)
"""In order: each includes the rights of those before it."""

SPACE_ALONE, JOURNAL, SPACES, STORE = "space", "journal", "spaces", "store"
"""The scope of a verb: the given space, that space and its journal, each space that the caller may read, or the whole store,
for which a token of some spaces is not enough."""


class Policy(Record):
    """The rules of a space. `extra` has the fields that this version does not know."""

    ttl_days: float | None = None
    retention: Mapping[str, float] = field(default_factory=dict)
    grace_days: float = 14
    allow_delete: bool = False
    max_objects: int | None = None
    compaction: str = "value"
    auto_pin: tuple[Mapping[str, Json], ...] = ()
    pii_redaction: Mapping[str, Json] = field(default_factory=dict)
    review: bool = False
    visibility: str = "project"
    export_path: str | None = None
    backend: str | None = None
    promote: str = "manual"
    max_episodes: int = 100
    seasons: Mapping[str, str] = field(default_factory=dict)
    gaps: bool = False
    upkeep: str = "manual"
    quota: Mapping[str, Json] = field(default_factory=dict)
    agents: Mapping[str, Json] = field(default_factory=dict)
    max_chars: int | None = None
    recent_messages: int = 20
    chunk_size: int = 10
    max_chunks: int = 50
    promote_confidence: float = 0.7
    archive_below: float = 0.3
    archive_days: float = 30
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        """Whether the space is on this machine only."""
        return self.visibility == "private"

    @property
    def is_derived(self) -> bool:
        """Whether the memories of the space are read from the repository, and can be rebuilt from it at any time."""
        return self.visibility == "derived"

    @property
    def is_tracked(self) -> bool:
        """Whether git may track the file of the space."""
        return not self.is_private and not self.is_derived

    def derived_from(self, main: Policy) -> Policy:
        """The policy of a derived space: that of `main`, with the fields that are set here, and without a review."""
        default = Policy()
        own = {name: value for name, value in as_dict(self).items() if value != getattr(default, name)}
        return replace(main, **{**own, "review": False, "visibility": self.visibility})


class Space(Record):
    """A space as one value. `objects` are in order of `updated_at`, then `id`."""

    name: str
    objects: tuple[Memory, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    updated_at: str = ""
    version: int = 1
    extra: Mapping[str, Json] = field(default_factory=dict)

    def put(self, memories: Iterable[Memory], now: str) -> Space:
        """The space with `memories` added or, where their ids exist, replaced."""
        by_id = {m.id: m for m in self.objects}
        by_id.update((m.id, m) for m in memories)
        return self._with(by_id.values(), now)

    def drop(self, ids: Iterable[str], now: str) -> Space:
        """The space without the memories of these ids."""
        gone = frozenset(ids)
        return self._with((m for m in self.objects if m.id not in gone), now)

    def find(self, ref: str) -> Memory:
        """The memory that `ref` names: an id, a path, or the beginning of exactly one id.

        Raises NotFoundError when there is none, UsageError when the beginning fits several.
        """
        exact = None
        ids: dict[str, Memory] = {}
        starts = beginnings(ref)
        for memory in self.objects if ref else ():
            if memory.id == ref:
                return memory
            # An id has precedence over a path, so that the search goes on.
            if memory.path == ref:
                exact = exact or memory
            elif memory.id.startswith(starts):
                ids[memory.id] = memory
        return find_reference(ref, exact, list(ids), ids.get, f"space {self.name!r}")

    def contains(self, name: str) -> bool:
        """Whether there is a memory of this id."""
        return any(memory.id == name for memory in self.objects)

    def under(self, prefix: str) -> list[Memory]:
        """The memories at the path `prefix` and below it, in order of path."""
        return sorted((m for m in self.objects if is_under(m.path, prefix)), key=lambda m: (m.path, m.id))

    def _with(self, memories: Iterable[Memory], now: str) -> Space:
        return replace(self, objects=tuple(sorted(memories, key=lambda m: m.order)), updated_at=now)


class Change(Record):
    """A change of a space; an empty one writes nothing.

    `put` are added, or replace those with the same ids, `drop` are ids to remove; `now` becomes the `updated_at` of the space;
    `header` replaces everything but the memories. With `erase`, removed memories do not go into the trash, whatever grace the
    policy grants; with `keep` they do, even where it grants none. `purge`: a user named the memories to remove, which needs an
    admin on a server. Of `displaced` ids, the version that `put` replaces goes into the trash. The audit log gets `tasks` of
    upkeep, with the ids that each changed, and `advised`, the reasons why a model chose memories for removal.
    """

    put: tuple[Memory, ...] = ()
    drop: frozenset[str] = frozenset()
    now: str = ""
    header: Space | None = None
    erase: bool = False
    keep: bool = False
    purge: bool = False
    displaced: frozenset[str] = frozenset()
    tasks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    advised: tuple[Json, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.put or self.drop or self.header is not None)


class Touched(Record):
    """One memory that a write changed. `before` and `after` are digests of its stored bytes, empty where it did not exist.
    `created_at` is recorded of a memory that was erased: a later one with the same id is another memory."""

    id: str
    path: str
    before: str
    after: str
    created_at: str = ""


class Receipt(Record):
    """The result of a write, for the audit log. `run` is the name of the run in the trash, empty if there is none."""

    touched: tuple[Touched, ...] = ()
    header_changed: bool = False
    run: str = ""

    @property
    def removed(self) -> int:
        """The number of removed memories."""
        return sum(not touched.after for touched in self.touched)


def find_reference(
    ref: str,
    exact: _Found | None,
    ids: Sequence[str],
    get: Callable[[str], _Found | None],
    where: str,
    hint: str = "`memcli list` lists the memories",
) -> _Found:
    """The object that `ref` names: `exact`, whose id or path it is, or else the one that `get` returns for the only one of
    `ids`, which begin with `ref`. Raises NotFoundError when there is none, UsageError when there are several.
    """
    if exact is not None:
        return exact
    if len(ids) > 1:
        raise UsageError(f"{ref!r} matches {len(ids)} ids in {where}", "use a longer prefix")
    found = get(ids[0]) if ids else None
    if found is None:
        raise NotFoundError(f"no memory {ref!r} in {where}", hint)
    return found


def is_named(memory: Memory, refs: Collection[str]) -> bool:
    """Whether the id or the path of the memory is one of `refs`."""
    return memory.id in refs or memory.path in refs


def change_between(before: Space, after: Space) -> Change:
    """The change that turns `before` into `after`."""
    known = {m.id: m for m in before.objects}
    put = tuple(m for m in after.objects if known.get(m.id) != m)
    drop = known.keys() - {m.id for m in after.objects}
    header = replace(after, objects=())
    return Change(put, frozenset(drop), "", None if header == replace(before, objects=()) else header)


def is_under(path: str, prefix: str) -> bool:
    """Whether `path` is `prefix` or lies below it; every path lies below the empty prefix."""
    prefix = prefix.strip("/")
    return not prefix or path == prefix or path.startswith(prefix + "/")


def under_any(prefixes: Iterable[str]) -> Callable[[str], bool]:
    """A predicate whether a path is one of `prefixes` or lies below one; its time does not depend on their number."""
    wanted = frozenset(prefix.strip("/") for prefix in prefixes)

    def is_in(path: str) -> bool:
        if "" in wanted or path in wanted:
            return True
        end = path.find("/")
        while end >= 0:
            if path[:end] in wanted:
                return True
            end = path.find("/", end + 1)
        return False

    return is_in


def size_of(fingerprint: str) -> int:
    """The size in bytes of a space, from the fingerprint of its snapshot; 0 for a snapshot of a git commit."""
    size = fingerprint.partition("-")[0]
    return int(size) if size.isdecimal() else 0
