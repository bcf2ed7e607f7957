"""What a language model is asked, and which one."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import Record

PROVIDERS = ("openai", "anthropic", "google", "ollama", "huggingface", "custom")


class Prompt(Record, kw_only=True):
    """One question to a language model, answered by JSON that fits `schema`. `task` is its name and version, such as
    `semantic/1`. What `text` quotes of memories and messages is redacted, and fenced as data."""

    task: str
    system: str
    text: str
    schema: Mapping[str, Json]
    max_tokens: int
    """The longest answer, in tokens."""
    temperature: float | None = None
    """None leaves it to the wire format."""


class ModelName(Record):
    """A model of a provider, written `provider:model`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def model_name(text: str) -> ModelName:
    """The model that `text` names. Raises UsageError."""
    provider, _, model = text.strip().partition(":")
    if provider not in PROVIDERS or not model:
        raise UsageError(f"{text[:60]!r} names no model", f"write provider:model; providers are {', '.join(PROVIDERS)}")
    return ModelName(provider, model)
