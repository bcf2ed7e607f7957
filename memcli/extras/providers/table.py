"""The providers as data: their addresses, keys and differences; and the list prices of their models, in US dollars per million
tokens sent and received.

The prices are those that the providers published in November 2026, for prompts below the length at which some of them charge
more; none of memcli's is that long. A model that is not in the list has no known price. Prices of the user take precedence:
`MEMCLI_PRICES`, such as `openai:gpt-5-mini=0.25/2, custom:*=0/0`, or the same names in `prices.toml` in the configuration folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, DecimalException
from math import ceil
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from memcli.errors import ProviderError, UsageError
from memcli.model.conversation import PROVIDERS as PRICES_PROVIDERS
from memcli.model.conversation import ModelName
from memcli.model.usage import TokenUsage
from memcli.record import Record

CHAT, MESSAGES = "chat", "messages"
"""The wire formats: chat completions of OpenAI, and messages of Anthropic."""
_OLLAMA_PORT = 11434
_ANY_HOST = ("0.0.0.0", "::")  # noqa: S104 - addresses that a server listens on, and no client can call


class Provider(Record, kw_only=True):
    """A provider. Of `key_variables` and `address_variables`, the first one that is set counts.

    `limit` is the parameter for the most tokens of an answer; `sdk` is the module of the SDK. With `has_own_headers`, the SDK's
    variables for headers, organizations and projects are meant for this provider.
    """

    name: str
    wire: str = CHAT
    sdk: str = "openai"
    address: str = ""
    address_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    needs_key: bool = True
    limit: str = "max_tokens"
    has_own_headers: bool = False


# All but Anthropic speak the format of OpenAI, so that two SDKs do. Libraries for all providers take seconds to import,
# and bring dozens of packages.
PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="openai",
            address="https://api.openai.com/v1",
            address_variables=("OPENAI_BASE_URL",),
            key_variables=("OPENAI_API_KEY",),
            # Its models that reason refuse `max_tokens`, the only name that other servers know.
            limit="max_completion_tokens",
            has_own_headers=True,
        ),
        Provider(
            name="anthropic",
            wire=MESSAGES,
            sdk="anthropic",
            address="https://api.anthropic.com",
            address_variables=("ANTHROPIC_BASE_URL",),
            key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            has_own_headers=True,
        ),
        Provider(
            name="google",
            address="https://generativelanguage.googleapis.com/v1beta/openai",
            address_variables=("MEMCLI_GOOGLE_BASE_URL",),
            key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ),
        Provider(
            name="ollama",
            address=f"http://127.0.0.1:{_OLLAMA_PORT}/v1",
            address_variables=("OLLAMA_HOST",),
            key_variables=("OLLAMA_API_KEY",),
            needs_key=False,
        ),
        Provider(
            name="huggingface",
            address="https://router.huggingface.co/v1",
            address_variables=("MEMCLI_HUGGINGFACE_BASE_URL",),
            key_variables=("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
        ),
        Provider(
            name="custom",
            address_variables=("MEMCLI_CUSTOM_BASE_URL",),
            key_variables=("MEMCLI_CUSTOM_API_KEY",),
            needs_key=False,
        ),
    )
}


def key_variable(provider: Provider, environ: Mapping[str, str]) -> str:
    """The name of the variable that has the key; empty if none has."""
    return next((name for name in provider.key_variables if environ.get(name, "").strip()), "")


def credential(provider: Provider, environ: Mapping[str, str]) -> dict[str, str]:
    """The key, under the name of the SDK's parameter for it; empty if there is none."""
    variable = key_variable(provider, environ)
    # The SDK sends this one as a bearer token, and a key in a header of Anthropic's own.
    name = "auth_token" if variable == "ANTHROPIC_AUTH_TOKEN" else "api_key"
    return {name: environ[variable].strip()} if variable else {}


def address(provider: Provider, environ: Mapping[str, str]) -> str:
    """The base URL of a provider. Raises ProviderError if no variable sets it, or one has an invalid URL."""
    variable = next((name for name in provider.address_variables if environ.get(name, "").strip()), "")
    if not variable:
        if not provider.address:
            names = " or ".join(provider.address_variables)
            raise ProviderError(f"{provider.name} has no address", f"set {names} to the base URL of its API")
        return provider.address
    given = environ[variable].strip()
    found = _ollama(given) if variable == "OLLAMA_HOST" else given
    try:
        parts = urlsplit(found)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ProviderError(f"{variable} is no address of a server", "write it as https://host/v1")
    return found


def shown(address: str) -> str:
    """The address without its user, password and query, which may be secret."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _ollama(host: str) -> str:
    """The base URL for a value of `OLLAMA_HOST`, which may lack its scheme, its port or, with a port, its host, as in Ollama."""
    with_scheme = host if "://" in host else f"http://{host}"
    try:
        parts = urlsplit(with_scheme)
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        return host
    if port is None and "://" not in host:
        port = _OLLAMA_PORT
    name = "127.0.0.1" if name in _ANY_HOST else name
    name = f"[{name}]" if ":" in name else name
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{path if path.endswith('/v1') else f'{path}/v1'}"


Price = tuple[Decimal, Decimal]
Prices = Mapping[str, Price]

_LIST = """
openai:gpt-6.1-sol 2 10
openai:gpt-6-astra 10 50
openai:gpt-6-sol 2 10
openai:gpt-6-luna 0.10 0.50
openai:gpt-5.6-terra 2 12
openai:gpt-5.6-luna 0.20 1.20
openai:gpt-5.4 2.50 15
openai:gpt-5.4-mini 0.75 4.50
openai:gpt-5.4-nano 0.20 1.25
openai:gpt-5.2 1.75 14
openai:gpt-5.1 1.25 10
openai:gpt-5 1.25 10
openai:gpt-5-mini 0.25 2
openai:gpt-5-nano 0.05 0.40
openai:gpt-4.1 2 8
openai:gpt-4.1-mini 0.40 1.60
openai:gpt-4.1-nano 0.10 0.40
openai:gpt-4o 2.50 10
openai:gpt-4o-mini 0.15 0.60
openai:o3 2 8
openai:o4-mini 1.10 4.40
openai:text-embedding-3-small 0.02 0
openai:text-embedding-3-large 0.13 0
anthropic:claude-fable-5-2 8 40
anthropic:claude-fable-5-1 10 50
anthropic:claude-opus-5-5 4 20
anthropic:claude-opus-5 5 25
anthropic:claude-opus-4-8 5 25
anthropic:claude-opus-4-7 5 25
anthropic:claude-opus-4-6 5 25
anthropic:claude-opus-4-5 5 25
anthropic:claude-opus-4-1 15 75
anthropic:claude-sonnet-5-5 2 10
anthropic:claude-sonnet-5 2 10
anthropic:claude-sonnet-4-6 3 15
anthropic:claude-sonnet-4-5 3 15
anthropic:claude-sonnet-4 3 15
anthropic:claude-haiku-5-5 0.10 0.50
anthropic:claude-haiku-4-5 1 5
anthropic:claude-3-5-haiku 0.80 4
google:gemini-3.6-flash 1.50 7.50
google:gemini-3.5-flash-lite 0.30 2.50
google:gemini-3.1-pro-preview 2 12
google:gemini-3.1-flash-lite 0.25 1.50
google:gemini-2.5-pro 1.25 10
google:gemini-2.5-flash 0.30 2.50
google:gemini-2.5-flash-lite 0.10 0.40
ollama:* 0 0
"""
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z|-latest\Z")
_NANO_PER_MILLION = 1000  # a dollar per million tokens is a thousand billionths for each
_HINT = "write provider:model=IN/OUT in US dollars per million tokens, such as openai:gpt-5-mini=0.25/2"


def list_prices() -> Prices:
    """The list prices by `provider:model`; `*` stands for any model."""
    rows = (line.split() for line in _LIST.split("\n") if line)
    return {name: (Decimal(sent), Decimal(received)) for name, sent, received in rows}


def read_prices(text: str) -> Prices:
    """The prices in a value of `MEMCLI_PRICES`. Raises UsageError."""
    rows = (row.strip() for row in text.replace(";", ",").split(","))
    found = (row.rpartition("=") for row in rows if row)
    return {_name(name.strip()): _price(value.split("/"), name) for name, _, value in found}


def check_prices(data: Mapping[str, Any]) -> Prices:
    """The prices in a `prices.toml`, where each is a list of two numbers. Raises UsageError."""
    return {_name(name): _price(value if isinstance(value, list) else (), name) for name, value in data.items()}


def price_of(model: ModelName, prices: Prices) -> Price | None:
    """The price of a model; None if none is known."""
    # A dated version costs what the model costs, unless it has a price of its own.
    name = str(model)
    return prices.get(name) or prices.get(_DATED.sub("", name)) or prices.get(f"{model.provider}:*")


def priced(usage: TokenUsage, price: Price | None) -> TokenUsage:
    """`usage` with its cost, rounded up to a billionth of a dollar; without a cost if `price` is None."""
    if price is None:
        return TokenUsage(usage.tokens_in, usage.tokens_out)
    cost = (usage.tokens_in * price[0] + usage.tokens_out * price[1]) * _NANO_PER_MILLION
    return TokenUsage(usage.tokens_in, usage.tokens_out, ceil(cost))


def _name(name: str) -> str:
    provider, _, model = name.partition(":")
    if provider not in PRICES_PROVIDERS or not model:
        raise UsageError(f"a price for {name[:60]!a}, which names no model", _HINT)
    return name


def _price(values: Any, name: str) -> Price:
    try:
        sent, received = (Decimal(str(value).strip()) for value in values)
    except (ValueError, DecimalException):
        raise UsageError(f"the price of {name[:60]!a} is not two numbers", _HINT) from None
    if not all(value.is_finite() and 0 <= value < 1_000_000 for value in (sent, received)):
        raise UsageError(f"the price of {name[:60]!a} is not two numbers", _HINT)
    return sent, received
