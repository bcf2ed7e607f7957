"""What an indexed space answers. A row is a small integer that stands for a memory in one view."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.model.catalogue import CatalogueFilter, Counts
from memcli.model.memory import Memory
from memcli.model.recall import Clusters, Entry, Nearness, PassageTerms, Query, RecordedGroup, RowSet, TermStats
from memcli.model.space import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class SpaceView(Protocol):
    """One version of a space, indexed: what rankers ask of it, and its memories by id and path."""

    @property
    def size(self) -> int:
        """How many memories the space has."""

    @property
    def policy(self) -> Policy:
        """The policy of the space."""

    def visible(self, query: Query) -> RowSet:
        """The rows that pass the query's filters: active, not superseded, valid at its time, of its kinds, ..."""

    def has_sessions(self) -> bool:
        """Whether any memory lives in a session, and ends with it."""

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        """These rows, or all, with the fields that filters and order need."""

    def pinned(self) -> list[int]:
        """The rows of the pinned memories."""

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        """These groups (a session, a commit) with all their rows."""

    def links(self, rows: Sequence[int] | None = None) -> list[tuple[int, int, str, float]]:
        """The links between rows, or those that begin or end at one of `rows`, in no order: from, to, relation, weight
        (0..1)."""

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        """At most `limit` of the best rows (of `among`, when given) that contain any of the terms, with the number of
        occurrences in each field. Rows that contain only terms which are common in the space are left out, unless
        `with_common`; then a memory added about something else takes no row away."""

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        """How often the terms occur in each passage of these rows, in order."""

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        """The terms of each row's path, tags, source and summary, as four tuples."""

    def dense(
        self,
        texts: Sequence[str],
        within: float | None = None,
        among: RowSet | None = None,
        first: Sequence[tuple[int, int]] = (),
        patience: float = math.inf,
    ) -> list[Nearness] | None:
        """For each text its cosines with every passage that has a vector; in a very large space only with the nearest
        ones, of `among`, when given. Missing vectors are computed for about `patience` seconds, a few in any case: those of
        the passages that come `first`, each given by its row and its place there, and if there are few, of all.

        None when there is no embedder, it fails, it does not read the language of the first text, or it takes longer than
        `within` seconds.
        """

    def embed(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Computes the missing vectors, those of statements and documents before messages of commits, and these before
        hunks, new before old, until `goes_on`, which is asked after every batch, returns False; False when there is no embedder.

        Vectors computed before an error are stored. Raises ProviderError, RefusedError, and OutdatedError when something was
        erased meanwhile.
        """

    def clusters(self, *, only_known: bool = False) -> Clusters:
        """The clusters of the memories that are neither forgotten nor superseded, computed when the space has changed; with
        `only_known` they are never computed. Raises CorruptError."""

    def triggers(self) -> Mapping[int, tuple[str, ...]]:
        """The triggers of each row that has any."""

    def anchors(self, files: Sequence[str]) -> Mapping[int, Sequence[tuple[str, int, int]]]:
        """The rows anchored in one of these files: the file, the first and the last line, which are 0 for all of it."""

    def anchored_files(self) -> list[str]:
        """The files that any row is anchored in, sorted."""

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        """The memories of these rows, read from the store, in the order asked. Raises CorruptError."""

    def read(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, read from the store, in the order asked. Raises CorruptError."""

    def find(self, ref: str) -> Memory | None:
        """The memory of this id, or else the first at this path. Raises CorruptError."""

    def ids_with_prefix(self, text: str) -> list[str]:
        """The ids that begin with `text`, sorted."""

    def count(self, wanted: CatalogueFilter) -> int:
        """How many memories pass the filter, whatever the depth."""

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        """The path and the id of each memory that passes the filter, in order of both; of a branch below the depth of the
        filter only its path, with an empty id."""

    def newest(self, wanted: CatalogueFilter, count: int | None) -> list[str]:
        """The ids of the memories that pass the filter, whatever the depth, the last updated first, then in order of path and
        id; at most `count`."""

    def counts(self) -> Counts:
        """The space in numbers."""

    def status(self) -> dict[str, int]:
        """How many objects, terms, chunks, chunks with vectors and clusters the index holds."""

    def close(self) -> None:
        """Closes the index."""
