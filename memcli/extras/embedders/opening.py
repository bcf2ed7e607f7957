"""Open an embedder other than the built-in one by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from memcli.embed import FOLDER
from memcli.errors import ProviderError
from memcli.extras.embedders.folder import Facts
from memcli.model.conversation import model_name
from memcli.ports import Embedder
from memcli.wiring.indexes import Remote


def open_embedder(name: str, cache: str | None, load_remote: Callable[[], Remote] | None) -> Embedder:
    """The embedder `onnx:DIR` or `provider:model`. Its measured properties are cached in the folder `cache`.

    Raises ProviderError if a provider cannot be called here, or has no address.
    """
    facts = Facts(cache)
    if name.startswith(FOLDER):
        from memcli.extras.embedders.sentence import SentenceEmbedder

        return SentenceEmbedder(os.path.abspath(os.path.expanduser(name.removeprefix(FOLDER))), facts)
    model = model_name(name)
    if load_remote is None:
        raise ProviderError(f"{model} cannot be asked here", "set MEMCLI_EMBEDDER=onnx to use the built-in model")
    from memcli.extras.embedders.remote import RemoteEmbedder

    remote = load_remote()
    return RemoteEmbedder(str(model), remote.address(model), partial(remote.call, model), remote.redact, facts)
