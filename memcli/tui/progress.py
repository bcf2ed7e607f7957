"""The voice: what a workspace says while the screen is up, and the way to make its long work stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

_Hear = Callable[[str], object]


class Stopped(Exception):  # noqa: N818 - no error: the user asked for it
    """The work was given up at the user's wish."""


class Voice:
    """`warn` and `progress` for a workspace; they may be called from any thread. Silent until somebody listens."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._on_warning: _Hear = str
        self._on_progress: _Hear = str

    def listen(self, on_warning: _Hear, on_progress: _Hear) -> None:
        """Says what comes from now on to these two."""
        self._on_warning = on_warning
        self._on_progress = on_progress

    def warn(self, text: str) -> None:
        """A word of warning."""
        self._on_warning(text)

    def progress(self, done: int, total: int) -> None:
        """How far long work has come. Raises Stopped when it is to stop: what was done so far is kept."""
        if self._stop.is_set():
            raise Stopped
        self._on_progress(f"embedding {done:,} of {total:,} for the first question")

    def stop(self) -> None:
        """Makes the work under way stop at its next step."""
        self._stop.set()

    def start(self) -> None:
        """New work begins."""
        self._stop.clear()
