"""Read the folder of a sentence model in ONNX, as sentence-transformers and its converters write it: its files, prompts and
limits, and the modes that pool the vectors of its tokens into one. Measured facts about models are cached in a file.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from memcli.errors import ProviderError
from memcli.model.memory import Json
from memcli.record import Record

_QUESTION = ("query", "search_query", "retrieval.query", "s2p_query", "question")
_PASSAGE = ("document", "passage", "corpus", "search_document", "retrieval.passage")
"""The names of prompts in sentence-transformers, the usual name first."""


class Prompts(NamedTuple):
    """The prefixes that a model was trained with, for questions and for passages; empty for none."""

    question: str = ""
    passage: str = ""

    def of(self, text: str, *, is_question: bool) -> str:
        """The text with its prefix."""
        return (self.question if is_question else self.passage) + text


# The prompts of families whose model cards state them and whose files do not.
_FAMILIES: tuple[tuple[re.Pattern[str], Prompts], ...] = (
    (re.compile(r"(?<![a-z0-9])e5-(?!.*instruct)"), Prompts("query: ", "passage: ")),
    (re.compile(r"(?<![a-z0-9])nomic-embed-text"), Prompts("search_query: ", "search_document: ")),
    (
        re.compile(r"(?<![a-z0-9])(?:bge-(?:small|base|large)-en|mxbai-embed|(?:snowflake-)?arctic-embed(?!.*(?:2\.0|2)\b))"),
        Prompts("Represent this sentence for searching relevant passages: "),
    ),
)  # fmt: skip


def known_prompts(name: str) -> Prompts:
    """The prompts of the family that a model belongs to by its name; empty for an unknown family."""
    return next((prompts for family, prompts in _FAMILIES if family.search(name.lower())), Prompts())


def stated_prompts(config: Mapping[str, Json]) -> Prompts | None:
    """The prompts in a `config_sentence_transformers.json`; None if it has none."""
    prompts = config.get("prompts")
    known = {k: v for k, v in prompts.items() if isinstance(v, str)} if isinstance(prompts, dict) else {}
    default = known.get(str(config.get("default_prompt_name")), "")
    if not any(known.values()):
        return None
    question, passage = (
        next((known[name] for name in names if name in known), default) for names in (_QUESTION, _PASSAGE)
    )
    return Prompts(question, passage)


_FILE = "embedders.json"
_MOST = 1 << 20


class Facts:
    """A cache of JSON values by key, in a file of `folder`; in memory alone if that is None or cannot be written."""

    def __init__(self, folder: str | None) -> None:
        self._path = os.path.join(folder, _FILE) if folder else None
        self._own: dict[str, Json] = {}

    def get(self, key: str) -> Json:
        """The value of the key; None if there is none."""
        if key not in self._own:
            self._own = {**self._read(), **self._own}
        return self._own.get(key)

    def put(self, key: str, value: Json) -> None:
        """Stores the value, beside those that other processes have stored."""
        self._own = {**self._read(), **self._own, key: value}
        if self._path is None:
            return
        with suppress(OSError):  # the values are only measured again if the cache cannot be written
            temporary = f"{self._path}.{os.getpid()}.tmp"
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with open(fd, "w", encoding="utf-8") as file:
                json.dump(self._own, file, sort_keys=True)
            os.replace(temporary, self._path)

    def _read(self) -> dict[str, Json]:
        if self._path is None:
            return {}
        try:
            with open(self._path, "rb") as file:
                found = json.loads(file.read(_MOST))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


Floats: TypeAlias = Any  # arrays of NumPy, float64; the module is imported only where a model is run


def pooled(modes: Sequence[str], tokens: Floats, skipped: int) -> Floats:
    """The vectors of a text by each of the modes, concatenated; `tokens` is [tokens, n]. The first `skipped` tokens, those of a
    prompt, do not count in means and maxima."""
    import numpy as np

    own = tokens[skipped:]
    found = []
    for mode in modes:
        match mode:
            case "cls":
                found.append(tokens[0])
            case "max":
                found.append(own.max(axis=0) if len(own) else np.zeros(tokens.shape[1]))
            case "mean":
                found.append(own.sum(axis=0) / max(1, len(own)))
            case "mean_sqrt_len_tokens":
                found.append(own.sum(axis=0) / max(1, len(own)) ** 0.5)
            case "weightedmean":  # later tokens weigh more: in a decoder, only they depend on the tokens before them
                weights = np.arange(len(tokens) - len(own) + 1, len(tokens) + 1, dtype=np.float64)
                found.append(weights @ own / max(1.0, weights.sum()))
            case "lasttoken":
                found.append(tokens[-1])
    return np.concatenate(found)


# The modes of pooling in the order in which sentence-transformers concatenates them, with their keys in
# `1_Pooling/config.json`; newer files name them in `pooling_mode`.
KEYS: Mapping[str, str] = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


HINT = "`memcli doctor` checks the model"
_MODELS = (
    "model.onnx",
    "model_quantized.onnx",
    "model_int8.onnx",
    "model_uint8.onnx",
    "model_fp16.onnx",
    "model_q4.onnx",
)
"""The names of models; the first one that exists is used."""
_DECIDING = (
    "config.json", "config_sentence_transformers.json", "modules.json", "sentence_bert_config.json", "tokenizer.json",
    "tokenizer_config.json",
)  # fmt: skip
_MOST_JSON = 1 << 26
# Some models take more, but passages are far shorter.
_MOST_TOKENS = 8192
# Their first position is the second after that of padding, so that two fewer can be used.
_ROBERTA = frozenset(("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"))
"""The types of models whose positions begin at 2."""
_EXTERNAL = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])", re.DOTALL)
"""Matches the place in the protobuf of ONNX at which a model names a file of weights beside it."""


class ModelFolder(Record, kw_only=True):
    """The settings of a model folder: the paths of the model and the tokenizer, and how texts and tokens are treated.

    `pooling` has modes of `KEYS`, none if the files name none; `layers` the modules after pooling that change a vector, which
    only a model with an output for sentences can run; `files` the paths of all files besides the model that decide a vector.
    """

    model: str
    tokenizer: str
    pooling: tuple[str, ...]
    counts_prompt: bool
    layers: tuple[str, ...]
    prompts: Prompts
    max_tokens: int
    is_lowercased: bool
    files: tuple[str, ...]


def read_folder(path: str) -> ModelFolder:
    """The settings of the folder at `path`, which may also be the path of a model in it. Raises ProviderError."""
    model = _model(path)
    folder = os.path.dirname(model)
    # Hubs have the models in a folder `onnx`, and the tokenizer above it.
    if os.path.basename(folder) == "onnx" and not os.path.exists(os.path.join(folder, "tokenizer.json")):
        folder = os.path.dirname(folder)
    tokenizer = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(tokenizer):
        raise ProviderError(f"{folder} has no tokenizer.json", "`tokenizer.save_pretrained` of transformers writes one")
    config = _json(folder, "config.json")
    modules = _modules(folder)
    pooling_file = next(
        (f"{where}/config.json" for kind, where in modules if kind == "Pooling"), "1_Pooling/config.json"
    )
    pooling = _json(folder, pooling_file)
    transformer = _json(folder, "sentence_bert_config.json")
    stated = stated_prompts(_json(folder, "config_sentence_transformers.json"))
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _ROBERTA:
        positions -= 2
    # The published name of a model shows its family; a hub's cache has it in one of the last three folders.
    name = "/".join([*os.path.abspath(folder).split(os.sep)[-3:], str(config.get("_name_or_path", ""))])
    limits = (
        transformer.get("max_seq_length"),
        _json(folder, "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    return ModelFolder(
        model=model,
        tokenizer=tokenizer,
        pooling=_pooling(pooling, pooling_file),
        counts_prompt=pooling.get("include_prompt") is not False,
        layers=tuple(kind for kind, _ in modules if kind not in ("Transformer", "Pooling", "Normalize")),
        prompts=stated or known_prompts(name),
        max_tokens=min([_MOST_TOKENS, *(int(n) for n in limits if isinstance(n, int | float) and n >= 1)]),
        is_lowercased=transformer.get("do_lower_case") is True,
        files=tuple(
            file
            for name in (*_DECIDING, pooling_file)
            if os.path.isfile(file := os.path.join(folder, name))
        ),
    )  # fmt: skip


def stamp(files: Sequence[str]) -> list[Json]:
    """A JSON value that changes with any of the files: their names, sizes, times and inodes. Raises ProviderError if one is
    missing."""
    found: list[Json] = []
    for file in files:
        try:
            state = os.stat(file)
        except OSError as error:
            raise ProviderError(f"cannot read {file}: {error.strerror}", HINT) from None
        found.append([os.path.basename(file), state.st_size, state.st_mtime_ns, state.st_ino])
    return found


def digest(folder: ModelFolder, recipe: str) -> tuple[str, list[str]]:
    """A digest of all files that decide the vectors, and the paths of weights beside the model. Raises ProviderError."""
    try:
        named = set()
        with open(folder.model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for match in _EXTERNAL.finditer(data):
                name = os.fsdecode(data[match.end() : match.end() + match[1][0]])
                named.add(os.path.join(os.path.dirname(folder.model), name))
        weights = sorted(filter(os.path.isfile, named))
        found = hashlib.sha256(f"{recipe} {folder.prompts} {folder.max_tokens}".encode())
        for path in (folder.model, *weights, *folder.files):
            with open(path, "rb") as opened:
                # The model counts by its content alone: the name of its file says only which variant was chosen.
                name = "" if path == folder.model else os.path.basename(path)
                found.update(os.fsencode(name) + b"\0")
                found.update(hashlib.file_digest(opened, "sha256").digest())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProviderError(f"cannot read the model {folder.model}: {reason}", HINT) from None
    return found.hexdigest(), weights


def _model(path: str) -> str:
    """The path of the model at or in `path`. Raises ProviderError if there is none, or several without a usual name."""
    if path.endswith(".onnx"):
        if not os.path.isfile(path):
            raise ProviderError(f"no model {path}", "name a folder with a model in ONNX, or the file itself")
        return path
    if not os.path.isdir(path):
        raise ProviderError(f"no folder {path}", "name a folder with a model in ONNX")
    places = (path, os.path.join(path, "onnx"))
    for name in _MODELS:
        for place in places:
            if os.path.isfile(file := os.path.join(place, name)):
                return file
    others = []
    for place in places:
        with suppress(OSError):
            others += [os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(".onnx")]
    if len(others) == 1:
        return others[0]
    content = f"{len(others)} models and none of the usual names" if others else "no model.onnx"
    raise ProviderError(f"{path} has {content}", "name the file: onnx:DIR/FILE.onnx")


def _json(folder: str, name: str) -> Mapping[str, Json]:
    found = _read(folder, name)
    if found is not None and not isinstance(found, dict):
        raise ProviderError(f"{os.path.join(folder, name)} is no JSON object", HINT)
    return found or {}


def _read(folder: str, name: str) -> Json:
    """The JSON value in a file of the folder; None if there is no such file. Raises ProviderError."""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            return json.loads(file.read(_MOST_JSON))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProviderError(f"cannot read {path}: {error.strerror}", HINT) from None
    except (ValueError, RecursionError):
        raise ProviderError(f"{path} is no JSON", HINT) from None


def _modules(folder: str) -> list[tuple[str, str]]:
    """The kind and the folder of each module in `modules.json` of sentence-transformers."""
    found = _read(folder, "modules.json")
    modules = found if isinstance(found, list) else []
    return [
        (str(one.get("type", "")).rpartition(".")[2], str(one.get("path", "")))
        for one in modules
        if isinstance(one, dict)
    ]


def _pooling(config: Mapping[str, Json], file: str) -> tuple[str, ...]:
    """The modes of pooling in a configuration, in the order of `KEYS`. Raises ProviderError for an unknown one."""
    named = config.get("pooling_mode")
    modes = [str(mode) for mode in (named if isinstance(named, list) else [named])] if named else []
    modes = modes or [mode for mode, key in KEYS.items() if config.get(key) is True]
    unknown = [mode for mode in modes if mode not in KEYS]
    if unknown:
        raise ProviderError(f"{file}: unknown pooling {unknown[0][:40]!a}", f"known are {', '.join(KEYS)}")
    return tuple(mode for mode in KEYS if mode in modes)
