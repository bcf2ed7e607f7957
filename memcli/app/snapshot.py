"""The snapshot that a memory keeps of what was said about it."""

from __future__ import annotations

from memcli.app import session as sessions
from memcli.app.workspace import Workspace
from memcli.conversation import snapshot
from memcli.model.conversation import ACTIVE, PAUSED
from memcli.model.memory import Json

INPUT = "stdin"
"""The source of what was read from standard input."""


def of_session(workspace: Workspace, ref: str | None, topic: str, tokens: int) -> list[dict[str, Json]]:
    """The parts of a session, by default the current one, that are most similar to the topic, up to so many tokens.

    Raises NotFoundError, UsageError, CorruptError.
    """
    session = sessions.find(workspace, ref) if ref else sessions.current(workspace, ACTIVE, PAUSED)
    parts = snapshot.of_messages(sessions.messages(workspace, session), session.id)
    return snapshot.choose(parts, topic, tokens)


def of_text(text: str, topic: str, tokens: int) -> list[dict[str, Json]]:
    """The parts of a text that are most similar to the topic, up to so many tokens."""
    return snapshot.choose(snapshot.of_text(text, INPUT), topic, tokens)
