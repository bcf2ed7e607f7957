"""Vectors of words by feature hashing: fast and without a model, but synonyms are unrelated."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from memcli.text.words import VERSION, terms

if TYPE_CHECKING:
    pass

DIMENSIONS = 384


class HashedEmbedder:
    """Adds 1 or -1 for each term in the component that its hash selects; texts that share words are near each other."""

    model = f"hashed-1-{VERSION}"
    """Changes when the same terms no longer have the same vectors."""
    dimensions = DIMENSIONS
    is_calibrated = True  # its cosines measure shared words: there is no scale of meaning to fit

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:  # noqa: ARG002
        """One vector for each text."""
        vectors = []
        for text in texts:
            counts = [0] * DIMENSIONS
            for term in terms(text):
                place, sign = _place(term)
                counts[place] += sign
            vectors.append(quantised(counts))
        return vectors


@lru_cache(maxsize=100_000)
def _place(term: str) -> tuple[int, int]:
    number = int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (number >> 1) % DIMENSIONS, 1 if number & 1 else -1


def quantised(values: Sequence[float]) -> bytes:
    """The values as signed bytes, scaled so that the largest is 127; all zeros stay zeros."""
    peak = max(map(abs, values)) or 1
    return array("b", [round(value * 127 / peak) for value in values]).tobytes()
