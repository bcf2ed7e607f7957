"""Usage as values: what was shown and judged, and how often a memory was accessed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.record import Record

RECALL, GET, INJECT = "recall", "get", "inject"
HELPFUL, UNHELPFUL, REJECTED = "helpful", "unhelpful", "rejected"
ACCESSES = (RECALL, GET, INJECT)
"""The acts that show a memory."""
JUDGEMENTS = (HELPFUL, UNHELPFUL, REJECTED)
"""The acts that judge one, which `maintain` applies."""
RUN = "run"
"""What the counters call a command that ended."""
COMPACTION, INJECTION, PIN_TOGGLE, SESSION_END = "compaction", "injection", "pin_toggle", "session_end"
"""The events that are counted beside commands. The first label of each is the space."""


class Use(Record):
    """What one act showed or judged in one space: the memories of `ids`, in the order shown.

    `topic` is a keyed digest. What one bundle showed in several spaces has one `key`; `places` are the numbers that its
    memories had in the bundle. `session` is a digest too; `reason`, without secrets, was given with a judgement.
    """

    at: str
    act: str
    space: str
    ids: tuple[str, ...]
    topic: str = ""
    key: str = ""
    places: tuple[int, ...] = ()
    session: str = ""
    reason: str = ""


class Access(Record):
    """How often a memory was shown, and when last."""

    count: int = 0
    last_at: str = ""

    def __add__(self, other: Access) -> Access:
        return Access(self.count + other.count, max(self.last_at, other.last_at))


Counts = Mapping[str, Mapping[str, Access]]
"""Accesses by space and id."""


def count(uses: Iterable[Use], before: Counts | None = None) -> dict[str, dict[str, Access]]:
    """The accesses in `uses`, added to those of `before`."""
    found = {space: dict(of_space) for space, of_space in (before or {}).items()}
    new: dict[tuple[str, str], list[str]] = {}
    for use in uses:
        if use.act in ACCESSES:
            for name in use.ids:
                new.setdefault((use.space, name), []).append(use.at)
    for (space, name), times in new.items():
        of_space = found.setdefault(space, {})
        of_space[name] = of_space.get(name, Access()) + Access(len(times), max(times))
    return found


def last_shown(uses: Sequence[Use], session: str = "") -> list[Use]:
    """The parts of the last bundle among `uses`, which are in order of time: of this session where it has one, else of any."""
    shown = [use for use in uses if use.act in (RECALL, INJECT) and use.places]
    own = [use for use in shown if session and use.session == session] or shown
    return [use for use in own if use.key == own[-1].key]
