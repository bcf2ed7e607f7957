"""Meaning: how near each memory of a space is to a question, by the vectors of its pieces.

A memory is as near as its nearest piece. What was said in talk is also embedded together with what was said before
it, because an answer often repeats no word of its question; the two count alike.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, TypeVar

from memcli.errors import ProviderError
from memcli.index.documents import chunk_texts, window_text
from memcli.index.vectors import VectorFile, VectorsLostError, text_key
from memcli.model.memory import Memory
from memcli.ports import Embedder, Progress, Snapshot

WINDOW_SHARE = 0.5
"""What a memory together with the one before it counts, beside the memory alone."""

_T = TypeVar("_T")
_EMBED_BATCH = 64
_AT_ONCE = 512
"""How many vectors a question waits for, about ten seconds: with more to be made it had better be answered by words."""
_PIECES = "SELECT row, key FROM chunk ORDER BY row, n"
_WINDOWS = "SELECT row, key FROM window ORDER BY row"


class Meaning:
    """The vectors of one indexed space, for one embedder."""

    def __init__(
        self,
        db: sqlite3.Connection,
        snapshot: Snapshot,
        embedder: Embedder,
        vectors: VectorFile,
        progress: Progress | None,
    ) -> None:
        self._db = db
        self._snapshot = snapshot
        self._embedder = embedder
        self._vectors = vectors
        self._progress = progress
        self._plan: tuple[array[int], array[int], array[int], array[int]] | None = None

    def complete(self) -> None:
        """Makes all vectors that are missing. Raises ProviderError."""
        with self._vectors.lock:
            self._safely(lambda: self._prepare(None))

    def cosines(self, texts: Sequence[str]) -> list[dict[int, float]]:
        """For each text the cosine of every row with it. Raises ProviderError, also when too many vectors are missing."""
        with self._vectors.lock:  # a search that missed its deadline may still be at work
            return self._safely(lambda: self._cosines(texts))

    def _safely(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except (VectorsLostError, sqlite3.Error):  # the cache was deleted or damaged while this process works with it
            self._vectors.go_on_in_memory()
            self._plan = None
            return work()

    def passages(self, text: str, memory: Memory) -> list[tuple[float, str]]:
        """The pieces of a memory that is embedded, with their cosines, nearest first."""
        (question,) = self._questions([text])
        pieces = list(dict.fromkeys(chunk_texts(memory)))
        keys = [text_key(piece) for piece in pieces]
        slots = self._vectors.slots(keys)
        scores = self._vectors.cosines(question, [slots[key] for key in keys]).tolist()
        return sorted(zip(scores, pieces, strict=True), key=lambda found: (-round(found[0], 6), found[1]))

    def _cosines(self, texts: Sequence[str]) -> list[dict[int, float]]:
        self._prepare(_AT_ONCE)
        return [self._nearness(question) for question in self._questions(texts)]

    def _prepare(self, most: int | None) -> None:
        if self._plan is None:
            self._plan = self._load_plan() or self._make_plan(most)

    def _nearness(self, question: bytes) -> dict[int, float]:
        assert self._plan is not None
        import numpy

        rows, slots, window_rows, window_slots = (numpy.frombuffer(part, numpy.int64) for part in self._plan)
        if not len(rows):
            return {}
        starts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 1))
        best = numpy.maximum.reduceat(self._vectors.cosines(question, slots), starts)
        own = rows[starts]
        if len(window_rows):
            at = numpy.searchsorted(own, window_rows)
            near = self._vectors.cosines(question, window_slots)
            best[at] = (1 - WINDOW_SHARE) * best[at] + WINDOW_SHARE * near
        return dict(zip(own.tolist(), best.tolist(), strict=True))

    def _questions(self, texts: Sequence[str]) -> list[bytes]:
        known = {text: self._vectors.question(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            made = dict(zip(new, self._embedder.embed(new), strict=True))
            self._vectors.add_questions(made)
            known |= made
        return [known[text] or b"" for text in texts]

    def _load_plan(self) -> tuple[array[int], array[int], array[int], array[int]] | None:
        stored = self._db.execute("SELECT token, data FROM plan WHERE model = ?", (self._embedder.model,)).fetchone()
        if stored is None or stored[0] != self._token():
            return None
        numbers = array("q", stored[1])
        pieces, windows = numbers[0], numbers[1]
        ends = (2, 2 + pieces, 2 + 2 * pieces, 2 + 2 * pieces + windows, 2 + 2 * pieces + 2 * windows)
        parts = [numbers[start:end] for start, end in pairwise(ends)]
        return parts[0], parts[1], parts[2], parts[3]

    def _make_plan(self, most: int | None) -> tuple[array[int], array[int], array[int], array[int]]:
        """Where the vector of every piece is, those that were missing made first, `most` of them at most; kept for the
        next process."""
        pieces = self._db.execute(_PIECES).fetchall()
        windows = self._db.execute(_WINDOWS).fetchall()
        keys = list(dict.fromkeys(key for _, key in (*pieces, *windows)))
        slots = self._vectors.slots(keys)
        missing = frozenset(keys) - slots.keys()
        if missing:
            if most is not None and len(missing) > most:
                raise ProviderError(
                    f"{len(missing):,} of {len(keys):,} vectors are missing (`memcli index embed` computes them)"
                )
            self._embed(missing)
            slots = self._vectors.slots(keys)
        plan = tuple(
            array("q", values)
            for found in (pieces, windows)
            for values in ((row for row, _ in found), (slots[key] for _, key in found))
        )
        data = array("q", [len(pieces), len(windows)])
        for part in plan:
            data.extend(part)
        with suppress(sqlite3.Error):  # a cache that cannot be written is done without
            self._db.execute(
                "INSERT OR REPLACE INTO plan VALUES (?, ?, ?)", (self._embedder.model, self._token(), data.tobytes())
            )
        return plan[0], plan[1], plan[2], plan[3]

    def _token(self) -> str:
        """Changes with the space and with the file of vectors: a plan holds for one state of both."""
        fingerprint = self._db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        return f"{fingerprint[0] if fingerprint else ''}/{self._vectors.token}"

    def _embed(self, missing: frozenset[bytes]) -> None:
        texts = self._texts(missing)
        # Longest first, so that the texts of one batch are of one length and the bar slows down at no time.
        order = sorted(texts, key=lambda key: (-len(texts[key]), key))
        for start in range(0, len(order), _EMBED_BATCH):
            batch = order[start : start + _EMBED_BATCH]
            values = self._embedder.embed([texts[key] for key in batch])
            self._vectors.add(dict(zip(batch, values, strict=True)))
            if self._progress:
                self._progress(start + len(batch), len(order))

    def _texts(self, missing: frozenset[bytes]) -> dict[bytes, str]:
        texts: dict[bytes, str] = {}
        rows = sorted({row for row, key in self._db.execute("SELECT row, key FROM chunk") if key in missing})
        for memory in self._fetch(rows):
            texts.update((key, text) for text in chunk_texts(memory) if (key := text_key(text)) in missing)
        pairs = [(b, r) for b, r, key in self._db.execute("SELECT before, row, key FROM window") if key in missing]
        wanted = sorted({row for pair in pairs for row in pair})
        by_row = dict(zip(wanted, self._fetch(wanted), strict=True))
        for before, row in sorted(pairs):
            text = window_text(by_row[before].raw, by_row[row].raw)
            texts[text_key(text)] = text
        return texts

    def _fetch(self, rows: Sequence[int]) -> list[Memory]:
        select = "SELECT id, start, length FROM memory WHERE row = ?"
        places: list[tuple[Any, ...]] = [self._db.execute(select, (row,)).fetchone() for row in rows]
        return self._snapshot.fetch([(name, start, length) for name, start, length in places])
