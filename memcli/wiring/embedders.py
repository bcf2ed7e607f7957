"""Chooses the embedder that the user asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS, FOLDER, check_embedder
from memcli.errors import ProviderError
from memcli.model.prompt import ModelName, model_name
from memcli.ports import Embedder
from memcli.record import Record
from memcli.wiring.keeping import Keep, make


class Remote(Record):
    """How a provider is asked for vectors: where it is, and what sends texts to it. Texts are sent as `redact` leaves
    them."""

    address: Callable[[ModelName], str]
    call: Callable[[ModelName, Sequence[str]], Sequence[Sequence[float]]]
    redact: Callable[[str], str]


class ChosenEmbedder:
    """The embedder of a name, or else the default one. What is found out about its model is kept in `folder`."""

    def __init__(
        self, name: str | None, folder: str | None = None, remote: Remote | None = None, keep: Keep = make
    ) -> None:
        self.name = name or DEFAULT_EMBEDDER
        self._folder, self._remote, self._keep = folder, remote, keep

    def check(self) -> None:
        """Raises UsageError when there is no such embedder."""
        check_embedder(self.name)

    def load(self) -> Embedder | None:
        """The embedder; None when it is off. Raises UsageError, and ProviderError when a provider has no address."""
        self.check()
        if self.name in EMBEDDERS:
            return self._keep(("embedder", self.name), EMBEDDERS[self.name])
        return self._keep(("embedder", self.name, self._folder), self._make)

    def _make(self) -> Embedder:
        from memcli.embed.models import Facts

        facts = Facts(self._folder)
        if self.name.startswith(FOLDER):
            from memcli.embed.sentence import SentenceEmbedder

            return SentenceEmbedder(os.path.abspath(os.path.expanduser(self.name.removeprefix(FOLDER))), facts)
        from memcli.embed.remote import RemoteEmbedder

        name, remote = model_name(self.name), self._remote
        if remote is None:
            raise ProviderError(f"{name} cannot be asked here", "set MEMCLI_EMBEDDER=onnx to use the built-in model")
        return RemoteEmbedder(str(name), remote.address(name), partial(remote.call, name), remote.redact, facts)


def absolute(name: str, base: str) -> str:
    """The name of an embedder in a configuration, whose folder is found from `base`, where the project is."""
    if not name.startswith(FOLDER):
        return name
    return FOLDER + os.path.join(base, os.path.expanduser(name.removeprefix(FOLDER)))
