"""Counts: accesses and judgements of memories, commands and events, questions without an answer, and the tokens and costs of
language models. Of texts of users they contain only names of spaces, topics of gaps and reasons of judgements.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from memcli.record import Record, replace

RECALL, GET, INJECT = "recall", "get", "inject"
HELPFUL, UNHELPFUL, REJECTED = "helpful", "unhelpful", "rejected"
ACCESSES = (RECALL, GET, INJECT)
"""The acts that show a memory."""
JUDGEMENTS = (HELPFUL, UNHELPFUL, REJECTED)
"""The acts that judge a memory, which `store maintain` applies."""
RUN = "run"
"""The name of the counter of commands that ended."""
COMPACTION, INJECTION, PIN_TOGGLE, SESSION_END = "compaction", "injection", "pin_toggle", "session_end"
"""The events that are counted beside commands."""


class Use(Record):
    """An act that showed or judged the memories of `ids` in one space, in the order shown.

    `topic` is a keyed digest. The uses of one bundle in several spaces have one `key`; `places` are the numbers of the
    memories in the bundle. `session` is a digest too; `reason` is the redacted text of a judgement.
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
    """How often a memory was shown, and the time of the last access."""

    count: int = 0
    last_at: str = ""

    def __add__(self, other: Access) -> Access:
        return Access(self.count + other.count, max(self.last_at, other.last_at))


Counts = Mapping[str, Mapping[str, Access]]
"""Accesses by space and id."""


def count(uses: Iterable[Use], before: Counts | None = None) -> dict[str, dict[str, Access]]:
    """The accesses in `uses`, added to the counts `before`."""
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


Key = tuple[str, ...]
Totals = dict[Key, int]
"""Counters by name and labels: `("run", command, space, backend, exit code)`, `("le", command, bound)`, `("micros", command)`,
and the events of `EVENTS`."""

BUCKET, MICROS = "le", "micros"
EVENTS: Mapping[str, int] = {COMPACTION: 1, INJECTION: 2, PIN_TOGGLE: 1, SESSION_END: 1}
"""The number of labels of each event. The first label is the space."""
BOUNDS = (".005", ".01", ".025", ".05", ".1", ".25", ".5", "1", "2.5", "5", "10", "30", "inf")
"""The upper bounds of durations, in seconds."""
MAX_SPACES = 100
"""So many spaces have counters of their own; the others share those of OTHERS."""
OTHERS = "*"
_ENDLESS = frozenset(("browse", "mcp", "serve", "watch"))
"""Commands that run until they are stopped: their durations are not counted."""
_LIMITS = [float(bound) for bound in BOUNDS]
_SPACE_AT = {RUN: 2, **dict.fromkeys(EVENTS, 1)}


def space_of(key: Key) -> str:
    """The space of a counter, empty for one without a space."""
    place = _SPACE_AT.get(key[0])
    return "" if place is None else key[place]


def parts_of(key: Key, amount: int) -> Totals:
    """The counters that an event increases: by `amount`, which of a command is its duration in microseconds."""
    if key[0] != RUN:
        return {key: amount}
    if key[1] in _ENDLESS:
        return {key: 1}
    return {key: 1, (BUCKET, key[1], BOUNDS[bisect_left(_LIMITS, amount / 1e6)]): 1, (MICROS, key[1]): amount}


MAX_GAPS = 200
"""The maximum number of stored gaps: the most frequent, and of equally frequent ones the latest."""
MAX_TOPIC = 200


class Gap(Record):
    """A redacted topic for which a recall found nothing in a space: how often, and the times of the first and the last query."""

    topic: str
    space: str
    count: int
    first_at: str
    last_at: str

    @property
    def key(self) -> tuple[str, str]:
        """A key that is equal for topics that differ only in case, spaces and punctuation at their ends."""
        return self.space, " ".join(self.topic.casefold().split()).strip(" ?!.,:;")


GapTopic = tuple[str, tuple[Gap, ...]]
"""The name of a subject that several gaps have in common, and these gaps."""


def in_order(gaps: Iterable[Gap]) -> list[Gap]:
    """Sorted: the most frequent first, then the latest, then by topic."""
    ordered = sorted(gaps, key=lambda gap: (gap.space, gap.topic))
    ordered.sort(key=lambda gap: gap.last_at, reverse=True)
    ordered.sort(key=lambda gap: -gap.count)
    return ordered


def with_gap(gaps: Sequence[Gap], new: Gap) -> list[Gap]:
    """The gaps and one more, in order, at most MAX_GAPS. The new one is included even if all others are more frequent."""
    old = next((gap for gap in gaps if gap.key == new.key), None)
    if old is not None:
        new = replace(old, count=old.count + new.count, last_at=max(old.last_at, new.last_at))
    rest = in_order(gap for gap in gaps if gap.key != new.key)[: MAX_GAPS - 1]
    return in_order([*rest, new])


NANO = 1_000_000_000


class TokenUsage(Record):
    """Tokens sent and received, and their price in billionths of a dollar, None when no price is known."""

    tokens_in: int
    tokens_out: int
    nano_usd: int | None = None

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Charge(Record, kw_only=True):
    """One call in the ledger. `number` is its index in the day; until `is_settled`, `usage` is the maximum it may be."""

    number: int = 0
    at: str
    space: str
    provider: str
    model: str
    task: str
    usage: TokenUsage
    is_settled: bool = False


class Total(Record, kw_only=True):
    """The sum of several calls. `pending` of them are not settled; `unpriced` of them have no known price."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    nano_usd: int = 0
    pending: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Day(Record):
    """The calls of a day, in order, and the number of damaged lines."""

    charges: tuple[Charge, ...]
    damaged: int = 0


def total(charges: Iterable[Charge]) -> Total:
    """The sum of `charges`."""
    found = list(charges)
    return Total(
        calls=len(found),
        tokens_in=sum(c.usage.tokens_in for c in found),
        tokens_out=sum(c.usage.tokens_out for c in found),
        nano_usd=sum(c.usage.nano_usd or 0 for c in found),
        pending=sum(not c.is_settled for c in found),
        unpriced=sum(c.usage.nano_usd is None for c in found),
    )
