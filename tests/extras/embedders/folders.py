"""Tiny sentence models in folders, laid out as sentence-transformers does: one vector for each word, and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

DIMENSIONS = 16
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = tuple(
    "query passage : . the token expires after fifteen minutes jeton expire après quinze le トークン 期限 database is "
    "postgresql logo blue cake recipe needs three eggs gâteau il faut trois œufs".split()
)
MEANS = {"jeton": "token", "トークン": "token", "expire": "expires", "期限": "expires", "après": "after", "quinze": "fifteen", "le": "the",
         "gâteau": "cake", "faut": "needs", "trois": "three", "œufs": "eggs"}  # fmt: skip
"""Words with the vector of another: the model understands both languages."""


def word_vector(word: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """The vector of a word, the same in every language."""
    data = blake2b(MEANS.get(word, word).encode(), digest_size=64).digest()
    values = np.frombuffer(data * (dimensions // 64 + 1), np.int8)[:dimensions]
    return (values / 64).astype(np.float32)


def table(words: Sequence[str] = WORDS, dimensions: int = DIMENSIONS) -> np.ndarray:
    """The vectors by token id."""
    return np.stack([word_vector(word, dimensions) for word in (*SPECIAL, *words)])


def make_folder(
    folder: Path,
    *,
    pooling: Mapping[str, object] | None = {"pooling_mode_mean_tokens": True},
    model: str = "model.onnx",
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    dimensions: int = DIMENSIONS,
    words: Sequence[str] = WORDS,
    files: Mapping[str, object] = {},
) -> Path:
    """A folder with such a model, and `files` beside it as JSON."""
    (folder / model).parent.mkdir(parents=True, exist_ok=True)
    make_tokenizer(words).save(str(folder / "tokenizer.json"))
    onnx.save(make_model(table(words, dimensions), inputs, output), folder / model)
    if pooling is not None:
        files = {"1_Pooling/config.json": {"word_embedding_dimension": dimensions, **pooling}, **files}
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value), "utf-8")
    return folder


def make_tokenizer(words: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate((*SPECIAL, *words))}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.enable_padding(length=64)  # as published ones often do; a text must run without
    return tokenizer


def make_model(vectors: np.ndarray, inputs: Sequence[str], output: str) -> onnx.ModelProto:
    """The vector of each token, with all inputs taking part: a mask scales, and other numbers are added."""
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs]
    weights = [numpy_helper.from_array(vectors, "table"), numpy_helper.from_array(np.array([2], np.int64), "last")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["step0"])]
    step = "step0"
    for n, name in enumerate(inputs[1:], 1):
        nodes += [
            helper.make_node("Cast", [name], [f"float{n}"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", [f"float{n}", "last"], [f"wide{n}"]),
            helper.make_node("Mul" if name == "attention_mask" else "Add", [step, f"wide{n}"], [f"step{n}"]),
        ]
        step = f"step{n}"
    shape = ["batch", "tokens", vectors.shape[1]]
    if output == "sentence_embedding":
        weights.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
        nodes.append(helper.make_node("ReduceMax", [step, "axis"], [output], keepdims=0))
        shape = ["batch", vectors.shape[1]]
    else:
        nodes.append(helper.make_node("Identity", [step], [output]))
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "words", given, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
