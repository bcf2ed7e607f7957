"""Search by meaning: the nearness of each memory of a space to a question, by the vectors of its passages and windows.

The nearness of a memory is that of its nearest passage. A turn of talk is also embedded together with the turn before it (a
window), because an answer often repeats no word of its question; both count alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from memcli import sqlite
from memcli.errors import OutdatedError, StoreError
from memcli.index.vectors import Numbers, VectorFile, VectorsLostError, as_numbers, text_key
from memcli.model.memory import Memory
from memcli.model.recall import Nearness, RowSet
from memcli.numerics import load
from memcli.text.passages import embedded_texts, passages, window_text
from memcli.text.words import is_foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memcli.index.tables import FileTables, SpaceTables
    from memcli.ports import Embedder, Progress

# Windows gain 0.8 nDCG@10 on dialogues.
WINDOW_SHARE = 0.5
"""The weight of the window of a memory; the memory alone has the rest of 1."""


def first_of(rows: Any) -> dict[int, int]:
    """The position of the first passage of each row; `rows` has the row of each passage, ascending."""
    import numpy

    starts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 1)) if len(rows) else rows
    return dict(zip(rows[starts].tolist(), starts.tolist(), strict=True))


def of_passages(
    first: Mapping[int, int], cosines: Any, window_rows: Any, window_cosines: Any, missing: int
) -> list[Nearness]:
    """The nearness to each question, by the cosines of all passages, of which those of a row begin at `first`, and of the
    windows of `window_rows`: float64 [questions, passages] and [questions, windows], NaN without a vector. `missing` is the
    number of passages without a vector."""
    import numpy

    own = numpy.fromiter(first, numpy.int64, len(first))
    if not len(own):
        return [Nearness(own, numpy.empty(0), {}, numpy.empty(0)) for _ in cosines]
    starts = numpy.fromiter(first.values(), numpy.int64, len(first))
    # `fmax`, unlike `max`, prefers a number to NaN: a passage without a vector hides no other.
    best = numpy.fmax.reduceat(cosines, starts, axis=1)
    if len(window_rows):
        at = numpy.searchsorted(own, window_rows)
        both = (1 - WINDOW_SHARE) * best[:, at] + WINDOW_SHARE * window_cosines
        best[:, at] = numpy.where(numpy.isnan(both), best[:, at], both)
    known = ~numpy.isnan(best[0])
    return [Nearness(own[known], one[known], first, of, missing) for one, of in zip(best, cosines, strict=True)]


# Whole numbers, so that every machine finds the same clusters.
MEAN_LENGTH = 2000
"""The length of the vector of a memory, in whole numbers: the squared distance of two is below 2^24, so exact in float32."""
_MEANS_AT_ONCE = 8192
"""The most passages read together, unless one memory has more: this bounds the memory used."""


def mean_directions(starts: Any, count: int, read: Callable[[slice], Any]) -> Any:
    """The mean direction of the vectors from each start to the next, of length MEAN_LENGTH, rounded to whole numbers: float32
    [starts, dimensions]. `count` is the number of vectors; `read` returns those of a slice.
    """
    import numpy

    ends = numpy.append(starts[1:], count)
    means: list[Any] = []
    first = 0
    while first < len(starts):
        begin = starts[first]
        last = max(first + 1, int(numpy.searchsorted(ends, begin + _MEANS_AT_ONCE, side="right")))
        vectors = read(slice(begin, ends[last - 1])).astype(numpy.float64)
        sums = numpy.add.reduceat(_scaled(vectors), starts[first:last] - begin, axis=0)
        means.append(numpy.rint(MEAN_LENGTH * _scaled(sums)).astype(numpy.float32))
        first = last
    return numpy.concatenate(means) if means else numpy.empty((0, 0), numpy.float32)


def _scaled(vectors: Any) -> Any:
    """The vectors scaled to length 1; zeros stay zeros."""
    import numpy

    norms = numpy.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / numpy.where(norms > 0, norms, 1.0)


Places = Sequence[tuple[int, int]]
"""Passages, each by its row and its number in the row, from 0."""

# Without a limit, the first question after the ingest of a history took minutes.
_AT_ONCE = 512
"""If at most so many vectors are missing, a question computes all of them, as time permits; otherwise only those of the passages
that it names."""
_EMBED_BATCH, _QUESTION_BATCH = 64, 4
"""The number of texts that are embedded between two checks of the time: without a question, and for one."""
_BY_WORTH = (
    "SELECT key FROM passage JOIN memory ON memory.row = passage.row"
    " ORDER BY memory.kind = 'diff', is_read, form <> 'message', memory.created_at DESC, memory.id, n"
)


class Meaning(ABC):
    """The vectors of one indexed space, made by one embedder. Vectors of questions are cached in `vectors`."""

    def __init__(self, tables: SpaceTables, embedder: Embedder, vectors: VectorFile, progress: Progress | None) -> None:
        load("numpy")
        self._tables = tables
        self._embedder = embedder
        self._vectors = vectors
        self._progress = progress
        self._scale: Sequence[float] | None = None

    @abstractmethod
    def cosines(
        self,
        texts: Sequence[str],
        among: RowSet | None = None,
        first: Places = (),
        goes_on: Callable[[], bool] = lambda: True,
    ) -> list[Nearness]:
        """The nearness of every passage that has a vector to each text; in a very large space only of the nearest ones, of
        `among`. Missing vectors are computed before: those of the passages `first`, and if few are missing, all, until
        `goes_on`, which is called after every few, returns False. Raises ProviderError."""

    def reads(self, text: str) -> bool:
        """Whether the embedder reads the language of a question: the bundled model reads only English."""
        # For other languages its nearest texts are arbitrary: of 24 prompts that needed nothing, 21 got notes; by words, one.
        return not (self._embedder.is_calibrated and is_foreign(text))

    def resumed(self, texts: Sequence[str], found: list[Nearness]) -> list[Nearness]:  # noqa: ARG002 - of a large space
        """The nearness that was `found` for these texts in another thread, with further rows measured here."""
        return found

    @abstractmethod
    def means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        """Those of `rows` that have passages, in order, and the mean direction of the passages of each; a few missing vectors
        are computed first.

        None if a passage still has no vector. Raises ProviderError.
        """

    @abstractmethod
    def complete(self, goes_on: Callable[[], bool]) -> None:
        """Computes missing vectors until `goes_on`, which is called after every batch, returns False.

        Raises ProviderError, StoreError, and OutdatedError if memories were erased meanwhile.
        """

    @abstractmethod
    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        """Stores the vectors of texts by their keys."""

    def _memories(self, rows: Sequence[int]) -> Sequence[Memory]:
        """The memories of these rows, with their texts as indexed."""
        return self._tables.fetch(rows)

    def _on_scale(self, cosines: Any) -> Any:
        """The cosines on the scale of MiniLM. The quantiles of a model are measured once and stored."""
        if self._embedder.is_calibrated:
            return cosines
        from memcli.index.scale import VERSION, from_bytes, own_spread, scaled, to_bytes

        if self._scale is None:
            known = self._vectors.scale(VERSION)
            self._scale = from_bytes(known) if known else None
        if self._scale is None:
            self._scale = own_spread(self._embedder)
            self._vectors.keep_scale(VERSION, to_bytes(self._scale))
        return scaled(cosines, self._scale)

    def _questions(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of questions, from the cache or computed. Raises ProviderError."""
        known = {text: self._vectors.question(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            made = dict(zip(new, self._embedder.embed(new, as_questions=True), strict=True))
            self._vectors.add_questions(made)
            known |= made
        return [known[text] or b"" for text in texts]

    def _by_worth(self, missing: frozenset[bytes]) -> list[bytes]:
        """The missing keys: first those of statements and documents, then of messages of commits, then of hunks, newest first."""
        found = [key for (key,) in self._tables.select(_BY_WORTH) if key in missing]
        return list(dict.fromkeys([*found, *sorted(missing)]))

    def _keys_of(self, places: Places) -> list[bytes]:
        """The keys of these passages, without those that no longer exist."""
        keys: dict[int, list[bytes]] = {}
        select = "SELECT row, key FROM passage WHERE row IN ? ORDER BY row, n"
        for row, key in self._tables.select(select, sorted({row for row, _ in places})):
            keys.setdefault(row, []).append(key)
        return [keys[row][n] for row, n in places if n < len(keys.get(row, ()))]

    def _embed_few(
        self, missing: frozenset[bytes], first: Places = (), goes_on: Callable[[], bool] = lambda: True
    ) -> bool:
        """Computes the vectors that a question waits for; returns whether there were any."""
        named = list(filter(missing.__contains__, self._keys_of(first))) if missing and first else []
        wanted = list(dict.fromkeys([*named, *(self._by_worth(missing) if len(missing) <= _AT_ONCE else ())]))
        self._embed(wanted, goes_on, _QUESTION_BATCH)
        return bool(wanted)

    def _embed(self, order: Sequence[bytes], goes_on: Callable[[], bool], at_once: int = 0) -> bool:
        """Computes vectors in this order, until `goes_on`, called after every `at_once`, returns False; returns whether all were
        computed."""
        step = at_once or _EMBED_BATCH
        for start in range(0, len(order), step):
            texts = self._texts(list(order[start : start + step]))
            keys = sorted(texts)
            self._keep(dict(zip(keys, self._embedder.embed([texts[key] for key in keys]), strict=True)))
            done = start + len(keys)
            if self._progress:
                self._progress(done, len(order))
            if done < len(order) and not goes_on():
                return False
        return True

    def _texts(self, keys: list[bytes]) -> dict[bytes, str]:
        """The texts of passages and windows by their keys."""
        texts: dict[bytes, str] = {}
        rows = [row for (row,) in self._tables.select("SELECT DISTINCT row FROM passage WHERE key IN ?", keys)]
        for memory in self._memories(sorted(rows)):
            found = {text_key(text): text for text in embedded_texts(memory, passages(memory))}
            texts |= {key: found[key] for key in found.keys() & frozenset(keys)}
        pairs = [(b, row) for b, row in self._tables.select("SELECT before, row FROM window WHERE key IN ?", keys)]
        members = sorted({row for pair in pairs for row in pair})
        by_row = dict(zip(members, self._memories(members), strict=True))
        for before, row in pairs:
            text = window_text(by_row[before].raw, by_row[row].raw)
            texts[text_key(text)] = text
        return texts


_Plan: TypeAlias = "tuple[array[int], array[int], array[int], array[int]]"
"""The rows and the slots of all passages, in order, and those of all windows; slot -1 means no vector."""
_BEFORE_LOADING = 2
"""Vectors are read from the file so many times, as one question with windows needs; further questions, of a long-running
process, load them into memory."""
_PASSAGES = "SELECT row, key FROM passage ORDER BY row, n"
_WINDOWS = "SELECT row, key FROM window ORDER BY row"
_UNUSABLE = (VectorsLostError, sqlite.Error, OutdatedError)
"""The errors of a cache that was deleted, damaged or outdated while this process uses it."""


class FileMeaning(Meaning):
    """The vectors of a space whose index is a file."""

    _tables: FileTables

    def __init__(self, tables: FileTables, embedder: Embedder, vectors: VectorFile, progress: Progress | None) -> None:
        super().__init__(tables, embedder, vectors, progress)
        self._db = tables.connection
        self._plan: _Plan | None = None
        self._uses = 0
        self._numbers: dict[int, Numbers | None] = {}
        self._starts: dict[int, int] = {}

    def complete(self, goes_on: Callable[[], bool]) -> None:
        with self._vectors.lock:
            try:
                self._prepare(None, goes_on)
            except VectorsLostError:  # vectors computed in memory would be lost at the end
                self._leave_file()
                raise StoreError(
                    "the cache was removed while vectors were computed", "`memcli store index embed` computes them"
                ) from None
            except sqlite.Error:
                self._leave_file()
                self._prepare(None, goes_on)

    def cosines(
        self,
        texts: Sequence[str],
        among: RowSet | None = None,  # noqa: ARG002 - all are measured
        first: Places = (),
        goes_on: Callable[[], bool] = lambda: True,
    ) -> list[Nearness]:
        with self._vectors.lock:  # a search that missed its deadline may still be running
            try:
                return self._cosines(texts, first, goes_on)
            except _UNUSABLE:
                self._leave_file()
                return self._cosines(texts, first, goes_on)

    def means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        with self._vectors.lock:
            try:
                return self._means(rows)
            except _UNUSABLE:
                self._leave_file()
                return self._means(rows)

    def _leave_file(self) -> None:
        """Computes all vectors in memory from now on: the file of vectors cannot be used."""
        self._vectors.go_on_in_memory()
        self._plan = None

    def _means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        import numpy

        known, slots = (numpy.frombuffer(part, numpy.int64) for part in self._prepare(())[:2])
        is_wanted = numpy.array([row in rows for row in known.tolist()], bool)
        known, slots = known[is_wanted], slots[is_wanted]
        if (slots < 0).any():
            return None
        found, starts = numpy.unique(known, return_index=True)
        return found, mean_directions(starts, len(slots), lambda part: self._vectors.values(slots[part]))

    def _cosines(self, texts: Sequence[str], first: Places, goes_on: Callable[[], bool]) -> list[Nearness]:
        plan = self._prepare(first, goes_on)
        if not texts:
            return []
        import numpy

        questions = self._questions(texts)
        rows, slots, window_rows, window_slots = (numpy.frombuffer(part, numpy.int64) for part in plan)
        if not self._starts:
            self._starts = first_of(rows)
        cosines = self._cosines_of(0, questions, slots)
        windows = self._cosines_of(1, questions, window_slots) if len(window_rows) else None
        return of_passages(self._starts, cosines, window_rows, windows, int(numpy.count_nonzero(slots < 0)))

    def _prepare(self, first: Places | None, goes_on: Callable[[], bool] = lambda: True) -> _Plan:
        """The plan, after computing missing vectors until `goes_on` returns False: those that a question waits for, which names
        the passages `first`, or all if `first` is None."""
        if self._plan is None and first is not None:
            self._plan = self._load_plan()
        if self._plan is None or self._lacks(self._plan, first):
            self._plan = self._make_plan(first, goes_on)
            self._uses, self._numbers, self._starts = 0, {}, {}
        return self._plan

    def _lacks(self, plan: _Plan, first: Places | None) -> bool:
        """Whether vectors are missing that `_prepare` must compute."""
        import numpy

        missing = sum(int(numpy.count_nonzero(numpy.frombuffer(part, numpy.int64) < 0)) for part in (plan[1], plan[3]))
        if first is None or missing <= _AT_ONCE:
            return missing > 0
        keys = self._keys_of(first)
        return len(self._vectors.slots(keys)) < len(set(keys))

    def _cosines_of(self, part: int, questions: Sequence[bytes], slots: Any) -> Any:
        """The cosines of a part of the plan, 0 for passages and 1 for windows, on the scale of MiniLM."""
        self._uses += 1
        if self._uses > _BEFORE_LOADING and part not in self._numbers:
            self._numbers[part] = self._vectors.load(slots)
        numbers = self._numbers.get(part)
        return self._on_scale(
            self._vectors.cosines(questions, slots) if numbers is None else numbers.cosines(as_numbers(questions))
        )

    def _load_plan(self) -> _Plan | None:
        """The stored plan, if it is of this version of the space and every vector that it lacks is still missing."""
        # The plan saves a look-up of each passage for every question.
        stored = self._db.execute("SELECT token, data FROM plan WHERE model = ?", (self._embedder.model,)).fetchone()
        if stored is None or stored[0] != self._token():
            return None
        numbers = array("q", stored[1])
        pieces, windows, count = numbers[:3]
        ends = (3, 3 + pieces, 3 + 2 * pieces, 3 + 2 * pieces + windows, 3 + 2 * pieces + 2 * windows)
        parts = [numbers[start:end] for start, end in pairwise(ends)]
        if any(slot < 0 for part in (parts[1], parts[3]) for slot in part) and count != self._vectors.count():
            return None
        return parts[0], parts[1], parts[2], parts[3]

    def _make_plan(self, first: Places | None, goes_on: Callable[[], bool]) -> _Plan:
        """A new plan, stored for the next process; missing vectors are computed as for `_prepare`."""
        pieces = self._db.execute(_PASSAGES).fetchall()
        windows = self._db.execute(_WINDOWS).fetchall()
        keys = list(dict.fromkeys(key for _, key in (*pieces, *windows)))
        slots = self._vectors.slots(keys)
        missing = frozenset(keys) - slots.keys()
        if missing:
            if first is None:
                self._embed(self._by_worth(missing), goes_on)
            else:
                self._embed_few(missing, first, goes_on)
            slots = self._vectors.slots(keys)
        plan = tuple(
            array("q", values)
            for found in (pieces, windows)
            for values in ((row for row, _ in found), (slots.get(key, -1) for _, key in found))
        )
        data = array("q", [len(pieces), len(windows), self._vectors.count()])
        for part in plan:
            data.extend(part)
        with suppress(sqlite.Error):  # a plan that cannot be stored is made again
            self._db.execute(
                "INSERT OR REPLACE INTO plan VALUES (?, ?, ?)", (self._embedder.model, self._token(), data.tobytes())
            )
        return plan[0], plan[1], plan[2], plan[3]

    def _token(self) -> str:
        """Changes with the space and with the file of vectors, as a plan is valid for one state of both."""
        fingerprint = self._db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        return f"{fingerprint[0] if fingerprint else ''}/{self._vectors.token}"

    def _keep(self, vectors: Mapping[bytes, bytes]) -> None:
        self._vectors.add(vectors, self._tables.is_outdated)

    def _memories(self, rows: Sequence[int]) -> Sequence[Memory]:
        return self._tables.source.clean(self._tables.fetch(rows))
