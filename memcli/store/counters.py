"""The counters: `local/counters` has a line for each event that is not folded yet, `local/counters.totals` the sums of the
others.

A line is appended under a lock, so that none is lost while another process folds. The log begins with a mark of its own.
A fold writes the sums, with this mark and the number of bytes that it read, before it removes the log: killed in between,
these bytes are already known to be counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from memcli.beneath import make
from memcli.errors import MemcliError
from memcli.model.usage import RUN
from memcli.store.atomic import append_line
from memcli.store.layout import Layout
from memcli.store.lock import locked

if TYPE_CHECKING:
    from memcli.model.counting import Totals

MAX_BYTES = 64_000
"""How long the log may grow before it is folded."""
_WAIT_SECONDS = 1.0
_MARK_BYTES = 8


class FileCounters:
    """The counters of the store at `layout`; nothing is added unless `is_recording`."""

    def __init__(
        self,
        layout: Layout,
        is_recording: Callable[[], bool] = lambda: True,
        max_bytes: int = MAX_BYTES,
        wait: float = _WAIT_SECONDS,
    ) -> None:
        self._path, self._lock = layout.local("counters"), layout.local("counters.lock")
        self._is_recording, self._max_bytes, self._wait = is_recording, max_bytes, wait

    def ran(self, command: str, space: str, backend: str, code: int, seconds: float) -> None:
        self._add(RUN, command, space, backend, str(code), str(round(seconds * 1e6)))

    def count(self, event: str, *labels: str, amount: int = 1) -> None:
        self._add(event, *labels, str(amount))

    def read(self) -> Totals:
        from memcli.store.counter_totals import read_totals

        with suppress(MemcliError), locked(self._lock, "the counters", self._wait):
            return read_totals(self._path)
        return read_totals(self._path)  # as in a store that cannot be written

    def _add(self, *parts: str) -> None:
        line = "\t".join(parts).encode()
        with suppress(OSError, MemcliError):
            if not self._is_recording():
                return
            folder = os.path.dirname(self._path)
            if not os.path.isdir(folder):
                make(folder, 0o700)  # fails where the store itself is gone
            with locked(self._lock, "the counters", self._wait):
                size = self._size()
                append_line(self._path, line if size else b"#%s\n%s" % (os.urandom(_MARK_BYTES).hex().encode(), line))
                if size > self._max_bytes:
                    from memcli.store.counter_totals import fold

                    fold(self._path)

    def _size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except FileNotFoundError:
            return 0
