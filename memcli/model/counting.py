"""Counting: events as lines of a log, and their totals. A line has no text of a user but the name of a space.

run <tab> recall <tab> main <tab> fusion <tab> 0 <tab> 48211      a command: space, backend, exit code, microseconds
compaction <tab> main <tab> 1                                     any other event: its labels, and how many
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from memcli.model.usage import COMPACTION, INJECTION, PIN_TOGGLE, RUN, SESSION_END

Key = tuple[str, ...]
Totals = dict[Key, int]
"""How many of each, by name and labels: `("run", command, space, backend, exit code)`, `("le", command, bound)`,
`("micros", command)`, and the events of `EVENTS`."""

BUCKET, MICROS = "le", "micros"
EVENTS: Mapping[str, int] = {COMPACTION: 1, INJECTION: 2, PIN_TOGGLE: 1, SESSION_END: 1}
"""The events that are counted beside commands, with how many labels they have. The first label is the space."""
BOUNDS = (".005", ".01", ".025", ".05", ".1", ".25", ".5", "1", "2.5", "5", "10", "30", "inf")
"""The upper bounds of durations, in seconds."""
MAX_SPACES = 100
"""How many spaces are told apart; the others are counted together."""
OTHERS = "*"
_ENDLESS = frozenset(("browse", "mcp", "serve", "watch"))
"""Commands that run until they are stopped: how long says nothing."""
_LIMITS = [float(bound) for bound in BOUNDS]
_MOST_DIGITS = 15
_SPACE_AT = {RUN: 2, **dict.fromkeys(EVENTS, 1)}


def add_lines(totals: Totals, lines: Iterable[bytes]) -> None:
    """Adds what the lines say, except those that are damaged."""
    spaces = {key[_SPACE_AT[key[0]]] for key in totals if key[0] in _SPACE_AT}
    for line in lines:
        *key, amount = line.decode("utf-8", "replace").split("\t")
        if not (_is_key(key) and amount.isdecimal() and len(amount) <= _MOST_DIGITS):
            continue
        place = _SPACE_AT[key[0]]
        if key[place] not in spaces and len(spaces) >= MAX_SPACES:
            key[place] = OTHERS
        spaces.add(key[place])
        _add(totals, tuple(key), int(amount))


def _is_key(key: list[str]) -> bool:
    if key[:1] == [RUN]:
        return len(key) == 5 and key[4].isdecimal()
    return bool(key) and EVENTS.get(key[0]) == len(key) - 1


def _add(totals: Totals, key: Key, amount: int) -> None:
    if key[0] != RUN:
        totals[key] = totals.get(key, 0) + amount
        return
    parts: Totals = {key: 1}
    if key[1] not in _ENDLESS:
        parts |= {(BUCKET, key[1], BOUNDS[bisect_left(_LIMITS, amount / 1e6)]): 1, (MICROS, key[1]): amount}
    for part, count in parts.items():
        totals[part] = totals.get(part, 0) + count
