"""Vectors of signed bytes as numbers: their cosines, the same to the last bit on every machine.

A record is a header, the squared norm of a vector, and the vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

HEADER_BYTES = 8  # the squared norm, as a little-endian whole number
_MOST_EXACT = (1 << 24) // 127**2
"""Dimensions: the dot product of two vectors is then below 2^24, and exact in float32."""


class Numbers:
    """Records as numbers that cosines are computed of."""

    def __init__(self, records: Any) -> None:
        import numpy

        squares = numpy.ascontiguousarray(records[:, :HEADER_BYTES]).view("<i8").ravel()
        self._squares = squares.astype(numpy.float64)
        self._values = records[:, HEADER_BYTES:].view(numpy.int8).astype(_exact(records.shape[1] - HEADER_BYTES))

    def cosines(self, questions: Any) -> Any:
        """The cosine of each question, as `asked` gives them, with each record."""
        # Whole numbers that are exact whatever the order of the sum, so every CPU agrees.
        dots = questions @ self._values.T
        return cosines_by(dots, self._squares, questions)


def cosines_by(dots: Any, squares: Any, questions: Any) -> Any:
    """The cosines by the dot products, [questions, passages], and the squared norms of the passages."""
    import numpy

    norms = numpy.sqrt(squares * (questions * questions).sum(axis=1, dtype=numpy.float64)[:, None])
    return dots.astype(numpy.float64) / numpy.maximum(norms, 1.0)


def cosines_of(questions: Sequence[bytes], passages: Sequence[bytes]) -> Any:
    """The cosine of each question with each passage: float64 [len(questions), len(passages)]."""
    import numpy

    records = numpy.frombuffer(b"".join(map(record, passages)), numpy.uint8).reshape(len(passages), -1)
    return Numbers(records).cosines(asked(questions))


class LoadedVectors:
    """Vectors kept as numbers, some of them missing."""

    def __init__(self, numbers: Numbers, missing: Any) -> None:
        self._numbers, self._missing = numbers, missing

    def cosines(self, questions: Sequence[bytes]) -> Any:
        """As `VectorFile.cosines` for the slots that were loaded."""
        import numpy

        found = self._numbers.cosines(asked(questions))
        found[:, self._missing] = numpy.nan
        return found


def asked(questions: Sequence[bytes]) -> Any:
    """The vectors of questions as numbers."""
    import numpy

    values = numpy.frombuffer(b"".join(questions), numpy.int8).reshape(len(questions), -1)
    return values.astype(_exact(values.shape[1]))


def _exact(dimensions: int) -> Any:
    """The smallest floats that hold the dot product of two vectors exactly."""
    import numpy

    return numpy.float32 if dimensions <= _MOST_EXACT else numpy.float64


def record(vector: bytes) -> bytes:
    """The vector behind its header."""
    square = sum((b - 256 if b > 127 else b) ** 2 for b in vector)
    return square.to_bytes(HEADER_BYTES, "little") + vector
