"""The status line above the keys: counts, messages, and the progress of recalls and other long work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError
from memcli.extras.tui.view import BrowseView
from memcli.model.recall import Bundle, Query
from memcli.present.memory import count_of
from memcli.render.clean import clean_line

_Listener = Callable[[str], object]


class Recaller:
    """Runs recalls in one thread of its own, since an index can only be used in the thread that opened it.

    `warn` and `progress` are for the workspace, which may call them from any thread. They pass text on to `on_warning` and
    `on_progress`, which do nothing until they are replaced.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "recall")
        self._stop = threading.Event()
        # `str` takes a text and has no effect.
        self.on_warning: _Listener = str
        self.on_progress: _Listener = str

    def warn(self, text: str) -> None:
        """Passes a warning on to `on_warning`."""
        self.on_warning(text)

    def progress(self, done: int, total: int) -> None:
        """Passes the progress of embedding on to `on_progress`. Raises CancelledError after `stop`: vectors made so far remain."""
        if self._stop.is_set():
            raise CancelledError
        self.on_progress(f"embedding {done:,} of {total:,} for the first question")

    async def recall(self, workspace: Workspace, query: Query) -> Bundle | None:
        """The answer to a query; None if it was cancelled, by `stop` or by a later query.

        Raises CorruptError, StoreError, ProviderError.
        """

        def answer() -> Bundle | None:
            self._stop.clear()
            try:
                return next(iter(recall(workspace.copy_with(is_noted=False), [query])))
            except CancelledError:
                return None

        # The recall before ends at its next step; `answer` clears the event when its turn comes in the only thread.
        self._stop.set()
        return await asyncio.wrap_future(self._thread.submit(answer))

    def stop(self) -> None:
        """Cancels the current recall, at its next report of progress."""
        self._stop.set()

    def close(self) -> None:
        """Cancels the current recall and those that wait, and accepts no more."""
        self.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)


_SECONDS = 6.0


class Status(Static):
    """The status line: the usual text, a message for some seconds, or current work."""

    DEFAULT_CSS = """
    Status { height: 1; padding: 0 2; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._usual = ""
        self._timer: Timer | None = None
        self._works = False

    def settle(self, text: str) -> None:
        """Sets the usual text, which is shown when there is neither a message nor work."""
        self._usual = text
        if self._timer is None and not self._works:
            self._put(text)

    def say(self, text: str) -> None:
        """Shows a message for some seconds."""
        self.rest()
        self._timer = self.set_timer(_SECONDS, self.rest)
        self._put(text)

    def work(self, text: str) -> None:
        """Shows work that has begun, until `rest`."""
        self.rest()
        self._works = True
        self._put(text)

    def report_progress(self, text: str) -> None:
        """Shows the progress of current work; ignored if it has ended."""
        if self._works:
            self._put(text)

    def rest(self) -> None:
        """Shows the usual text: the message has been read, or the work has ended."""
        if self._timer is not None:
            self._timer.stop()
        self._timer, self._works = None, False
        self._put(self._usual)

    def _put(self, text: str) -> None:
        self.update(Content(clean_line(text)))


def explain(error: MemcliError | OSError) -> str:
    """The message and the hint of an error, on lines of their own."""
    lines = [error.message, error.hint] if isinstance(error, MemcliError) else [error.strerror or str(error)]
    return "\n".join(clean_line(line) for line in lines if line)


def title(view: BrowseView) -> str:
    """The title of the list: the scope as space, path, kinds and tags."""
    if view.answer is not None:
        return "answers"
    scope = view.scope
    kinds = f"kind {' or '.join(scope.kinds)}" if scope.kinds else ""
    parts = [
        view.catalogue.space,
        scope.under and f"{scope.under.strip('/')}/",
        kinds,
        *(f"#{tag}" for tag in scope.tags),
    ]
    return clean_line(" · ".join(part for part in parts if part))


def summary(view: BrowseView) -> str:
    """The usual text of the status line: how many memories are shown, and how many are not."""
    listed = view.catalogue.listed
    total = len(listed) - view.left_out
    if view.answer is not None:
        if view.answer.reason:
            return "no match; showing pinned memories" if view.found else "no match"
        answers = sum(bool(section.why) for section in view.answer.sections)
        also_pinned = f", and {view.found - answers:,} pinned" if view.found > answers else ""
        more = f", {view.answer.withheld:,} more match" if view.answer.withheld else ""
        sure = "weak evidence" if view.answer.is_weak else "best first"
        return f"{answers:,} found, {sure}{also_pinned}{more}; Esc returns to the tree"
    if view.words.strip():
        return f"{view.found:,} of {count_of(total, 'memory', 'memories')}; Enter searches, Esc clears"
    pinned = sum(one.is_pinned for one in listed)
    left_out = f"; {view.left_out:,} forgotten or superseded hidden, a shows them" if view.left_out else ""
    return f"{count_of(total, 'memory', 'memories')}, {pinned:,} pinned{left_out}"


def nothing(view: BrowseView) -> str:
    """The text of an empty list: why there are no rows, and which key helps."""
    if view.answer is not None:
        return "No memory in this space matches.\n\nEsc returns to the tree."
    if view.words.strip():
        return "No memory contains all of these words.\n\nEnter searches by meaning, Esc clears the filter."
    if view.left_out:
        return "All memories here are forgotten or superseded.\n\na shows them."
    if view.scope.kinds or view.scope.tags:
        return "No memory matches the command line."
    return 'No memories yet.\n\nPress n to add one, or run\nmemcli remember "We chose ..."'
