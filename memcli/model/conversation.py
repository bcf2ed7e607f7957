"""The session and its messages: who said what, in order."""

from __future__ import annotations

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
