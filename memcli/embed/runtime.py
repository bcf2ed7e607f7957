"""Sentence models on onnxruntime: how a session is opened, and texts are run and their vectors rounded.

Every run is single-threaded, and cores work on batches of their own: many threads may change the order in which
onnxruntime adds, and so its rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Thread
from types import ModuleType

from memcli.errors import MemcliError, ProviderError
from memcli.numerics import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnxruntime import InferenceSession

    from memcli.ports import Progress

_PAIR = 2
LARGEST = 3.4e38
"""What a component of a vector may be: the largest number that 32 bits hold."""


@contextmanager
def failures_reported(what: str, hint: str) -> Iterator[None]:
    """Raises whatever the libraries raise as a ProviderError: `what` failed, and the first line of the reason."""
    try:
        yield
    except MemcliError:
        raise
    except Exception as error:  # neither library has a base class of its own for errors, one raises bare Exceptions
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ProviderError(f"{what}: {reason}", hint) from error


def open_session(path: str, *, is_unpacked: bool) -> InferenceSession:
    """Opens the model; unpacked, its weights are made floats once and not in every run.

    The same bits either way: packing weights for the processor's kernels would round differently, so it is off.
    """
    onnxruntime = _onnxruntime()
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if is_unpacked else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.add_session_config_entry("session.disable_prepacking", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> ModuleType:
    """onnxruntime, and with it numpy: without its telemetry, which writes to the home directory and calls home."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    return load("onnxruntime")


def beginning(text: str, most: int) -> str:
    """The first `most` characters of a text, without the lone surrogates that cannot be encoded."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """The places of texts of equal length, about as many as have so many `tokens` in all, and at least one.

    Longest first: the last batches to finish are then short.
    """
    places: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        places.setdefault(length, []).append(i)
    return [
        rows[start : start + step]
        for length, rows in sorted(places.items(), reverse=True)
        for step in [max(1, tokens // max(1, length))]
        for start in range(0, len(rows), step)
    ]


def run_all(
    run: Callable[[list[int]], list[bytes]], batches: list[list[int]], count: int, progress: Progress | None
) -> list[bytes]:
    """The vectors of `count` texts, which `run` returns for the places in each batch, computed on all cores."""
    vectors = [b""] * count
    done = 0
    workers = min(cores(), len(batches))
    with ExitStack() as stack:
        made: Iterable[list[bytes]]
        if workers == 1:
            made = map(run, batches)
        elif len(batches) == _PAIR:
            made = _both(run, batches)
        else:
            from concurrent.futures import ThreadPoolExecutor

            pool = ThreadPoolExecutor(workers)
            stack.callback(pool.shutdown, cancel_futures=True)
            made = pool.map(run, batches)
        for rows, computed in zip(batches, made, strict=True):
            for row, vector in zip(rows, computed, strict=True):
                vectors[row] = vector
            done += len(rows)
            if progress:
                progress(done, count)
    return vectors


def _both(run: Callable[[list[int]], list[bytes]], batches: list[list[int]]) -> list[list[bytes]]:
    """What `run` gives for two batches, at the same time: a question is often asked in two forms.

    A pool would do, but takes longer to import than the second form takes to run.
    """
    other: list[list[bytes]] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            other.append(run(batches[1]))
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=work)
    thread.start()
    first = run(batches[0])
    thread.join()
    if errors:
        raise errors[0]
    return [first, other[0]]


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def quantised(vectors: npt.NDArray[np.floating]) -> list[bytes]:
    """The vectors as signed bytes, the largest component of each as 127; zeros stay zeros. Raises ProviderError for numbers
    that are not finite, or too large."""
    import numpy as np

    wide = vectors.astype(np.float64)
    if not (np.abs(wide) <= LARGEST).all():
        raise ProviderError("the model answers with numbers that are not finite, or too large", "try another model")
    peaks = np.abs(wide).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1
    return [row.tobytes() for row in np.rint(wide * 127 / peaks).astype(np.int8)]
