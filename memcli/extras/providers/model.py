"""A model of a provider: asks, checks the answer, has it repaired once, and tries again when that may help.

The vectors of texts are asked for as answers are: redacted, counted, limited by the quota and tried again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from memcli.clock import Clock
from memcli.digests import blake2b
from memcli.errors import ProviderError
from memcli.extras.providers import http, wire
from memcli.extras.providers.http import CallFailure, Response, check_sdk, post
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
    """The model `name`, asked with the key that the environment has. Nothing is sent before `redact` has seen it."""

    def __init__(
        self,
        name: ModelName,
        environ: Mapping[str, str],
        reserve: Reserve,
        redact: Callable[[str], str],
        clock: Clock,
        *,
        sleep: Callable[[float], None] = time.sleep,
        send: Post = post,
    ) -> None:
        """Raises ProviderError when the SDK, the key or the address is missing."""
        self._model = name
        self._provider: Provider = PROVIDERS[name.provider]
        check(self._provider, environ)
        self._environ, self._reserve, self._redact, self._clock = environ, reserve, redact, clock
        self._sleep, self._post = sleep, send

    @property
    def name(self) -> str:
        return str(self._model)

    def load(self) -> None:
        """See `LanguageModel.load`."""
        with suppress(Exception):  # what goes wrong is found when it is used
            http.sdk_of(self._provider)

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """See `LanguageModel.ask`."""
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
        told = "" if find_reasons(wrong) else f": {wrong}"
        raise ProviderError(f"{brief}{told}", "try another model", brief)

    def vectors(self, texts: Sequence[str], within: float) -> Sequence[Sequence[float]]:
        """One vector for each text, in at most `within` seconds. Raises ProviderError, RefusedError."""
        if self._provider.wire != CHAT:
            raise ProviderError(f"{self._provider.name} has no embeddings", "choose a model of another provider")
        prompt = Prompt(task=EMBED_TASK, system="", text="\n".join(texts), schema={}, max_tokens=0)
        request: wire.Body = {"model": self._model.model, "input": list(texts), "encoding_format": "float"}
        return self._reply(prompt, request, time.monotonic() + within).vectors

    def _reply(self, prompt: Prompt, request: wire.Body, ends: float) -> wire.Reply:
        """The reply to `request`, which is sent again after a failure that may pass, and without a feature that the server
        does not have. This is the only place that decides so. Raises ProviderError."""
        attempt = 1
        while True:
            outcome = self._send(prompt, request, ends)
            if isinstance(outcome, wire.Reply):
                return outcome
            feature = wire.refused_feature(request, outcome.complaint)
            is_asked_for = feature == wire.TEMPERATURE and prompt.temperature is not None
            if feature and not is_asked_for:
                request = wire.without(request, feature)
                continue
            wait = outcome.after
            if wait is None:
                # Half to one and a half times a wait that doubles; processes that ask different things wait differently long.
                seed = f"{self._clock()}|{self.name}|{prompt.text}|{attempt}".encode("utf-8", "replace")
                share = int.from_bytes(blake2b(seed, digest_size=2).digest(), "big") / 65_536
                wait = _FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) * (0.5 + share)
            if not outcome.is_temporary or attempt == ATTEMPTS or wait >= ends - time.monotonic():
                raise ProviderError(outcome.message, outcome.hint, outcome.brief)
            self._sleep(wait)
            attempt += 1

    def _send(self, prompt: Prompt, request: wire.Body, ends: float) -> wire.Reply | CallFailure:
        """Sends the request, redacted, once it is booked. The only place from which anything leaves."""
        key = credential(self._provider, self._environ)
        where = address(self._provider, self._environ)
        hide = _hider(key)
        clean = wire.map_texts(request, lambda text: hide(self._redact(text)))
        # The most tokens that the request may count as, in all likelihood.
        most = -(-sum(count_tokens(text) for text in wire.texts(clean)) * 11 // 10) + _OVERHEAD
        settle = self._reserve(prompt.task, TokenUsage(most, prompt.max_tokens))
        seconds = ends - time.monotonic()
        outcome = self._post(self._provider, where, key, clean, seconds) if seconds > 0 else http.SLOW
        found = self._read(request, where, _without(hide, outcome), max(0.0, seconds))
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
        if isinstance(outcome, str):
            return http.of_nothing(self._provider, shown(where), outcome, seconds)
        if not 200 <= outcome.status < 300:
            variable = key_variable(self._provider, self._environ)
            return http.of_response(self._provider, self._model.model, variable, outcome)
        found = wire.read_vectors(outcome.data) if "input" in request else wire.read_reply(self._provider, outcome.data)
        return found or http.of_nothing(self._provider, shown(where), http.GARBLED, seconds)


def check(provider: Provider, environ: Mapping[str, str]) -> None:
    """Raises ProviderError when the SDK, the key or the address of the provider is missing."""
    check_sdk(provider)
    variable = key_variable(provider, environ)
    if provider.needs_key and not variable:
        raise ProviderError(f"no key for {provider.name}", f"set {provider.key_variables[0]} in the environment")
    if not all("!" <= character <= "~" for value in credential(provider, environ).values() for character in value):
        raise ProviderError(f"the key in {variable} has a character that no key has", "copy it again")
    address(provider, environ)


def _without(hide: Callable[[str], str], outcome: Response | str) -> Response | str:
    """What came back without the key, which some servers repeat. Done before anything is cut: half a key is not found."""
    if isinstance(outcome, str):
        return outcome
    try:
        data = wire.map_strings(outcome.data, hide)
    except RecursionError:
        data = None
    return replace(outcome, data=data, location=hide(outcome.location))


def _hider(key: Mapping[str, str]) -> Callable[[str], str]:
    """What takes the key itself out of a text; one so short that it could be a word is left, and should not be a key."""
    secrets = [value for value in key.values() if len(value) >= _SHORTEST_KEY]

    def hide(text: str) -> str:
        text = text.encode("utf-8", "replace").decode()  # what is not valid Unicode cannot be sent
        for secret in secrets:
            text = text.replace(secret, "[key]")
        return text

    return hide
