"""Progress and questions: what a workspace reports while the screen is up, how to stop it, and recall in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.recall import Bundle, Query

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


class Recaller:
    """Asks in one thread of its own: an index belongs to the thread that opened it."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._thread = ThreadPoolExecutor(1, "recall")

    async def ask(self, workspace: Workspace, query: Query) -> Bundle | None:
        """The answer, or None when it was given up: a new question, or `stop`, makes an end to the one before.

        Raises CorruptError, StoreError, ProviderError.
        """
        self._voice.stop()
        return await asyncio.wrap_future(self._thread.submit(self._answer, workspace, query))

    def stop(self) -> None:
        """Gives up what is being answered."""
        self._voice.stop()

    def close(self) -> None:
        """Gives up what is being answered, and takes no more questions."""
        self.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _answer(self, workspace: Workspace, query: Query) -> Bundle | None:
        self._voice.start()
        try:
            return next(iter(recall(workspace, [query])))
        except Stopped:
            return None
