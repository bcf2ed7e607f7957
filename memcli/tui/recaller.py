"""The recaller: questions put to the model, apart from the screen."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.recall import Bundle, Query
from memcli.tui.progress import Stopped, Voice


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
