"""Text to vectors. To add an embedder: one file here and one line in EMBEDDERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.ports import Embedder


def _onnx() -> Embedder:
    from memcli.embed.onnx import OnnxEmbedder

    return OnnxEmbedder()


def _hashed() -> Embedder:
    from memcli.embed.hashed import HashedEmbedder

    return HashedEmbedder()


def _off() -> None:
    return None


EMBEDDERS: Mapping[str, Callable[[], Embedder | None]] = {"onnx": _onnx, "hashed": _hashed, "off": _off}
DEFAULT_EMBEDDER = "onnx"
