"""The arc of a conversation: its episodes by thirds, and the key moments."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.episodes import Episode
from memcli.record import Record

KEY = 0.7
"""The significance from which on an episode is a key moment."""


class Arc(Record):
    """The episodes that begin in each third of the messages, and of all the key moments."""

    beginning: tuple[Episode, ...]
    middle: tuple[Episode, ...]
    end: tuple[Episode, ...]
    key_moments: tuple[Episode, ...]


def arc(episodes: Sequence[Episode], messages: int) -> Arc:
    """The arc of a conversation of so many messages, its episodes in order."""
    thirds = [min(2, (episode.turns[0] - 1) * 3 // max(1, messages)) for episode in episodes]
    first, second, third = (
        tuple(episode for episode, place in zip(episodes, thirds, strict=True) if place == n) for n in range(3)
    )
    return Arc(first, second, third, tuple(one for one in episodes if one.significance >= KEY))
