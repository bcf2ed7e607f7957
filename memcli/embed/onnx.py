"""all-MiniLM-L6-v2, the bundled model, and the running of sentence models on onnxruntime.

A vector is the same to the last bit whatever else is embedded with it. Every text runs at its own length, in batches
of equal length without padding: padding changes the order in which onnxruntime adds, and so its rounding. Every run is
single-threaded, and cores work on batches of their own, since many threads may change that order too.

Most text is encoded here, to the same ids as by the `tokenizers` library, without the start-up time of that library: the
uncased BERT tokenizer (Devlin et al., 2019) removes control characters and accents, lowercases, splits at white space and
around punctuation and Chinese characters, and then takes the longest known piece first. Other scripts are left to the
library: Python and the library follow different versions of Unicode, which differ in some of their characters."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from types import ModuleType

from memcli.errors import MemcliError, ProviderError
from memcli.numerics import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnxruntime import InferenceSession
    from tokenizers import BertWordPieceTokenizer


MAX_TOKENS = 256
_MAX_WORD = 100
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORD = re.compile(r"[^\s!-/:-@\[-`{-~]+|\S")
_FIRST, _LAST, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


def is_plain(text: str) -> bool:
    """Whether `encode` can encode `text`: Latin, Greek, Cyrillic, Chinese, Japanese, Korean, symbols and emoji, without the
    names of special tokens."""
    odd = r"\[(?:PAD|UNK|CLS|SEP|MASK)\]"
    if not text.isascii():  # a set of so many characters takes milliseconds to compile
        # Not the capital sigma, which Python lowercases by its place in the word.
        odd += r"|[^\x00-\u03a2\u03a4-\u052f\u1e00-\u2bff\u3000-\u9fff\uac00-\ud7a3\ufe0f\uff00-\uffef\U0001f000-\U0001faff]"
    return not re.search(odd, text)


def encode(text: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The ids of plain `text` between the special tokens for its beginning and end; at most MAX_TOKENS."""
    ids = [vocabulary[_FIRST]]
    if text.isascii():
        text = _CONTROLS.sub("", text)
    else:
        from unicodedata import category, normalize

        # Without control characters and accents, and with spaces around punctuation and Chinese characters.
        text = "".join(
            f" {char} " if kind[0] == "P" or "\u3400" <= char <= "\u4dbf" or "\u4e00" <= char <= "\u9fff" else char
            for char in normalize("NFD", text)
            for kind in [category(char)]
            if kind not in ("Cc", "Cf", "Mn") or char in "\t\n\r"
        )
    for word in _WORD.findall(text.lower()):
        ids += _pieces(word, vocabulary)
        if len(ids) >= MAX_TOKENS:
            break
    return [*ids[: MAX_TOKENS - 1], vocabulary[_LAST]]


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    if word in vocabulary:
        return [vocabulary[word]]
    if len(word) > _MAX_WORD:
        return [vocabulary[_UNKNOWN]]
    ids = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if piece in vocabulary:
                ids.append(vocabulary[piece])
                start = end
                break
        else:
            return [vocabulary[_UNKNOWN]]
    return ids


FOLDER = os.path.dirname(os.path.abspath(__file__))
# Weights of eight bits that are computed as floats: variants that compute with whole numbers are faster, but differ
# between processors.
MODEL = "minilm.onnx"
# A file beside the graph, which onnxruntime maps into memory; inside the graph, the weights are read and copied
# several times.
WEIGHTS = "minilm.bin"
VOCABULARY = "vocabulary.txt"
MODEL_DIGEST = "2f50634b69b45610d0782cbd57105618d1cc44b35137910793871f6a68ec0a65"
DIGESTS = {
    MODEL: MODEL_DIGEST,
    WEIGHTS: "d093d555459280dc7702a8148435ad3c6a65a368fef2c4d726e6620cafb2d829",
    VOCABULARY: "0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973",
}
DIMENSIONS = 384

_PAIR = 2
_MAX_CHARACTERS = 4096
_BATCH_TOKENS = 512
_BULK = 8
_HINT = "run 'memcli doctor'; reinstalling memcli puts the model's files and libraries back"


def verify(folder: str = FOLDER) -> list[str]:
    """The defects of the model's files, one message each; empty if they are as published."""
    import hashlib

    wrong = []
    for name, digest in DIGESTS.items():
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            wrong.append(f"{name}: cannot be read ({error.strerror})")
        else:
            if found != digest:
                wrong.append(f"{name}: differs from what was published")
    return wrong


class OnnxEmbedder:
    """Sentence vectors, 384 signed bytes each. Loads the model at the first text."""

    model = "minilm-ecc49b432b4c"
    """Changes when the same text no longer has the same vector, whether by the files or by this module."""
    dimensions = DIMENSIONS
    is_calibrated = True  # the floors of rankers were fitted to this model

    def __init__(self, folder: str = FOLDER) -> None:
        self._folder = folder
        self._tokenizer: BertWordPieceTokenizer | None = None
        self._session: InferenceSession | None = None
        self._vocabulary: dict[str, int] = {}
        self._is_unpacked = False
        self._requested = 0

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:  # noqa: ARG002
        """One vector for each text, of its first 256 tokens. Raises ProviderError."""
        if not texts:
            return []
        self._requested += len(texts)
        with failures_reported("the embedding model cannot be loaded", _HINT):
            ids = [array("H", self._encode(beginning(text, _MAX_CHARACTERS))) for text in texts]
            # Unpacking makes a session faster but slower to open, which pays for many texts only.
            is_bulk = self._requested >= _BULK
            if self._session is None or (is_bulk and not self._is_unpacked):
                self._session = open_session(os.path.join(self._folder, MODEL), is_unpacked=is_bulk)
                self._is_unpacked = is_bulk
            session = self._session
        parts = batches([len(tokens) for tokens in ids], _BATCH_TOKENS)
        import numpy as np

        def run(rows: list[int]) -> list[bytes]:
            tokens = np.array([ids[i] for i in rows], np.int64)
            (vectors,) = session.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
            return quantised(vectors)

        return run_all(run, parts, len(texts))

    def _encode(self, text: str) -> list[int]:
        if not self._vocabulary:
            with open(os.path.join(self._folder, VOCABULARY), encoding="utf-8") as file:
                self._vocabulary = dict(
                    zip(file.read().split("\n"), count())
                )  # the number of its line is the id of a piece
        if is_plain(text):
            return encode(text, self._vocabulary)
        if self._tokenizer is None:
            from tokenizers import BertWordPieceTokenizer

            self._tokenizer = BertWordPieceTokenizer(self._vocabulary)
            self._tokenizer.enable_truncation(MAX_TOKENS)
        # One by one: encode_batch starts threads of its own, and then warns on stderr when the process forks.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids


LARGEST = 3.4e38
"""The largest component of a vector: the largest 32-bit float."""


@contextmanager
def failures_reported(what: str, hint: str) -> Iterator[None]:
    """Converts exceptions of the libraries to ProviderError: `what` failed, and the first line of the reason."""
    try:
        yield
    except MemcliError:
        raise
    except Exception as error:  # no library has a base class for its errors, and one raises bare Exceptions
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ProviderError(f"{what}: {reason}", hint) from error


def open_session(path: str, *, is_unpacked: bool) -> InferenceSession:
    """Opens the model; unpacked, its weights are converted to floats once instead of in every run, with the same results."""
    onnxruntime = _onnxruntime()
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    # By default all weights are converted to floats before the first layer runs, and so are in memory at once.
    options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if is_unpacked else levels.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    # Weights that are packed for the processor's kernels would be rounded differently.
    options.add_session_config_entry("session.disable_prepacking", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> ModuleType:
    """Imports onnxruntime, and with it numpy, without its telemetry, which writes to the home directory and calls home."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    return load("onnxruntime")


def beginning(text: str, most: int) -> str:
    """The first `most` characters of a text; lone surrogates, which cannot be encoded, become question marks."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """The positions of texts of equal length, in batches of at most so many `tokens` in all, or of one text.

    The longest come first, so that the last batches to finish are short.
    """
    # Texts of different length are never batched: padding changed 12 to 22 % of the vectors.
    places: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        places.setdefault(length, []).append(i)
    return [
        rows[start : start + step]
        for length, rows in sorted(places.items(), reverse=True)
        for step in [max(1, tokens // max(1, length))]
        for start in range(0, len(rows), step)
    ]


def run_all(run: Callable[[list[int]], list[bytes]], batches: list[list[int]], count: int) -> list[bytes]:
    """The vectors of `count` texts, which `run` computes for the positions in each batch, on all cores."""
    vectors = [b""] * count
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
    return vectors


def _both(run: Callable[[list[int]], list[bytes]], batches: list[list[int]]) -> list[list[bytes]]:
    """The results of `run` for two batches, computed at the same time: a question is often embedded in two forms.

    A thread pool would do too, but takes longer to import than the second batch takes to run.
    """
    from threading import Thread

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
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def quantised(vectors: npt.NDArray[np.floating]) -> list[bytes]:
    """The vectors as signed bytes, scaled so that the largest component of each is 127; zeros stay zeros. Raises ProviderError
    for numbers that are not finite, or too large."""
    import numpy as np

    wide = vectors.astype(np.float64)
    if not (np.abs(wide) <= LARGEST).all():
        raise ProviderError("the model answers with numbers that are not finite, or too large", "try another model")
    peaks = np.abs(wide).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1
    return [row.tobytes() for row in np.rint(wide * 127 / peaks).astype(np.int8)]
