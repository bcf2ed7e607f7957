"""What an indexed space answers, by subject. A row is a small integer that stands for a memory in one view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from memcli.model.catalogue import CatalogueFilter, Counts
from memcli.model.memory import Memory
from memcli.model.recall import Clusters, Entry, Nearness, PassageTerms, Query, RecordedGroup, RowSet, TermStats
from memcli.model.space import Policy


class Entries(Protocol):
    """The memories of a space by what filters and order need of them."""

    @property
    def size(self) -> int:
        """How many memories the space has."""

    def visible(self, query: Query) -> RowSet:
        """The rows that pass the query's filters: active, not superseded, valid at its time, of its kinds, ..."""

    def has_sessions(self) -> bool:
        """Whether any memory lives in a session, and ends with it."""

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        """What is known of these rows, or of all."""

    def pinned(self) -> list[int]:
        """The rows of the pinned memories."""

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        """These groups (a session, a commit) with all their rows."""

    def links(self, rows: Sequence[int] | None = None) -> list[tuple[int, int, str, float]]:
        """The links between rows, or those that begin or end at one of `rows`, in no order: from, to, relation, weight
        (0..1)."""


class Passages(Protocol):
    """The terms of memories and of their passages, and the vectors of these."""

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        """The rows (of `among`, when given) where any of the terms stands, at most `limit` of the best, and how often in each
        field. Rows that only have terms which are common in the space are left out, unless they are asked for `with_common`;
        then what is added about something else takes no row away."""

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        """How often the terms stand in each passage of these rows, in order."""

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        """What every row is about: the terms of its path, its tags, its source and its summary, as four tuples."""

    def dense(
        self, texts: Sequence[str], within: float | None = None, among: RowSet | None = None
    ) -> list[Nearness] | None:
        """For each text how near it is to every passage that has a vector; of a very large space to the nearest ones, of
        `among`, when given.

        None when there is no embedder, it fails, or it takes longer than `within` seconds.
        """

    def embed(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Makes the vectors that are missing, what was told and is new first, for as long as it `goes_on`, which is asked
        after every batch; False when there is no embedder.

        What was made before an error is kept. Raises ProviderError, RefusedError, and OutdatedError when something was erased meanwhile.
        """


class SpaceView(Entries, Passages, Protocol):
    """One version of a space, indexed; what surfaces a memory other than its text: its cluster, its triggers, and the code
    that it is anchored to."""

    def clusters(self, *, only_known: bool = False) -> Clusters:
        """The clusters of the memories that are neither forgotten nor superseded, found anew when the space has changed; with
        `only_known` no work is done for it. Raises CorruptError."""

    def triggers(self) -> Mapping[int, tuple[str, ...]]:
        """The triggers of each row that has any."""

    def anchors(self, files: Sequence[str]) -> Mapping[int, Sequence[tuple[str, int, int]]]:
        """The rows anchored in one of these files: the file, the first and the last line, which are 0 for all of it."""

    def anchored_files(self) -> list[str]:
        """The files that any row is anchored in, sorted."""

    @property
    def policy(self) -> Policy:
        """The policy of the space."""

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        """The memories themselves, read from the store. Raises CorruptError."""

    def status(self) -> dict[str, int]:
        """How many objects, terms and chunks the index knows, how many of the chunks have vectors, and how many clusters
        are known."""

    def close(self) -> None:
        """Lets go of the index."""


class Catalogue(Protocol):
    """The memories of one version of a space by id and path. All methods raise CorruptError."""

    def find(self, ref: str) -> Memory | None:
        """The memory of this id, or else the first at this path."""

    def ids_with_prefix(self, text: str) -> list[str]:
        """The ids that begin with `text`."""

    def count(self, wanted: CatalogueFilter) -> int:
        """How many memories are wanted, whatever the depth."""

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        """The path and the id of each memory that is wanted, in order of both; what is too deep as one branch, without an
        id."""

    def read(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, in the order asked."""

    def counts(self) -> Counts:
        """The space in numbers."""

    def close(self) -> None:
        """Lets go of what it reads."""
