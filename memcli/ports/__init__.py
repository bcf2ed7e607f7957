"""The protocols between use cases and adapters, which `wiring/` joins. What an indexed space answers has one implementation,
`IndexedSpace`, and so no protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from typing import Protocol, TypeVar

    from memcli.index.view import IndexedSpace
    from memcli.model.conversation import Prompt
    from memcli.model.findings import Failure
    from memcli.model.links import Lineage, Run
    from memcli.model.memory import Json, Memory
    from memcli.model.recall import Bundle, Query, Ranking
    from memcli.model.space import Change, Policy, Receipt, Space, Touched
    from memcli.model.usage import Charge, Day, TokenUsage

    T = TypeVar("T")
else:
    Protocol = object

Fold = Callable[["Shelf", "Json"], "tuple[Change, Json]"]
"""Says what a request makes of a space, and the answer to whoever made it. Pure."""

Progress = Callable[[int, int], None]
"""Told (done, total) while long work goes on."""


class Snapshot(Protocol):
    """One version of a space, held open: later writes do not change what it reads."""

    @property
    def space(self) -> str:
        """The name of the space."""

    @property
    def fingerprint(self) -> str:
        """Equal for equal files, different after any change; empty when the space does not exist. That of a file begins with
        its size in bytes and `-`."""

    def memories(self, *keys: str) -> Iterator[Memory]:
        """Each memory, one at a time, in the order of the file; with `keys`, all in which one of them stands, at whatever
        depth, and maybe others. Raises CorruptError."""

    def records(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[tuple[bytes, int]]:
        """Each memory's stored bytes and where they begin, -1 when the file is not canonical; or of a canonical file only
        what stands at these places, each a start and a length. Raises CorruptError."""

    def decode(self, data: bytes) -> Memory:
        """The memory of a record. Raises CorruptError."""

    def load(self) -> Space:
        """The whole space. Raises CorruptError."""

    def header(self) -> Space:
        """The space without its objects. Raises CorruptError."""

    def fetch(self, places: Sequence[tuple[str, int, int]]) -> list[Memory]:
        """The memories at these (id, start, length), in the order asked. Raises CorruptError."""

    def is_before(self, time: int) -> bool:
        """Whether the space has been written since, and this version of it before `time`, in nanoseconds."""

    def close(self) -> None:
        """Lets go of the file."""


class Shelf(Protocol):
    """A space under its lock: memories are looked up in it without reading the rest. All raise CorruptError."""

    def memories(self, *keys: str) -> Iterator[Memory]:
        """As those of a snapshot."""

    def get(self, name: str) -> Memory | None:
        """The memory of this id."""

    def referring(self, ids: Collection[str]) -> list[Memory]:
        """The memories that link to one of `ids`, or are superseded by one, in order."""

    @property
    def header(self) -> Space:
        """The space without its memories."""

    @property
    def size(self) -> int:
        """How many memories there are."""

    def at(self, path: str) -> Memory | None:
        """The memory at this path."""

    def find_by_hash(self, digest: str) -> list[Memory]:
        """The memories whose text has this hash, in the order of the file."""

    def ids_with_prefix(self, text: str) -> list[str]:
        """The ids that begin with `text`, sorted."""

    def under(self, *prefixes: str) -> list[Memory]:
        """The memories at any of these paths and below, in order of path."""

    def load(self) -> Space:
        """The whole space, parsed."""


class Store(Protocol):
    """Where spaces are kept. What `update` and `submit` returned of is on disk; readers never see half a write."""

    def spaces(self) -> list[str]:
        """The names of all spaces, sorted."""

    def open(self, space: str) -> Snapshot:
        """The space as it is now; an empty one when it does not exist. Raises StoreError."""

    def policy(self, space: str) -> Policy:
        """The policy of the space as it is stored. Raises CorruptError, StoreError."""

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        """Makes the change that the pure function `change` wants of the space, under its lock.

        Writes nothing when the change is empty, or `change` raises. Raises LockedError, CorruptError, StoreError.
        """

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        """As `update`, for a change that can be told as JSON: whoever holds the lock may make it along with its own.

        Returns what the store's `fold` answers to the request. Raises what it raises, and as `update`.
        """

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        """Removes the space, under its lock, once `check` did not raise; returns what it held.

        Raises NotFoundError, LockedError, CorruptError, StoreError.
        """


class Trash(Protocol):
    """What was removed from spaces, for as long as its grace lasts."""

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        """Every run, newest first. What is damaged or cannot be read is left out, and `skip` hears why; without it, the
        user does. Raises StoreError."""

    def holds(self, space: str, name: str) -> bool:
        """Whether a run of the space holds the memory of this id; cheap. What cannot be read holds nothing."""

    def put(self, run: Run) -> None:
        """Keeps a run of another store, or another state of one in its place. Raises StoreError."""

    def drop(self, run: Run, ids: Collection[str], *, erase: bool = False) -> None:
        """Takes memories out of a run, and the run away when nothing is left of it: for good; with `erase` so that no byte of
        them is left there. Raises StoreError."""

    def collected(self, space: str) -> str:
        """When `gc` last did its work in the space; "" when it is not known to have."""

    def note_collection(self, space: str, at: str) -> None:
        """Notes that `gc` has done its work in the space. Raises StoreError."""


class AuditTrail(Protocol):
    """What was done to spaces on this machine, each act bound to the one before."""

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        """Appends what was done. It is done already, so a line that cannot be written is only told of."""

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        """Appends what was done elsewhere, as lines of that log say it; on disk when this returns. Raises StoreError,
        LockedError."""

    def read(self, space: str) -> bytes:
        """The whole log of a space; nothing when there is none. Raises StoreError."""

    def spaces(self) -> list[str]:
        """The names of the spaces that have a log, sorted. Raises StoreError."""

    def lineage(self, space: str) -> Lineage:
        """Which store has the space, and how far it has come. Raises StoreError."""

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:
        """Those of the lines of these numbers that were written by who may erase memories. Raises StoreError."""


class Embedder(Protocol):
    """Text to vectors. A model on this machine is deterministic: the same text gives the same bytes each time."""

    @property
    def model(self) -> str:
        """A digest of all that decides the vectors; vectors of different models never mix."""

    @property
    def dimensions(self) -> int:
        """Bytes in a vector."""

    @property
    def is_calibrated(self) -> bool:
        """Whether its cosines are on the scale that the floors of rankers were fitted to."""

    def embed(
        self, texts: Sequence[str], progress: Progress | None = None, *, as_questions: bool = False
    ) -> list[bytes]:
        """One vector for each text, which is a passage or a question: some models take these differently.

        A vector has `dimensions` signed bytes, each component scaled by the largest. Cosine is the dot product over the
        norms, which is exact in whole numbers. `model` and `dimensions` may raise as this does: ProviderError, and
        RefusedError where a provider may not be asked.
        """


class Index(Protocol):
    """Keeps what recall needs beside the store. Never trusted over it: every view is checked against the snapshot."""

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        """A view of exactly this snapshot, brought up to date first. It lasts as long as the snapshot is open."""

    def at_hand(self, snapshot: Snapshot) -> IndexedSpace | None:
        """As `view`, for those who cannot wait: None where much would have to be indexed first, or the index fails."""

    def existing(self, snapshot: Snapshot) -> IndexedSpace | None:
        """As `view`, by the index that is there, brought up to date if little has changed; None when there is no such index,
        or its answers could differ from those of the file."""

    def embedder(self) -> str:
        """The model that vectors are made by, or why none are made."""

    def rebuild(self, space: str) -> None:
        """Forgets all that is kept of the space."""

    def question(self, topic: str) -> tuple[str, bytes] | None:
        """The vector of a topic for which views of this index were just asked, with its model; never one made for this."""


Ranker = Callable[["Query", "IndexedSpace"], "Ranking"]
"""Orders the memories of a space by how well they answer a query: the rows that match, best first: by score, then newest, then
id; none when too little speaks for them."""


class Source(Protocol):
    """Something that memories are taken from: files, commits, transcripts."""

    skipped: Counter[str]
    """How many things gave no candidate, by reason, once `candidates` has ended."""
    failed: list[Failure]
    """What could not be read, once `candidates` has ended: it does not keep the rest from being read."""

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """The fields of one memory each, in a total order; or, `read`, a commit that all before it has told of, or how many
        memories are `unchanged` of what need not be read.

        `replaces` lists places (see `Place` in `policy/retention.py`) that this one, with those beside it, has told all of; one that
        has nothing else says that nothing is there any more.
        """


Renderer = Callable[["Bundle"], str]
"""Writes a bundle as text."""


class LanguageModel(Protocol):
    """A model that answers prompts by JSON. What it is asked and what it costs is counted, and limited by the quota."""

    @property
    def name(self) -> str:
        """As `provider:model`."""

    def load(self) -> None:
        """Loads what the first question needs, which takes a second or two. It may be called in a thread of its own."""

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """What `read` makes of the answer.

        `read` raises ValueError for an answer that is not valid, and the model is asked once more, with the reason. All
        of it takes at most `within` seconds. Raises ProviderError when there is no valid answer, RefusedError when the
        call could exceed the quota: then nothing was sent.
        """


class CallLedger(Protocol):
    """The calls that were made, by day."""

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Charge:
        """Books a call on the day of its time, and returns it with its number, once `check` has seen the calls of its space on that day so far, and maybe
        those of others; what it raises is raised. Raises LockedError, StoreError, RefusedError."""

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        """Puts what a call has cost in the place of what was booked for it. Raises LockedError, StoreError."""

    def read(self, day: str) -> Day:
        """The calls of a day, and how many lines are damaged. Raises StoreError."""

    def days(self) -> Sequence[str]:
        """The days that have calls, in order, such as `2026-05-03`."""

    def sums(self, today: str) -> Mapping[str, TokenUsage]:
        """What each provider has charged, also on days that are no longer kept; it only grows. Raises StoreError."""


Reserve = Callable[[str, "TokenUsage"], Callable[["TokenUsage"], None]]
"""Books the most that a call for a task may cost, and returns what books its true cost instead.

When that is never called, as in a process that is killed, the most counts until the day ends. Raises RefusedError when the
call could exceed the quota or cannot be booked.
"""
