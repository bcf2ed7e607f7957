"""Sentence models of the user's choice, each a folder on this machine. See `embed/onnx.py` for how they are run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcli.embed.onnx import beginning, failures_reported, open_session, quantised, run_all
from memcli.errors import ProviderError
from memcli.extras.embedders.folder import HINT, Facts, ModelFolder, digest, pooled, read_folder, stamp

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from memcli.model.memory import Json

_RECIPE = "1"
"""The version of this module's computation of vectors from the files of a model."""
_CHARACTERS_PER_TOKEN = 16
_SENTENCE = "sentence_embedding"
_TOKENS = ("token_embeddings", "last_hidden_state")
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_TYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_FLOATS = ("tensor(float)", "tensor(float16)", "tensor(double)")
# A model takes up to twice its size while it is opened.
_SHARE_OF_MEMORY = 0.5
"""The largest model, as a share of the memory of the machine."""
_PROBE = "memory"


class SentenceEmbedder:
    """The model in a folder. At its first use its files are read, and the model is run once to check that it works and to
    measure the length of its vectors; the result is cached until a file changes."""

    is_calibrated = False  # the cosines of each model are on a scale of their own

    def __init__(self, path: str, facts: Facts) -> None:
        self._path = path
        self._facts = facts
        self._known: tuple[str, int] | None = None
        self._seen = ""
        self._folder: ModelFolder | None = None
        self._tokenizer: Tokenizer | None = None
        self._loaded: _Model | None = None

    @property
    def model(self) -> str:
        """A digest of the content of the files and of this module's use of them. Raises ProviderError."""
        return self._measured[0]

    @property
    def dimensions(self) -> int:
        """Bytes in a vector. Raises ProviderError."""
        return self._measured[1]

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:
        """One vector for each text, by as many tokens as the model takes. Raises ProviderError."""
        if not texts:
            return []
        dimensions = self.dimensions
        vectors = self._run(texts, as_questions=as_questions)
        if any(len(vector) != dimensions for vector in vectors):
            raise ProviderError(f"the model in {self._path} gives vectors of several lengths", HINT)
        return vectors

    @property
    def _measured(self) -> tuple[str, int]:
        """The digest of the model and the length of its vectors, from the cache or measured. Raises ProviderError."""
        if self._known is None:
            folder = self._read()
            self._seen = self._key(folder)
            found: Any = self._facts.get(self._seen)
            try:
                name, dimensions, weights, stamped = found
                self._known = (str(name), int(dimensions)) if stamp(weights) == stamped else None
            except (TypeError, ValueError, ProviderError):
                self._known = None  # not cached, or in another form
            self._known = self._known or self._inspect(folder)
        return self._known

    def _read(self) -> ModelFolder:
        if self._folder is None:
            self._folder = read_folder(self._path)
        return self._folder

    def _inspect(self, folder: ModelFolder) -> tuple[str, int]:
        """Measures and caches the digest and the length of the vectors. Raises ProviderError."""
        found, weights = digest(folder, _RECIPE)
        stamped = stamp(weights)
        taken = sum(os.path.getsize(file) for file in (folder.model, *weights))
        with suppress(AttributeError, OSError, ValueError):  # some systems do not report their memory
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            if taken > _SHARE_OF_MEMORY * memory:
                raise ProviderError(
                    f"the model {folder.model} of {taken / 1e9:.1f} GB is too large for {memory / 1e9:.1f} GB of memory",
                    "use a quantised variant or a smaller model",
                )
        dimensions = len(self._run([_PROBE], as_questions=False)[0])
        self._check_unchanged(folder, weights, stamped)
        known = f"onnx-{found[:12]}", dimensions
        self._facts.put(self._seen, [*known, weights, stamped])
        return known

    def _key(self, folder: ModelFolder) -> str:
        parts = [_RECIPE, folder.model, stamp([folder.model, *folder.files]), *folder.prompts, folder.max_tokens]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _run(self, texts: Sequence[str], *, as_questions: bool) -> list[bytes]:
        """One vector for each text by the model, which is loaded first if necessary. Raises ProviderError."""
        with failures_reported(f"the model in {self._path} cannot be used", HINT):
            folder = self._read()
            if self._loaded is None:
                session = open_session(folder.model, is_unpacked=True)
                self._check_unchanged(folder)
                self._loaded = _Model(folder, session)
            model = self._loaded
            prompt = folder.prompts.of("", is_question=as_questions)
            skipped = 0 if folder.counts_prompt or not prompt else len(self._encode(prompt)) - 1
            ids = [self._encode(folder.prompts.of(text, is_question=as_questions)) for text in texts]
            # The longest first, so that the last runs to finish are short.
            longest = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
            # Each text runs alone: a model that is quantised as it runs rounds by all texts that run with it, and a vector must
            # be the same to the last bit whatever else is embedded.
            return run_all(
                lambda rows: quantised(model.vectors([ids[i] for i in rows], skipped)),
                [[i] for i in longest],
                len(texts),
            )

    def _check_unchanged(self, folder: ModelFolder, weights: Sequence[str] = (), stamped: Sequence[Json] = ()) -> None:
        """Raises ProviderError if the files of the folder, or the files `weights` with the stamp `stamped`, have changed."""
        # The name of the model is a digest of these files: vectors of two versions must not mix under one name.
        if self._key(folder) != self._seen or stamp(weights) != [*stamped]:
            raise ProviderError(f"the files in {self._path} changed while they were read", "run the command again")

    def _encode(self, text: str) -> list[int]:
        """The ids of the tokens of a text, as many as the model takes."""
        folder = self._read()
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_file(folder.tokenizer)
            # Files of tokenizers may set padding and a shorter window: that of all-MiniLM-L6-v2 cuts after 128 tokens.
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(folder.max_tokens)
        text = beginning(text, folder.max_tokens * _CHARACTERS_PER_TOKEN)
        # One by one: encode_batch starts threads of its own, and then warns on stderr when the process forks.
        ids: list[int] = self._tokenizer.encode(text.lower() if folder.is_lowercased else text).ids
        return ids


class _Model:
    """An opened model, with its inputs and the output that has the vectors. Raises ProviderError if it has neither."""

    def __init__(self, folder: ModelFolder, session: InferenceSession) -> None:
        self._session = session
        self._pooling = folder.pooling
        self._inputs = {one.name: _TYPES.get(one.type, "") for one in session.get_inputs()}
        unknown = [name for name, kind in self._inputs.items() if name not in _INPUTS or not kind]
        if unknown or "input_ids" not in self._inputs:
            problem = f"takes {unknown[0]!a}" if unknown else "takes no input_ids"
            raise ProviderError(
                f"the model {folder.model} {problem}", f"an encoder of text takes {', '.join(_INPUTS)} as whole numbers"
            )
        ranks = {one.name: len(one.shape) for one in session.get_outputs() if one.type in _FLOATS}
        self._output = _output(ranks, folder)
        self._is_pooled = ranks[self._output] == 2

    def vectors(self, texts: Sequence[Sequence[int]], skipped: int) -> Any:
        """The vectors of texts of one length, float64 [len(texts), n]; zeros for a text without tokens."""
        import numpy as np

        if not len(texts[0]):
            texts = [[0]]  # some tokenizers give no tokens for an empty text, which no model takes
        ids = np.array(texts)
        given: Mapping[str, Any] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(ids.shape[1]), ids.shape),
        }
        feed = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        found = self._session.run([self._output], feed)[0].astype(np.float64)
        if not self._is_pooled:
            found = np.stack([pooled(self._pooling, one, skipped) for one in found])
        if not np.isfinite(found).all():
            raise ProviderError("the model gives values that are no numbers", "use a variant of higher precision")
        return found


def _output(ranks: Mapping[str, int], folder: ModelFolder) -> str:
    """The name of the output to use: that for sentences if there is one, else that for tokens. Raises ProviderError."""
    if ranks.get(_SENTENCE) == 2:
        return _SENTENCE
    if folder.layers:
        raise ProviderError(
            f"the model {folder.model} lacks its layer {folder.layers[0][:40]!a}",
            f"export it with sentence-transformers, so that it has the output {_SENTENCE}",
        )
    tokens = [name for name in (*_TOKENS, *ranks) if ranks.get(name) == 3]
    if tokens and folder.pooling:
        return tokens[0]
    if tokens:
        raise ProviderError(
            f"nothing beside {folder.model} tells how it pools tokens",
            'add 1_Pooling/config.json, such as {"pooling_mode": "mean"}, by what its authors say',
        )
    if list(ranks.values()) == [2]:
        return next(iter(ranks))
    raise ProviderError(f"the model {folder.model} has no output for sentences or tokens", HINT)
