"""The session with its messages; prompts to language models, and their names."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.shapes import ORDINAL, TEXT, TIME, Shape
from memcli.record import Record

ROLES = ("user", "assistant", "tool")
ACTIVE, PAUSED, ENDED = "active", "paused", "ended"
STATES = (ACTIVE, PAUSED, ENDED)
WINDOW_TOKENS = 128_000
"""The default size of a context window."""


class Message(Record):
    """One message of a session. Messages are numbered from 1, without gaps, in their order.

    `at` is RFC 3339 in UTC, or "" where the source gives no time. `speaker` is the name of the author, if the source has
    one. `key` is the id of the message at its source, by which an import skips it the next time. The text of a `tool` message
    states the call and whether it failed.
    """

    number: int
    role: str
    text: str
    at: str = ""
    speaker: str = ""
    key: str = ""

    @property
    def who(self) -> str:
        """The name of the author, or else the role."""
        return self.speaker or self.role


class StateChange(Record):
    """A session becomes paused, active or ended. A message after that makes it active again."""

    state: str
    at: str = ""
    outcome: str = ""


Entry = Message | StateChange
"""A line of the file of a session after the first."""


class Session(Record):
    """A conversation without its messages; `messages` is their number. `source` is the format that it was imported from,
    `key` its id there, `version` the version of the format of its own file.
    """

    id: str
    space: str
    title: str = ""
    state: str = ACTIVE
    started_at: str = ""
    ended_at: str = ""
    outcome: str = ""
    source: str = ""
    key: str = ""
    messages: int = 0
    version: int = 1


# Over two wire formats: Anthropic's messages, and OpenAI's chat completions, which the others offer, too.
PROVIDERS = ("openai", "anthropic", "google", "ollama", "huggingface", "custom")


class Prompt(Record, kw_only=True):
    """One call of a language model, answered by JSON that fits `schema`. `task` is a name and a version, such as `semantic/1`.
    Memories and messages that `text` quotes are redacted, and fenced as data."""

    task: str
    system: str
    text: str
    schema: Mapping[str, Json]
    max_tokens: int
    """The maximum length of the answer."""
    temperature: float | None = None
    """None for the default of the wire format."""


class ModelName(Record):
    """A model of a provider, written `provider:model`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def model_name(text: str) -> ModelName:
    """Parses `provider:model`. Raises UsageError."""
    provider, _, model = text.strip().partition(":")
    if provider not in PROVIDERS or not model:
        raise UsageError(f"{text[:60]!r} names no model", f"write provider:model; providers are {', '.join(PROVIDERS)}")
    return ModelName(provider, model)


SESSION_FIELDS: Mapping[str, Shape] = {
    "format": TEXT,
    "version": ORDINAL,
    "id": {**TEXT, "minLength": 1},
    "space": {**TEXT, "minLength": 1},
    "title": TEXT,
    "started_at": TIME,
    "source": TEXT,
    "key": TEXT,
}
"""The fields of the first line of the file of a session."""
MESSAGE_FIELDS: Mapping[str, Shape] = {
    "number": ORDINAL,
    "role": {**TEXT, "enum": list(ROLES)},
    "text": TEXT,
    "at": TIME,
    "speaker": TEXT,
    "key": TEXT,
}
STATE_FIELDS: Mapping[str, Shape] = {"state": {**TEXT, "enum": list(STATES)}, "at": TIME, "outcome": TEXT}
