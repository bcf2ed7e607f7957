"""The space: a named set of memories that is stored, shared and governed as one.

Roles: what a token of `memcli serve` lets its holder do with a space.
"""

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
"""Each may do what those before it may."""

SPACE_ALONE, JOURNAL, SPACES, STORE = "space", "journal", "spaces", "store"
"""What a verb concerns: the space that it is called for, that space and its journal, each space that the caller may see, or
the store as a whole, which a caller who is for some spaces only may not ask about."""


class Policy(Record):
    """What may be done with a space. `extra` holds the fields that this version does not know."""

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
        """Whether the space is for this machine alone."""
        return self.visibility == "private"

    @property
    def is_derived(self) -> bool:
        """Whether the space is read from the repository, and can be rebuilt from it at any time."""
        return self.visibility == "derived"

    @property
    def is_tracked(self) -> bool:
        """Whether git may see the file of the space."""
        return not self.is_private and not self.is_derived

    def derived_from(self, main: Policy) -> Policy:
        """The policy of a derived space: that of `main`, but for the fields that are set here, and without a review."""
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
        """This space with `memories` added, or in the place of those with the same ids."""
        by_id = {m.id: m for m in self.objects}
        by_id.update((m.id, m) for m in memories)
        return self._with(by_id.values(), now)

    def drop(self, ids: Iterable[str], now: str) -> Space:
        """This space without the memories of these ids."""
        gone = frozenset(ids)
        return self._with((m for m in self.objects if m.id not in gone), now)

    def find(self, ref: str) -> Memory:
        """The memory that `ref` names: an id, a path, or the beginning of one id alone.

        Raises NotFoundError when there is none, UsageError when the beginning fits several.
        """
        exact = None
        ids: dict[str, Memory] = {}
        starts = beginnings(ref)
        for memory in self.objects if ref else ():
            if memory.id == ref:
                return memory
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
    """What is to become of a space; an empty one writes nothing.

    `put` are added, or take the place of those with the same ids, and `drop` are ids that go; `now` becomes the
    space's `updated_at`; of `header` everything but the memories is taken over. With `erase`, what goes is not kept in
    the trash, whatever grace the policy grants; with `keep` it is, even where the policy grants none. `purge`: a user named
    what goes, which takes an admin on a server. Of `displaced` ids the trash keeps what `put` takes the place of. `tasks`
    of upkeep, by name, and the ids that each changed, go into the audit log, and so does why a model let a memory go, in
    `advised`.
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
    """One memory that a write touched. `before` and `after` are digests of its stored bytes; empty: not there. `created_at` is
    that of one that is gone for good: a later one of the same id is another memory."""

    id: str
    path: str
    before: str
    after: str
    created_at: str = ""


class Receipt(Record):
    """What a write did, for the record. `run` names what of it is in the trash."""

    touched: tuple[Touched, ...] = ()
    header_changed: bool = False
    run: str = ""

    @property
    def removed(self) -> int:
        """How many memories it took away."""
        return sum(not touched.after for touched in self.touched)


def find_reference(
    ref: str,
    exact: _Found | None,
    ids: Sequence[str],
    get: Callable[[str], _Found | None],
    where: str,
    hint: str = "`memcli list` lists the memories",
) -> _Found:
    """What `ref` names: `exact`, which has it as its id or path, or what `get` has of the only one of `ids`, all of
    which begin with `ref`. Raises NotFoundError when there is none, UsageError when there are several.
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
    """The change that makes `after` of `before`."""
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
    """Tells whether a path is one of `prefixes` or lies below one; as quick for a thousand of them as for one."""
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
    """How many bytes a space takes, by the fingerprint of its snapshot; 0 for one of a commit of git."""
    size = fingerprint.partition("-")[0]
    return int(size) if size.isdecimal() else 0
