"""What the views of all indexes answer alike, whatever database they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from memcli.errors import ProviderError, RefusedError
from memcli.model.recall import Entry, PassageTerms, RecordedGroup, RowSet, TermStats

if TYPE_CHECKING:
    from memcli.ports import Embedder
    from memcli.retrieval.words import StoredWords

ENTRY = "row, id, path, kind, tags, relevance, pinned, created_at, updated_at, importance, confidence, grp, speaker, commit_hash, confirmed_at, season, is_read"
"""The columns that `entry_of` takes."""


class WordsOfView:
    """The part of a view that its words answer. See `ports.views.Words` for the promises."""

    _words: StoredWords

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        return self._words.lexical(terms, limit, among, with_common=with_common)

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        return self._words.passages(terms, rows)

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        return self._words.terms()


def entry_of(values: Sequence[Any]) -> Entry:
    """The entry of a row that has these ENTRY columns."""
    row, name, path, kind, tags, relevance, pinned, *rest = values
    return Entry(row, name, path, kind, tuple(tags.split()), relevance, bool(pinned), *rest)


def groups_of(names: Sequence[str], members: Iterable[Sequence[Any]]) -> dict[str, RecordedGroup]:
    """These groups; each member comes as its group, its position there, its row, and how many terms it has."""
    found: dict[str, list[tuple[str, int, int]]] = {name: [] for name in names}
    for name, position, row, length in members:
        found[name].append((position, row, length))
    return {
        name: RecordedGroup(tuple(row for _, row, _ in sorted(of)), sum(length for *_, length in of))
        for name, of in found.items()
    }


def model_in_use(load: Callable[[], tuple[Embedder, Any] | None]) -> str:
    """The model of the embedder that is loaded, or why there is none."""
    try:
        semantic = load()
    except (ProviderError, RefusedError) as error:
        return f"none: {error.message}"
    return semantic[0].model if semantic else "off"
