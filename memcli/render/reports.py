"""Reports for people: sessions with their episodes and facts, the result of a merge, and a space file as text for `git diff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.codec.canonical import encode_line
from memcli.codec.memory import DELETED
from memcli.codec.merge import Merged
from memcli.codec.space import SpaceForm, header_to_json
from memcli.model.conversation import Message, Session
from memcli.model.memory import Json
from memcli.model.space import Space
from memcli.render.clean import clean_line, escape

if TYPE_CHECKING:
    from memcli.app.session_end import Ended
    from memcli.conversation.episodes import Arc
    from memcli.conversation.facts import Fact


_INDENT = "  "


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


_PARTS = {"beginning": "Beginning", "middle": "Middle", "end": "End", "key_moments": "Key moments"}


def ended_lines(done: Ended) -> Iterator[str]:
    """The memories that the end of a session made, one per line, and the number of proposed facts."""
    yield f"ended {done.session.id}"
    for outcome in (*done.log, *done.episodes, *done.facts):
        yield f"  {outcome.status} {outcome.id} {clean_line(outcome.path)}"
    waiting = sum(outcome.status == "proposed" for outcome in done.promoted)
    for outcome in done.promoted:
        if outcome.status != "proposed":
            yield f"  {outcome.status} {outcome.id} {clean_line(outcome.path)} in {outcome.space}"
    if waiting:
        yield f"{waiting} fact{'s' if waiting > 1 else ''} proposed; review with `memcli inbox`"


def arc_lines(session: Session, found: Arc) -> Iterator[str]:
    """The episodes at the beginning, in the middle and at the end of a session, and its key moments."""
    yield clean_line(f"{session.id}  {session.title}".rstrip())
    parts = [(heading, found[name]) for name, heading in _PARTS.items()]
    for heading, episodes in parts:
        if episodes:
            yield ""
            yield heading
        for episode in episodes:
            first, last = episode.turns
            turns = f"#{first}" if first == last else f"#{first}-{last}"
            text = " -> ".join(map(clean_line, episode.parts))
            yield f"  {turns:8} {episode.kind.replace('_', ' '):15} {episode.significance:.2f}  {text}"
    if not any(episodes for _, episodes in parts):
        yield "no episodes"


def fact_lines(named: Sequence[tuple[str, Fact]]) -> Iterator[str]:
    """One line per fact: its name, or else the number of its message; kind, confidence and text."""
    for name, fact in named:
        where = clean_line(name) or f"#{fact.message}"
        yield f"{where}  {fact.kind:10}  {fact.confidence:.2f}  {clean_line(fact.text)}"


# Time, version and hash change with every edit: in a diff they would hide what was changed.
_HIDDEN = frozenset("format version space updated_at path raw metadata.hash".split())


def space_text(space: Space) -> str:
    """A space file as text for `git diff`: the fields of the space, then a block for each memory, in order of path.

    Invisible characters are escaped, so that a reviewer sees them.
    """
    form = SpaceForm(space.name)
    blocks = [f"space {escape(space.name)}\n{_fields(header_to_json(space))}"]
    for memory in sorted(space.objects, key=lambda memory: (memory.path, memory.id)):
        lines = memory.raw.split("\n") if memory.raw else []
        text = "".join(f"  {escape(line)}".rstrip() + "\n" for line in lines)
        blocks.append(f"{escape(memory.path)}\n{text}{_fields(form.to_json(memory))}")
    return "\n".join(blocks)


def _fields(fields: Mapping[str, Json]) -> str:
    shown = ((name, value) for name, value in sorted(_stated(fields)) if name not in _HIDDEN)
    return "".join(f"    {escape(name)}: {escape(value)}".rstrip() + "\n" for name, value in shown)


def _stated(fields: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The names and values of the fields that are not null; those in metadata and policy one by one, as `metadata.NAME`."""
    for name, value in fields.items():
        if name in ("metadata", "policy") and isinstance(value, dict):
            yield from _stated(value, f"{name}.")
        elif value is not None:
            yield prefix + name, value if isinstance(value, str) and "\n" not in value else encode_line(value).decode()


_SHOWN_CONFLICTS = 5


def merged_text(merged: Merged) -> str:
    """The conflicts of a merge and the memories that it moved, on one line."""
    back = [c.path for c in merged.conflicts if c.field == DELETED]
    decided = [f"{c.path or 'the space'} ({c.field})" for c in merged.conflicts if c.field != DELETED]
    parts = []
    if decided:
        what = "1 conflict" if len(decided) == 1 else f"{len(decided)} conflicts"
        parts.append(f"{what} (kept the newer value, recorded the older one in metadata.conflicts): {_first(decided)}")
    if back:
        why = "kept, because one side edited what the other deleted"
        parts.append(f"{why}: {_first(back)} (`memcli forget --purge PATH` deletes it again)")
    if merged.moved:
        parts.append(f"two memories had the same path; moved one to {', '.join(sorted(merged.moved.values()))}")
    return "; ".join(parts)


def _first(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN_CONFLICTS
    return f"{', '.join(names[:_SHOWN_CONFLICTS])}{f' and {rest} more' if rest > 0 else ''}"
