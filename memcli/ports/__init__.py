"""The protocols between use cases and adapters, which `wiring/` joins. A view of an index has one implementation,
`IndexedSpace`, and therefore no protocol."""

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
    # To import `typing` takes a good part of a short command, and at run time no protocol is checked.
    Protocol = object

Fold = Callable[["Shelf", "Json"], "tuple[Change, Json]"]
"""Turns a request to a space into the change that it makes and the answer to the requester. Pure."""

Progress = Callable[[int, int], None]
"""Called with (done, total) while long work goes on."""


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
        """Each memory, one at a time, in the order of the file; with `keys`, at least those whose JSON has one of these keys at
        any depth. Raises CorruptError."""

    def records(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[tuple[bytes, int]]:
        """The stored bytes of each memory and their offset, -1 when the file is not canonical; of a canonical file only the
        records at `places`, if given, each an offset and a length. Raises CorruptError."""

    def decode(self, data: bytes) -> Memory:
        """The memory of a record. Raises CorruptError."""

    def load(self) -> Space:
        """The whole space. Raises CorruptError."""

    def header(self) -> Space:
        """The space without its objects. Raises CorruptError."""

    def fetch(
        self, places: Sequence[tuple[str, int, int]], are_vetted: Callable[[str, bytes], bool] | None = None
    ) -> list[Memory]:
        """The memories at these (id, offset, length), in this order. One is marked as vetted if `are_vetted` accepts its id and
        its bytes. Raises CorruptError."""

    def is_before(self, time: int) -> bool:
        """Whether the space has been written since this snapshot, and the snapshot is of before `time`, in nanoseconds."""

    def close(self) -> None:
        """Closes the file."""


class Shelf(Protocol):
    """A space under its lock, in which memories are found without reading the others. All methods raise CorruptError."""

    def memories(self, *keys: str) -> Iterator[Memory]:
        """As `Snapshot.memories`."""

    def get(self, name: str) -> Memory | None:
        """The memory with this id, None if there is none."""

    def referring(self, ids: Collection[str]) -> list[Memory]:
        """The memories that link to one of `ids`, or are superseded by one, in order."""

    @property
    def header(self) -> Space:
        """The space without its memories."""

    @property
    def size(self) -> int:
        """The number of memories."""

    def at(self, path: str) -> Memory | None:
        """The memory at this path, None if there is none."""

    def find_by_hash(self, digest: str) -> list[Memory]:
        """The memories whose text has this hash, in the order of the file."""

    def ids_with_prefix(self, text: str) -> list[str]:
        """The ids that begin with `text`, sorted."""

    def under(self, *prefixes: str) -> list[Memory]:
        """The memories at and below any of these paths, in order of path."""

    def load(self) -> Space:
        """The whole space, parsed."""


class Store(Protocol):
    """A set of spaces. A write is durable when `update` or `submit` returns; readers never see half a write."""

    def spaces(self) -> list[str]:
        """The names of all spaces, sorted."""

    def open(self, space: str) -> Snapshot:
        """The space as it is now; an empty one when it does not exist. Raises StoreError."""

    def policy(self, space: str) -> Policy:
        """The policy of the space as it is stored. Raises CorruptError, StoreError."""

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        """Calls the pure function `change` under the lock of the space, and writes the change that it returns.

        Writes nothing when the change is empty, or `change` raises. Raises LockedError, CorruptError, StoreError.
        """

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        """As `update`, for a change that a JSON request describes: the process that holds the lock may write it with its own.

        Returns the answer of the store's `fold` to the request. Raises as `fold` and `update` do.
        """

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        """Removes the space under its lock, unless `check` raises; returns the removed space.

        Raises NotFoundError, LockedError, CorruptError, StoreError.
        """


class Trash(Protocol):
    """Memories that were removed from spaces, until their grace has passed."""

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        """Every run, newest first. Damaged and unreadable runs are left out; the reason goes to `skip`, or else to the user as
        a warning. Raises StoreError."""

    def holds(self, space: str, name: str) -> bool:
        """Whether a run of the space has the memory with this id; cheap. Runs that cannot be read are left out."""

    def put(self, run: Run) -> None:
        """Adds a run, or replaces the one of the same name. Raises StoreError."""

    def drop(self, run: Run, ids: Collection[str], *, erase: bool = False) -> None:
        """Removes memories from a run for good, and the run when none is left; with `erase`, so that no byte of
        them is left in the trash. Raises StoreError."""

    def collected(self, space: str) -> str:
        """The time of the last `gc` in the space, "" if none is recorded."""

    def note_collection(self, space: str, at: str) -> None:
        """Records the time of a `gc` in the space. Raises StoreError."""


class AuditTrail(Protocol):
    """The audit logs of spaces on this machine, in which each line has the hash of the one before."""

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        """Appends an act. The act is already done, so a line that cannot be written causes a warning, not an error."""

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        """Appends lines of the log of another store; they are durable when this returns. Raises StoreError, LockedError."""

    def read(self, space: str) -> bytes:
        """The whole log of a space, empty if there is none. Raises StoreError."""

    def spaces(self) -> list[str]:
        """The names of the spaces that have a log, sorted. Raises StoreError."""

    def lineage(self, space: str) -> Lineage:
        """The store, epoch and version of the space. Raises StoreError."""

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:
        """The numbers of those of these lines that somebody wrote who may erase memories. Raises StoreError."""


class Embedder(Protocol):
    """Text to vectors. A model on this machine is deterministic: the same text gives the same bytes each time."""

    @property
    def model(self) -> str:
        """A digest of everything that the vectors depend on; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int:
        """The number of components of a vector, one byte each."""

    @property
    def is_calibrated(self) -> bool:
        """Whether its cosines are on the scale to which the floors of rankers were fitted."""

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:
        """One vector for each text: of a passage or, `as_questions`, of a question, which some models embed differently.

        A vector has `dimensions` signed bytes, scaled so that the largest component is 127. Its cosines are computed in whole
        numbers, so that they are the same everywhere. This, `model` and `dimensions` raise ProviderError, and RefusedError
        where no provider may be called.
        """


class Index(Protocol):
    """The data that recall needs beside the store: words, vectors, positions. Every view is checked against its snapshot, and
    the store is right where they differ."""

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        """A view of exactly this snapshot; the index is brought up to date first. Valid while the snapshot is open."""

    def at_hand(self, snapshot: Snapshot) -> IndexedSpace | None:
        """As `view`, for callers that cannot wait: None where much would have to be indexed first, or the index fails."""

    def existing(self, snapshot: Snapshot) -> IndexedSpace | None:
        """As `view`, of an index that exists already and needs few changes; None where there is no such index, or its answers
        could differ from those of the file."""

    def embedder(self) -> str:
        """The name of the model of the vectors, or the reason why there are none."""

    def rebuild(self, space: str) -> None:
        """Drops the index of the space; the next view makes it again."""

    def question(self, topic: str) -> tuple[str, bytes] | None:
        """The cached vector of a topic, after the name of its model; None where no view has embedded this topic."""


Ranker = Callable[["Query", "IndexedSpace"], "Ranking"]
"""Orders the memories of a space by how well they answer a query: the rows that match, by score, then newest, then id; none
where the evidence is too weak."""


class Source(Protocol):
    """A source of memories: files, commits, staged changes."""

    skipped: Counter[str]
    """The number of items without a candidate, by reason; complete once `candidates` has ended."""
    failed: list[Failure]
    """The files and commits that could not be read, which does not stop the others; complete once `candidates` has ended."""

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """Mappings with the fields of one memory each, in a total order. Some keys are no fields of a memory:

        `replaces`: places (see `Place` in `policy/retention.py`) of which this candidate and its neighbours are the whole
        content; without other fields, nothing is left at them. `read`: the hash of a commit of which all candidates have been
        yielded. `unchanged`: a number of memories whose source was not read again. `redacted`: the number of secrets, by kind,
        that were replaced in the text before.
        """


Renderer = Callable[["Bundle"], str]
"""Writes a bundle as text."""


class LanguageModel(Protocol):
    """A model that answers prompts by JSON. Its calls and their costs are recorded, and limited by the quota."""

    @property
    def name(self) -> str:
        """The name, as `provider:model`."""

    def load(self) -> None:
        """Loads the modules that the first call needs, which takes a second or two. May be called in a thread of its own."""

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """Sends the prompt, and returns the answer as `read` converts it.

        `read` raises ValueError for an invalid answer; the prompt is then sent once more, with the reason. All of it takes
        at most `within` seconds. Raises ProviderError when there is no valid answer; RefusedError, before anything is sent,
        when the call could exceed the quota.
        """


class CallLedger(Protocol):
    """The calls to language models, by day."""

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Charge:
        """Books a call on the day of its time, and returns it with its number. `check` gets at least the calls of the same space
        on that day first, and may raise. Raises as `check` does, and LockedError, StoreError."""

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        """Replaces the booked maximum of a call by its true cost. Raises LockedError, StoreError."""

    def read(self, day: str) -> Day:
        """The calls of a day, and the number of damaged lines. Raises StoreError."""

    def days(self) -> Sequence[str]:
        """The days that have calls, in order, such as `2026-05-03`."""

    def sums(self, today: str) -> Mapping[str, TokenUsage]:
        """The total cost by provider, with that of days whose calls were deleted; it never decreases. Raises StoreError."""


Reserve = Callable[[str, "TokenUsage"], Callable[["TokenUsage"], None]]
"""Books the maximum cost of a call for a task, and returns a function that books the true cost instead.

While that is not called, as in a process that is killed, the maximum counts. Raises RefusedError when the call could exceed
the quota or cannot be booked.
"""
