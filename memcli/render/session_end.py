"""What a session yields, for people: the memory of it, its episodes, its arc and its facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.model.memory import Json
from memcli.render.clean import clean_line

if TYPE_CHECKING:
    from memcli.app.session_end import Ended
    from memcli.conversation.arc import Arc
    from memcli.conversation.episodes import Episode
    from memcli.conversation.facts import Fact
    from memcli.model.conversation import Session

_PARTS = {"beginning": "Beginning", "middle": "Middle", "end": "End", "key_moments": "Key moments"}


def ended_lines(done: Ended) -> Iterator[str]:
    """What was made at the end of a session, a line for each memory."""
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
    """The episodes of each third, and the key moments."""
    yield clean_line(f"{session.id}  {session.title}".rstrip())
    for name, heading in _PARTS.items():
        episodes = getattr(found, name)
        if episodes:
            yield ""
            yield heading
            yield from map(_episode_line, episodes)
    if not any(getattr(found, name) for name in _PARTS):
        yield "no episodes"


def arc_to_json(found: Arc) -> Mapping[str, Json]:
    """The arc as JSON."""
    return {name: [{"kind": episode.kind, **episode.as_field()} for episode in getattr(found, name)] for name in _PARTS}


def fact_lines(named: Sequence[tuple[str, Fact]]) -> Iterator[str]:
    """A line for each fact, with its name where it has one."""
    for name, fact in named:
        where = clean_line(name) or f"#{fact.message}"
        yield f"{where}  {fact.kind:10}  {fact.confidence:.2f}  {clean_line(fact.text)}"


def _episode_line(episode: Episode) -> str:
    first, last = episode.turns
    turns = f"#{first}" if first == last else f"#{first}-{last}"
    kind = episode.kind.replace("_", " ")
    text = " -> ".join(map(clean_line, episode.parts))
    return f"  {turns:8} {kind:15} {episode.significance:.2f}  {text}"
