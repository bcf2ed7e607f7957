"""Embeds texts as vectors. To add an embedder, add a module here and a line in `EMBEDDERS`.

In addition, `onnx:DIR` is a model in a folder, and `provider:model` a model of a provider: see `extras/embedders/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Embedder


def _onnx() -> Embedder:
    from memcli.embed.onnx import OnnxEmbedder

    return OnnxEmbedder()


def _hashed() -> Embedder:
    from memcli.embed.hashed import HashedEmbedder

    return HashedEmbedder()


EMBEDDERS: Mapping[str, Callable[[], Embedder | None]] = {"onnx": _onnx, "hashed": _hashed, "off": lambda: None}
DEFAULT_EMBEDDER = "onnx"
FOLDER = "onnx:"
"""The prefix before the folder of a model."""
REMOTE = ("openai", "ollama", "google", "custom")
"""The providers that have embedders."""


def check_embedder(name: str) -> str:
    """Returns `name` if it is one of EMBEDDERS, `onnx:DIR` or `provider:model`; otherwise raises UsageError."""
    first, _, rest = name.partition(":")
    if name in EMBEDDERS or (rest.strip() and first in ("onnx", *REMOTE)):
        return name
    known = ", ".join([*sorted(EMBEDDERS), f"{FOLDER}DIR", *(f"{provider}:MODEL" for provider in REMOTE)])
    raise UsageError(f"no embedder {name[:60]!r}", f"choose one of {known}")
