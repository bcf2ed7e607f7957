"""Values that a fork of this process makes, while this one uses those made before: as long as the slower of both, instead of the
sum."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection
from typing import TypeVar

from memcli.errors import StoreError
from memcli.model.findings import reason_of

T = TypeVar("T")

_PART = 16
"""The number of values that are sent at a time."""
_MOST = 64
"""The maximum number of parts that are made ahead: a history may be longer than the memory is large."""


def ahead(values: Iterator[T]) -> Generator[T, None, None]:
    """Yields `values`, made by a fork of this process if there is a processor for it; raises what they raise.

    What making them changes in memory is lost. Ended early, it ends the fork, as the end of this process does.
    """
    # A lock that another thread holds at the fork would stay locked in it; and frameworks of macOS do not survive one.
    if sys.platform != "linux" or threading.active_count() > 1 or len(os.sched_getaffinity(0)) < 2:
        yield from values
        return
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    maker = context.Process(target=_make, args=(values, reader, writer), daemon=True)
    try:
        maker.start()
    except OSError:  # no process, or no memory, is left for one
        reader.close()
        writer.close()
        yield from values
        return
    writer.close()
    try:
        is_last = False
        while not is_last:
            try:
                part, error, is_last = pickle.loads(reader.recv_bytes())  # noqa: S301 - from the fork
            except (EOFError, OSError):  # before a part, or within one
                raise StoreError("the process that reads ahead was killed", "run the command again") from None
            yield from part
            if error is not None:
                raise error
    finally:
        reader.close()
        maker.terminate()
        maker.join()


def _make(values: Iterator[T], reader: Connection, writer: Connection) -> None:
    """Sends the values in parts; each with the error that ended them, if any, and whether it is the last one."""
    reader.close()  # so that writing fails once the other process has ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parts: queue.Queue[bytes] = queue.Queue(_MOST)

    def send() -> None:
        try:
            while data := parts.get():
                writer.send_bytes(data)
        except OSError:
            os._exit(1)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    part: list[T] = []
    error: Exception | None = None
    try:
        for value in values:
            part.append(value)
            if len(part) == _PART:
                parts.put(pickle.dumps((part, None, False)))
                part = []
    except Exception as caught:  # noqa: BLE001 - the other process raises it
        error = caught
    try:
        last = pickle.dumps((part, error, True))
    except Exception:  # noqa: BLE001 - an error may hold anything
        last = pickle.dumps(([], RuntimeError(reason_of(error)) if error else error, True))
    parts.put(last)
    parts.put(b"")
    sender.join()
