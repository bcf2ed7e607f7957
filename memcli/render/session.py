"""Sessions for people: a list of them, and one with its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memcli.model.conversation import Message, Session
from memcli.render.clean import clean_line, grid

_HEADER = ("id", "state", "messages", "started", "source", "title")
_INDENT = "  "


def session_table(sessions: Sequence[Session], problems: Sequence[str]) -> str:
    """One line a session; a problem stands in the place of the title."""
    rows = [
        [s.id, s.state, str(s.messages), s.started_at, s.source, problem or s.title]
        for s, problem in zip(sessions, problems, strict=True)
    ]
    return grid(_HEADER, rows) if rows else ""


def session_lines(session: Session, messages: Iterable[Message]) -> Iterator[str]:
    """The session, then its messages with their numbers, indented."""
    yield clean_line(f"{session.id}  {session.title}".rstrip())
    many = "1 message" if session.messages == 1 else f"{session.messages} messages"
    facts = [session.state, many, f"started {session.started_at}" if session.started_at else "", session.source]
    yield clean_line(" · ".join(filter(None, facts)))
    if session.outcome:
        yield clean_line(f"outcome: {session.outcome}")
    for message in messages:
        who = message.who if message.who == message.role else f"{message.role} ({message.who})"
        yield ""
        yield clean_line(f"#{message.number}  {who}  {message.at}".rstrip())
        yield from (f"{_INDENT}{line}".rstrip() for line in message.text.split("\n"))
