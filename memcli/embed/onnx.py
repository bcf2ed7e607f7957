"""all-MiniLM-L6-v2 on onnxruntime: the model that comes with memcli. Only this module knows its libraries.

A vector is the same to the last bit whatever else is embedded with it. Every text runs at its own length, in batches
of equal length without padding, and every run is single-threaded (cores work on batches of their own): padding
changes the order in which onnxruntime adds, and so its rounding, and many threads may.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING

from memcli.embed import wordpiece
from memcli.errors import ProviderError
from memcli.numerics import load

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from memcli.ports import Progress

FOLDER = Path(__file__).parent
MODEL = "minilm.onnx"
TOKENIZER = "tokenizer.json"
MODEL_DIGEST = "a1e2e3c6dae0ab47cc63d8005d381af0bc1b6cb447dddc0a69a0613696a34c49"
TOKENIZER_DIGEST = "5ac679f65dec05d964c296dbe2d2ee4ad86dc110efd8468e77ba8a55d3fc1fbc"
DIMENSIONS = 384

_RECIPE = "1"
"""Changes when this module makes other vectors of the same files."""
_PAIR = 2
_MAX_CHARACTERS = 4096
_BATCH_TOKENS = 512
_BULK = 8


def verify(folder: Path = FOLDER) -> list[str]:
    """What is wrong with the model's files; nothing when they are as published."""
    pinned = {MODEL: MODEL_DIGEST, TOKENIZER: TOKENIZER_DIGEST}
    return [f"{name}: {problem}" for name, digest in pinned.items() if (problem := _problem(folder / name, digest))]


def _problem(path: Path, digest: str) -> str:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if found == digest else "differs from what was published"


class OnnxEmbedder:
    """Sentence vectors, 384 signed bytes each. Loads the model when the first text comes."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._tokenizer: Tokenizer | None = None
        self._session: InferenceSession | None = None
        self._vocabulary: dict[str, int] | None = None
        self._is_unpacked = False
        self._asked = 0

    @property
    def model(self) -> str:
        """A digest of the model's two files and of what is done with them."""
        parts = f"{MODEL_DIGEST} {TOKENIZER_DIGEST} {_RECIPE}"
        return f"minilm-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"

    @property
    def dimensions(self) -> int:
        """Bytes in a vector."""
        return DIMENSIONS

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> list[bytes]:
        """One vector for each text, by what its first 256 tokens mean. Raises ProviderError."""
        if not texts:
            return []
        self._asked += len(texts)
        with _failures_reported():
            ids = self._token_ids(texts)
            session = self._session_for(self._asked)
        vectors = [b""] * len(texts)
        done = 0
        for rows, made in _in_parallel(lambda rows: _run(session, [ids[i] for i in rows]), _batches(ids)):
            for row, vector in zip(rows, made, strict=True):
                vectors[row] = vector
            done += len(rows)
            if progress:
                progress(done, len(texts))
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> list[array[int]]:
        if len(texts) <= _PAIR and all(map(wordpiece.is_plain, texts)):
            return [array("H", wordpiece.encode(_beginning(text), self._words())) for text in texts]
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        # One by one: encode_batch starts threads of its own, and then warns on stderr when the process forks.
        return [array("H", self._tokenizer.encode(_beginning(text)).ids) for text in texts]

    def _words(self) -> dict[str, int]:
        """The vocabulary alone, for plain questions: the library takes several times as long to start."""
        if self._vocabulary is None:
            with (self._folder / TOKENIZER).open(encoding="utf-8") as file:
                self._vocabulary = json.load(file)["model"]["vocab"]
        return self._vocabulary

    def _session_for(self, asked: int) -> InferenceSession:
        """A session that starts soon, or after some texts one that runs fast."""
        is_bulk = asked >= _BULK
        if self._session is None or (is_bulk and not self._is_unpacked):
            self._session = _open_session(self._folder / MODEL, is_bulk)
            self._is_unpacked = is_bulk
        return self._session


@contextmanager
def _failures_reported() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # neither library has a base class of its own for errors, one raises bare Exceptions
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        hint = "run 'memcli doctor'; reinstalling memcli puts the model's files and libraries back"
        raise ProviderError(f"the embedding model cannot be loaded: {reason}", hint) from error


def _open_session(path: Path, is_unpacked: bool) -> InferenceSession:
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
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> ModuleType:
    """onnxruntime, and with it numpy: without its telemetry, which writes to the home directory and calls home."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    return load("onnxruntime")


def _beginning(text: str) -> str:
    """As much of the text as can matter, without the lone surrogates that cannot be encoded."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _batches(ids: Sequence[array[int]]) -> list[list[int]]:
    """The places of texts of equal length, longest first: the last batches to finish are then short."""
    places: dict[int, list[int]] = {}
    for i, tokens in enumerate(ids):
        places.setdefault(len(tokens), []).append(i)
    return [
        rows[start : start + step]
        for length, rows in sorted(places.items(), reverse=True)
        for step in [max(1, _BATCH_TOKENS // length)]
        for start in range(0, len(rows), step)
    ]


def _in_parallel(
    run: Callable[[list[int]], list[bytes]], batches: list[list[int]]
) -> Iterator[tuple[list[int], list[bytes]]]:
    """Each batch with what `run` gives for it, in order, worked out on all cores."""
    workers = min(_cores(), len(batches))
    if workers == 1:
        yield from ((batch, run(batch)) for batch in batches)
        return
    if len(batches) == _PAIR:
        yield from zip(batches, _both(run, batches), strict=True)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    try:
        yield from zip(batches, pool.map(run, batches), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


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


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(session: InferenceSession, ids: list[array[int]]) -> list[bytes]:
    import numpy as np

    tokens = np.array(ids, np.int64)
    (vectors,) = session.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
    return _quantised(vectors)


def _quantised(vectors: npt.NDArray[np.float32]) -> list[bytes]:
    """The vectors as signed bytes, the largest component of each as 127; zeros stay zeros."""
    import numpy as np

    wide = vectors.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1
    return [row.tobytes() for row in np.rint(wide * 127 / peaks).astype(np.int8)]
