"""The providers, as data: how each is reached, and how it differs from the others."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from memcli.errors import ProviderError
from memcli.record import Record

CHAT, MESSAGES = "chat", "messages"
"""The wire formats: chat completions of OpenAI, and messages of Anthropic."""
_OLLAMA_PORT = 11434
_ANY_HOST = ("0.0.0.0", "::")  # noqa: S104 - what a server listens on; a client cannot call it


class Provider(Record, kw_only=True):
    """A provider. The first of `key_variables` and `address_variables` that is set counts.

    `limit` is the parameter for the longest answer; `sdk` is the module of the SDK. With `has_own_headers`, the SDK's
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


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="openai",
            address="https://api.openai.com/v1",
            address_variables=("OPENAI_BASE_URL",),
            key_variables=("OPENAI_API_KEY",),
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
    """The variable that has the key; empty when none has."""
    return next((name for name in provider.key_variables if environ.get(name, "").strip()), "")


def credential(provider: Provider, environ: Mapping[str, str]) -> dict[str, str]:
    """The key, under the name by which the SDK takes it; empty when there is none."""
    variable = key_variable(provider, environ)
    name = "auth_token" if variable == "ANTHROPIC_AUTH_TOKEN" else "api_key"
    return {name: environ[variable].strip()} if variable else {}


def address(provider: Provider, environ: Mapping[str, str]) -> str:
    """Where the provider is. Raises ProviderError when no variable says so, or one says it wrongly."""
    variable = next((name for name in provider.address_variables if environ.get(name, "").strip()), "")
    if not variable:
        if not provider.address:
            names = " or ".join(provider.address_variables)
            raise ProviderError(f"{provider.name} has no address", f"set {names} to the base URL of its API")
        return provider.address
    given = environ[variable].strip()
    found = _ollama(given) if variable == "OLLAMA_HOST" else given
    if not _is_address(found):
        raise ProviderError(f"{variable} is no address of a server", "write it as https://host/v1")
    return found


def shown(address: str) -> str:
    """The address without what may be a secret in it: a user, a password, a query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _ollama(host: str) -> str:
    """The base URL for `OLLAMA_HOST`, which may lack a scheme, a port or, with a port, a host, as Ollama reads it."""
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
