"""Embedders of providers, which are sent texts and answer with vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memcli.embed.hashed import quantised
from memcli.embed.onnx import LARGEST, beginning
from memcli.errors import ProviderError
from memcli.extras.embedders.folder import Facts, known_prompts

if TYPE_CHECKING:
    pass

_RECIPE = "1"
"""The version of this module's computation of vectors from answers."""
_MAX_CHARACTERS = 4096
_MOST_READ = 16 * _MAX_CHARACTERS
# The vectors of so many texts, as JSON, stay below the 4 MB that are read of an answer.
_AT_ONCE = 32
"""The most texts in one call."""
_MOST_DIMENSIONS = 16_384
_PROBE = "memory"

Call = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Requests the vectors of texts from a provider. Raises ProviderError, and RefusedError if the call is not allowed."""


class RemoteEmbedder:
    """A model of a provider, whose vectors `call` requests for texts that `redact` redacts first. `name` is `provider:model`.
    The length of its vectors is measured by one call, and cached."""

    is_calibrated = False  # the cosines of each model are on a scale of their own

    def __init__(self, name: str, address: str, call: Call, redact: Callable[[str], str], facts: Facts) -> None:
        self._name, self._address = name, address
        self._call, self._redact = call, redact
        self._facts = facts
        self._prompts = known_prompts(name)
        self._dimensions = 0

    @property
    def model(self) -> str:
        """A digest of the name, the address, the dimensions and this module's treatment of texts. Raises as `embed` does."""
        found = hashlib.sha256(f"{self._key} {self.dimensions}".encode()).hexdigest()
        return f"{self._name.partition(':')[0]}-{found[:12]}"

    @property
    def dimensions(self) -> int:
        """Bytes in a vector. Raises as `embed` does."""
        if not self._dimensions:
            known = self._facts.get(self._key)
            if isinstance(known, int) and 0 < known <= _MOST_DIMENSIONS:
                self._dimensions = known
            else:
                self._dimensions = len(self._request([_PROBE])[0])
                self._facts.put(self._key, self._dimensions)
        return self._dimensions

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:
        """One vector for each text, by its first 4096 characters. Raises ProviderError, RefusedError."""
        if not texts:
            return []
        # Blank texts get vectors of zeros and are not sent: they have no meaning, and some providers refuse them.
        vectors = [bytes(self.dimensions)] * len(texts)
        filled = [i for i, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), _AT_ONCE):
            rows = filled[start : start + _AT_ONCE]
            # Redacted before it is cut: half a secret is not recognised.
            cut = [beginning(self._redact(texts[i][:_MOST_READ]), _MAX_CHARACTERS) for i in rows]
            made = self._request([self._prompts.of(text, is_question=as_questions) for text in cut])
            if len(made[0]) != self.dimensions:
                # The provider has another model behind this name now, so that what was measured no longer holds.
                self._facts.put(self._key, None)
                raise ProviderError(
                    f"{self._name} gives vectors of {len(made[0])} numbers, not of {self.dimensions} as before",
                    "run the command again: it is then taken for another model",
                )
            for row, vector in zip(rows, made, strict=True):
                vectors[row] = quantised(vector)
        return vectors

    @property
    def _key(self) -> str:
        # With the address, for the same name may be another model elsewhere.
        return f"{self._name} {self._address} {_RECIPE} {self._prompts}"

    def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, validated. Raises ProviderError, RefusedError."""
        made = self._call(texts)
        lengths = {len(vector) for vector in made}
        is_sound = len(made) == len(texts) and len(lengths) == 1 and 0 < min(lengths) <= _MOST_DIMENSIONS
        if not is_sound:
            raise ProviderError(f"{self._name} does not answer with one vector for each text", "try another model")
        if not all(-LARGEST <= value <= LARGEST for vector in made for value in vector):
            raise ProviderError(
                f"{self._name} answers with numbers that are not finite, or too large", "try another model"
            )
        return made
