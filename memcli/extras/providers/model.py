"""A model of a provider: sends a prompt, validates the answer, has it repaired once, and retries after temporary failures.

Texts to embed take the same path as prompts: redacted, counted, limited by the quota, and retried.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.util import find_spec
from typing import TypeVar

from memcli.clock import Clock
from memcli.digests import blake2b
from memcli.errors import ProviderError
from memcli.extras.providers import http, wire
from memcli.extras.providers.http import CallFailure, Response, post
from memcli.extras.providers.table import CHAT, PROVIDERS, Provider, address, credential, key_variable, shown
from memcli.extras.providers.wire import parse_answer
from memcli.model.conversation import ModelName, Prompt
from memcli.model.memory import Json
from memcli.model.tokens import count_tokens
from memcli.model.usage import TokenUsage
from memcli.ports import Reserve
from memcli.record import replace
from memcli.safety.injection import find_reasons

ATTEMPTS = 3
_FIRST_WAIT_SECONDS = 0.5
_MAX_QUOTED = 4_000
_OVERHEAD = 100  # tokens that a server adds to a request, at most
_SHORTEST_KEY = 8
EMBED_TASK = "embed/1"

T = TypeVar("T")
Post = Callable[..., Response | str]


class ProviderModel:
    """The model `name`, called with the key in the environment. All texts are redacted by `redact` before they are sent."""

    def __init__(
        self,
        name: ModelName,
        environ: Mapping[str, str],
        reserve: Reserve,
        redact: Callable[[str], str],
        clock: Clock,
        trace: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
        *,
        sleep: Callable[[float], None] = time.sleep,
        send: Post = post,
    ) -> None:
        """`trace` returns a context for a request of a task. Raises ProviderError if the SDK, the key or the address is missing."""
        self._model = name
        self._provider: Provider = PROVIDERS[name.provider]
        check(self._provider, environ)
        self._environ, self._reserve, self._redact, self._clock = environ, reserve, redact, clock
        self._trace = trace
        self._sleep, self._post = sleep, send

    @property
    def name(self) -> str:
        return str(self._model)

    def load(self) -> None:
        """See `LanguageModel.load`."""
        # Called while a recall searches: the import of an SDK takes longer than a model has to verify what was found.
        with suppress(Exception):  # the first call reports the error
            http.sdk_of(self._provider)

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """See `LanguageModel.ask`."""
        with self._trace(prompt.task):
            ends = time.monotonic() + within
            turns: list[wire.Turn] = [("user", prompt.text)]
            schema = json.dumps(prompt.schema, sort_keys=True, ensure_ascii=False)
            wanted = f"Answer with JSON alone, which fits this JSON Schema:\n{schema}"
            wrong = ""
            for _ in range(2):
                reply = self._reply(prompt, wire.body(self._provider, self._model.model, prompt, turns), ends)
                if reply.ending == wire.REFUSED:
                    raise ProviderError(f"{self.name} refuses to answer", "try another model")
                if reply.ending == wire.CUT:
                    raise ProviderError(
                        f"the answer of {self.name} is longer than {prompt.max_tokens} tokens", "allow more tokens"
                    )
                try:
                    return read(parse_answer(reply.text, prompt.schema))
                except ValueError as error:
                    wrong = " ".join(str(error).split())[:200] or "it is not valid"
                if reply.text.strip():
                    complaint = f"This answer cannot be used: {wrong}. {wanted}"
                    turns = [turns[0], ("assistant", reply.text.strip()[:_MAX_QUOTED]), ("user", complaint)]
                else:
                    turns = [("user", f"{prompt.text}\n\n{wanted}")]
            brief = f"the answer of {self.name} is not valid, also when asked again"
            # The reason quotes the answer, which may carry instructions for the model that reads this message.
            detail = "" if find_reasons(wrong) else f": {wrong}"
            raise ProviderError(f"{brief}{detail}", "try another model", brief)

    def vectors(self, texts: Sequence[str], within: float) -> Sequence[Sequence[float]]:
        """One vector for each text, in at most `within` seconds. Raises ProviderError, RefusedError."""
        if self._provider.wire != CHAT:
            raise ProviderError(f"{self._provider.name} has no embeddings", "choose a model of another provider")
        prompt = Prompt(task=EMBED_TASK, system="", text="\n".join(texts), schema={}, max_tokens=0)
        # The SDK would ask for vectors in base64, which not every server that speaks this format has.
        request: wire.Body = {"model": self._model.model, "input": list(texts), "encoding_format": "float"}
        with self._trace(EMBED_TASK):
            return self._reply(prompt, request, time.monotonic() + within).vectors

    def _reply(self, prompt: Prompt, request: wire.Body, ends: float) -> wire.Reply:
        """The reply to `request`, which is sent again after a temporary failure, and without a feature that the server lacks.
        No other function retries. Raises ProviderError."""
        attempt = 1
        while True:
            outcome = self._send(prompt, request, ends)
            if isinstance(outcome, wire.Reply):
                return outcome
            feature = wire.refused_feature(request, outcome.complaint)
            # Without a temperature in the prompt, the 0 that is sent by default may be left out.
            is_required = feature == wire.TEMPERATURE and prompt.temperature is not None
            if feature and not is_required:
                request = wire.without(request, feature)
                continue
            wait = outcome.after
            if wait is None:
                # A wait that doubles, times 0.5 to 1.5: processes with different prompts do not retry at the same time.
                seed = f"{self._clock()}|{self.name}|{prompt.text}|{attempt}".encode("utf-8", "replace")
                share = int.from_bytes(blake2b(seed, digest_size=2).digest(), "big") / 65_536
                wait = _FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) * (0.5 + share)
            if not outcome.is_temporary or attempt == ATTEMPTS or wait >= ends - time.monotonic():
                raise ProviderError(outcome.message, outcome.hint, outcome.brief)
            self._sleep(wait)
            attempt += 1

    def _send(self, prompt: Prompt, request: wire.Body, ends: float) -> wire.Reply | CallFailure:
        """Redacts the request, books it and sends it. No other function sends anything."""
        key = credential(self._provider, self._environ)
        where = address(self._provider, self._environ)
        hide = _hider(key)
        clean = wire.map_texts(request, lambda text: hide(self._redact(text)))
        # The most tokens that the request may count as, in all likelihood.
        most = -(-sum(count_tokens(text) for text in wire.texts(clean)) * 11 // 10) + _OVERHEAD
        settle = self._reserve(prompt.task, TokenUsage(most, prompt.max_tokens))
        seconds = ends - time.monotonic()
        outcome = self._post(self._provider, where, key, clean, seconds) if seconds > 0 else http.SLOW
        # The key, which some servers repeat, is taken out of all texts before any is cut: half a key would not be found.
        if isinstance(outcome, Response):
            try:
                data = wire.map_strings(outcome.data, hide)
            except RecursionError:
                data = None
            outcome = replace(outcome, data=data, location=hide(outcome.location))
        found = self._read(request, where, outcome, max(0.0, seconds))
        if isinstance(found, wire.Reply) and found.usage is not None:
            settle(found.usage)
        elif (isinstance(found, CallFailure) and found.is_free) or seconds <= 0:
            settle(TokenUsage(0, 0))
        if isinstance(found, wire.Reply):
            return found
        return replace(found, message=hide(found.message), brief=hide(found.brief))  # the address may have it too

    def _read(
        self, request: wire.Body, where: str, outcome: Response | str, seconds: float
    ) -> wire.Reply | CallFailure:
        """The reply in the outcome of a call, or its failure."""
        if isinstance(outcome, str):
            return http.no_response_failure(self._provider, shown(where), outcome, seconds)
        if not 200 <= outcome.status < 300:
            variable = key_variable(self._provider, self._environ)
            return http.response_failure(self._provider, self._model.model, variable, outcome)
        found = wire.read_vectors(outcome.data) if "input" in request else wire.read_reply(self._provider, outcome.data)
        return found or http.no_response_failure(self._provider, shown(where), http.GARBLED, seconds)


def check(provider: Provider, environ: Mapping[str, str]) -> None:
    """Raises ProviderError if the SDK, the key or the address of the provider is missing or invalid."""
    # Not imported to find that out, which takes one to three seconds.
    if find_spec(provider.sdk) is None:
        raise ProviderError(
            f"{provider.name} needs the extra `llm` (the package {provider.sdk} is not installed)",
            "pip install '.[llm]' in a clone of memcli",
        )
    variable = key_variable(provider, environ)
    if provider.needs_key and not variable:
        raise ProviderError(f"no key for {provider.name}", f"set {provider.key_variables[0]} in the environment")
    if not all("!" <= character <= "~" for value in credential(provider, environ).values() for character in value):
        raise ProviderError(f"the key in {variable} has a character that no key has", "copy it again")
    address(provider, environ)


def _hider(key: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces the key in a text by `[key]`."""
    # A value that is so short could be a word of the text, and should not be a key.
    secrets = [value for value in key.values() if len(value) >= _SHORTEST_KEY]

    def hide(text: str) -> str:
        text = text.encode("utf-8", "replace").decode()  # what is not valid Unicode cannot be sent
        for secret in secrets:
            text = text.replace(secret, "[key]")
        return text

    return hide
