"""The session and its messages: who said what, in order.

What a language model is asked, and which one.
"""

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
"""The size of a context window that nobody chose."""


class Message(Record):
    """One message of a session. Messages are numbered from 1, without gaps, in the order in which they were said.

    `at` is RFC 3339 in UTC, or "" where the source gives no time. `speaker` is the name of who said it, where there
    is one. `key` is the id that the message has at its source: what was imported is not imported again. The text of a
    `tool` message says what was run and whether it failed.
    """

    number: int
    role: str
    text: str
    at: str = ""
    speaker: str = ""
    key: str = ""

    @property
    def who(self) -> str:
        """The name of who said it, or else the role."""
        return self.speaker or self.role


class StateChange(Record):
    """A session is paused, active again or ended. A message that follows makes it active again."""

    state: str
    at: str = ""
    outcome: str = ""


Entry = Message | StateChange
"""What a session is made of."""


class Session(Record):
    """A conversation without its messages. `source` is the format it was imported from, `key` its id there.

    `version` is that of the format of its file.
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
"""The first line of the file of a session."""
MESSAGE_FIELDS: Mapping[str, Shape] = {
    "number": ORDINAL,
    "role": {**TEXT, "enum": list(ROLES)},
    "text": TEXT,
    "at": TIME,
    "speaker": TEXT,
    "key": TEXT,
}
STATE_FIELDS: Mapping[str, Shape] = {"state": {**TEXT, "enum": list(STATES)}, "at": TIME, "outcome": TEXT}
