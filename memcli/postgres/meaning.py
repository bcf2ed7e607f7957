"""Meaning: how near each memory of a space is to a question. The server computes the dot products."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from memcli.errors import MemcliError, RefusedError
from memcli.index.documents import window_text
from memcli.index.meaning import first_of, of_passages
from memcli.index.scale import VERSION, Scale, from_bytes, own_spread, to_bytes
from memcli.index.vectors import text_key
from memcli.model.nearness import Nearness
from memcli.model.passages import embedded_texts, passages
from memcli.model.recall import RowSet
from memcli.numerics import load
from memcli.postgres.reading import memories
from memcli.postgres.vectors import NEAREST, Measured, ServerVectors, build_index, keep, mark_embedded
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.model.memory import Memory
    from memcli.ports import Embedder, Progress
    from memcli.postgres.reading import Read
    from memcli.postgres.server import Server

EXACT = 20_000
"""Up to so many passages, every one is measured; of more, the nearest by an index of the server, and those of candidates."""
_AT_ONCE = 512
"""How many vectors a question waits for, about ten seconds; with more to be made it is answered by those that are there."""
_EMBED_BATCH, _EMBED_SLICE = 64, 1024
_FILTERED = 4
"""So many times more of the nearest are looked at where a filter hides some."""
_WORTH = """
SELECT key FROM passage JOIN entry USING (space, row) WHERE space = %s
ORDER BY entry.kind = 'diff', entry.created_at DESC, entry.id, n
"""
_TURNS = """
SELECT earlier.id, later.id FROM turn
JOIN entry AS earlier ON earlier.space = turn.space AND earlier.row = turn.before
JOIN entry AS later ON later.space = turn.space AND later.row = turn.row
WHERE turn.space = %s AND turn.key = ANY(%s) ORDER BY turn.row
"""
_OF_KEYS = (
    "SELECT DISTINCT id FROM passage JOIN entry USING (space, row) WHERE space = %s AND key = ANY(%s) ORDER BY id"
)


class QuestionCache(Protocol):
    """What this machine keeps of a model: the vectors of questions, and the spread of its cosines."""

    def question(self, text: str) -> bytes | None:
        """The vector of a question asked before."""

    def add_questions(self, vectors: Mapping[str, bytes]) -> None:
        """Keeps the vectors of questions."""

    def scale(self, version: int) -> bytes | None:
        """What was kept of how the model spreads its cosines."""

    def keep_scale(self, version: int, data: bytes) -> None:
        """Keeps it."""


class VectorSource(Record):
    """What vectors are made of: `read` reads one version of a `space`, which has so many `passages`."""

    read: Read
    space: str
    passages: int


class ServerMeaning:
    """The vectors of one space, for one embedder."""

    def __init__(
        self, source: VectorSource, server: Server, embedder: Embedder, asked: QuestionCache, progress: Progress | None
    ) -> None:
        load("numpy")
        self._source = source
        self._server = server
        self._embedder = embedder
        self._asked = asked
        self._progress = progress
        self._vectors = ServerVectors(source.read, source.space, embedder.model, embedder.dimensions)
        self._scale: Scale | None = None

    @property
    def passages(self) -> int:
        """How many passages the space has."""
        return self._source.passages

    def cosines(self, texts: Sequence[str], among: RowSet | None = None) -> list[Nearness]:
        """How near each text is to every passage that has a vector, or of very many to the nearest; a few missing ones are
        made first. Raises ProviderError."""
        if not texts:
            return []
        if self._source.passages <= EXACT:
            return self._every(texts)
        missing = self._vectors.missing()
        if 0 < len(missing) <= _AT_ONCE:
            self._embed(missing)
            missing = self._vectors.missing()
        questions = self._questions(texts)
        rows = self._near(questions, among)
        return _Extended(self, questions, len(missing)).including(rows)

    def resumed(self, texts: Sequence[str], found: Sequence[Nearness]) -> list[Nearness]:
        """What another reader of the same version has `found` of a very large space, with more of it read here."""
        return _Extended(self, self._questions(texts), found[0].missing).including(found[0].rows.tolist())

    def complete(self, goes_on: Callable[[], bool]) -> None:
        """Makes the vectors that are missing for as long as it `goes_on`, which is asked after every batch. Raises
        ProviderError, StoreError."""
        if not self._embed(self._vectors.missing(), goes_on):
            return
        ((row,),) = self._source.read("SELECT coalesce(max(row), 0) FROM entry WHERE space = %s", (self._source.space,))
        with self._server.connected("keep vectors") as connection:
            mark_embedded(connection, self._source.space, self._embedder.model, row)

    def build_index(self) -> None:
        """Builds the index of the nearest vectors for a very large space. No snapshot may be open in this process: it would
        wait for that. Without the right to build it, questions are answered more slowly. Raises StoreError."""
        if self._source.passages > EXACT:
            with suppress(RefusedError), self._server.connected("build an index of vectors") as connection:
                build_index(connection, self._embedder.model, self._embedder.dimensions)

    def known(self, keys: int) -> int:
        """How many of so many texts have a vector."""
        return keys - len(self._vectors.missing())

    def means(self, rows: Collection[int]) -> tuple[Any, Any] | None:
        """Those of these rows that have passages, in order, and the mean direction of the passages of each; a few missing
        vectors are made first. None when a passage has no vector then. Raises ProviderError."""
        import numpy

        from memcli.index.meaning import mean_directions

        missing = self._vectors.missing()
        if 0 < len(missing) <= _AT_ONCE:
            self._embed(missing)
        found = self._vectors.values(rows)
        if found is None:
            return None
        known, values = found
        own, starts = numpy.unique(known, return_index=True)
        return own, mean_directions(starts, len(known), lambda part: values[part])

    def measure(
        self, questions: Sequence[bytes], rows: Collection[int] | None
    ) -> tuple[list[Nearness], frozenset[bytes]]:
        """The nearness of these rows, or of all, and the keys of those texts that have no vector."""
        found, turns = self._vectors.passages(questions, rows), self._vectors.turns(questions, rows)
        nearness = of_passages(
            first_of(found.rows), self._scaled(found), turns.rows, self._scaled(turns), found.unknown
        )
        return nearness, found.missing | turns.missing

    def _every(self, texts: Sequence[str]) -> list[Nearness]:
        questions = self._questions(texts)
        found, missing = self.measure(questions, None)
        if 0 < len(missing) <= _AT_ONCE:
            self._embed(missing)
            found, _ = self.measure(questions, None)
        return found

    def _near(self, questions: Sequence[bytes], among: RowSet | None) -> set[int]:
        """The rows that are nearest to any of the questions, and those whose vectors were just made."""
        if among is not None and among.only is not None and len(among.only) <= EXACT:
            return set(among.only)
        is_filtered = among is not None and (among.only is not None or bool(among.hidden))
        count = NEAREST * (_FILTERED if is_filtered else 1)
        rows = {row for question in questions for row in self._vectors.nearest(question, count)}
        return rows | set(self._vectors.rows_of(list(self._vectors.made)))

    def _scaled(self, found: Measured) -> Any:
        return found.cosines if self._embedder.is_calibrated else self._calibration().of(found.cosines)

    def _calibration(self) -> Scale:
        """What lays the cosines of the model on the scale of the floors, found once for each model."""
        if self._scale is None:
            known = self._asked.scale(VERSION)
            own = from_bytes(known) if known else None
            if own is None:
                own = own_spread(self._embedder)
                self._asked.keep_scale(VERSION, to_bytes(own))
            self._scale = Scale(own)
        return self._scale

    def _questions(self, texts: Sequence[str]) -> list[bytes]:
        known = {text: self._asked.question(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            made = dict(zip(new, self._embedder.embed(new, as_questions=True), strict=True))
            self._asked.add_questions(made)
            known |= made
        return [known[text] or b"" for text in texts]

    def _embed(self, missing: frozenset[bytes], goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Makes vectors, in the order in which they are worth most: what was told and documents, then newest changes;
        whether all were made."""
        order = self._by_worth(missing)
        for start in range(0, len(order), _EMBED_BATCH):
            texts = self._texts(order[start : start + _EMBED_BATCH])
            keys = sorted(texts)
            made = dict(zip(keys, self._embedder.embed([texts[key] for key in keys]), strict=True))
            self._vectors.made |= made
            with suppress(MemcliError), self._server.connected("keep vectors") as connection:
                keep(connection, self._source.space, self._embedder.model, made)  # a reader may not
            done = start + len(keys)
            if self._progress:
                self._progress(done, len(order))
            if done < len(order) and not goes_on():
                return False
        return True

    def _by_worth(self, missing: frozenset[bytes]) -> list[bytes]:
        if len(missing) <= _EMBED_BATCH:
            return sorted(missing)
        found = [key for (key,) in self._source.read(_WORTH, (self._source.space,)) if key in missing]
        return list(dict.fromkeys([*found, *sorted(missing)]))

    def _texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        wanted, at = frozenset(keys), (self._source.space, list(keys))
        texts: dict[bytes, str] = {}
        for memory in self._fetch([name for (name,) in self._source.read(_OF_KEYS, at)]).values():
            made = embedded_texts(memory, passages(memory))
            texts.update((key, text) for text in made if (key := text_key(text)) in wanted)
        pairs = self._source.read(_TURNS, at)
        by_id = self._fetch(sorted({name for pair in pairs for name in pair}))
        for before, name in pairs:
            text = window_text(by_id[before].raw, by_id[name].raw)
            texts[text_key(text)] = text
        return texts

    def _fetch(self, ids: Sequence[str]) -> dict[str, Memory]:
        return memories(self._source.read, self._source.space, ids) if ids else {}


class _Extended:
    """The nearness of some rows of a very large space to several questions; more rows are measured when they are asked for."""

    def __init__(self, meaning: ServerMeaning, questions: Sequence[bytes], missing: int) -> None:
        self._meaning = meaning
        self._questions = questions
        self._missing = missing
        self._rows: set[int] = set()
        self._found: list[Nearness] = []

    def including(self, rows: Collection[int]) -> list[Nearness]:
        """The nearness to each question, with these rows among those that are known."""
        if not self._found or not self._rows.issuperset(rows):
            self._rows.update(rows)
            found, _ = self._meaning.measure(self._questions, sorted(self._rows))
            total = self._meaning.passages
            self._found = [
                Nearness(one.rows, one.best, one.first, one.cosines, self._missing, total, self._more(n))
                for n, one in enumerate(found)
            ]
        return self._found

    def _more(self, n: int) -> Any:
        return lambda rows: self.including(rows)[n]
