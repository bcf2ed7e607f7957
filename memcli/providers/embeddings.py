"""The vectors of texts by a provider: redacted, counted, limited by the quota and tried again as any call is."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memcli.errors import ProviderError
from memcli.model.memory import Json
from memcli.model.prompt import Prompt
from memcli.providers import wire
from memcli.providers.model import ProviderModel
from memcli.providers.table import CHAT

TASK = "embed/1"


class ProviderEmbeddings(ProviderModel):
    """A model that answers texts by vectors, asked as `ProviderModel` is."""

    def vectors(self, texts: Sequence[str], within: float) -> Sequence[Sequence[float]]:
        """One vector for each text, in at most `within` seconds. Raises ProviderError, RefusedError."""
        if self._provider.wire != CHAT:
            raise ProviderError(f"{self._provider.name} has no embeddings", "choose a model of another provider")
        prompt = Prompt(task=TASK, system="", text="\n".join(texts), schema={}, max_tokens=0)
        request = wire.embedding_body(self._model.model, texts)
        return self._reply(prompt, request, time.monotonic() + within).vectors

    def _read_body(self, data: Json) -> wire.Reply | None:
        return wire.read_vectors(data)
