"""What this machine keeps of a model whose vectors are on a server: those of questions, and the spread of its cosines."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress

from memcli.beneath import make
from memcli.index.vectors import VectorFile


class Questions:
    """The questions asked of a model, kept in `folder`; in memory alone where that cannot be written."""

    def __init__(self, folder: str, model: str, dimensions: int) -> None:
        try:
            os.stat(os.path.dirname(os.path.normpath(folder)))  # a store that was moved away must not come back
            with suppress(FileExistsError):
                make(folder, 0o700)
            self._vectors = VectorFile(folder, model, dimensions)
        except (sqlite3.Error, OSError):
            self._vectors = VectorFile(None, model, dimensions)

    def question(self, text: str) -> bytes | None:
        """The vector of a question asked before."""
        with suppress(sqlite3.Error):
            return self._vectors.question(text)
        return None

    def add_questions(self, vectors: Mapping[str, bytes]) -> None:
        """Keeps the vectors of questions by the digests of their texts."""
        with suppress(sqlite3.Error):
            self._vectors.add_questions(vectors)

    def scale(self, version: int) -> bytes | None:
        """What was kept of how the model spreads its cosines."""
        with suppress(sqlite3.Error):
            return self._vectors.scale(version)
        return None

    def keep_scale(self, version: int, data: bytes) -> None:
        """Keeps it, for one version of how it is measured."""
        with suppress(sqlite3.Error):
            self._vectors.keep_scale(version, data)
