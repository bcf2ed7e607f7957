"""What each provider has charged in all: the days of the ledger that are over are summed once, and kept in
`ledger/sums.json`, so that the sums stay when the ledger removes its oldest days, and only grow."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memcli.clock import system_clock
from memcli.codec.canonical import encode_line
from memcli.model.spending import TokenUsage
from memcli.store.atomic import replace_file
from memcli.store.reading import read_json

if TYPE_CHECKING:
    from memcli.store.ledger import StoreLedger

Sums = dict[str, TokenUsage]
_OPEN_DAYS = 2
"""The last days with calls are summed anew each time: a call that midnight came over is settled on the day before."""


def sum_up(ledger: StoreLedger, path: str, today: str) -> Sums:
    """The sums by provider; a call counts when it is settled, or when its day is over. `path` has those of the days that are
    over. Raises StoreError."""
    through, sums = _load(path)
    days = [day for day in ledger.days() if day > through]
    over = [day for day in days if day < min(today, system_clock()[:10])][:-_OPEN_DAYS]
    for day in over:
        _add(sums, ledger, day, is_over=True)
    if over:
        _keep(path, over[-1], sums)
    for day in days[len(over) :]:
        _add(sums, ledger, day, is_over=day < today)
    return sums


def _add(sums: Sums, ledger: StoreLedger, day: str, *, is_over: bool) -> None:
    for charge in ledger.charges(day):
        if is_over or charge.is_settled:
            one, more = sums.get(charge.provider, TokenUsage(0, 0, 0)), charge.usage
            nano = (one.nano_usd or 0) + (more.nano_usd or 0)
            sums[charge.provider] = TokenUsage(one.tokens_in + more.tokens_in, one.tokens_out + more.tokens_out, nano)


def _keep(path: str, through: str, sums: Sums) -> None:
    """Notes the sums; where that fails they are made again the next time."""
    data = {"through": through, "sums": {name: [u.tokens_in, u.tokens_out, u.nano_usd] for name, u in sums.items()}}
    with suppress(OSError):
        replace_file(path, encode_line(data))


def _load(path: str) -> tuple[str, Sums]:
    found = read_json(path)
    match found:
        case {"through": str(through), "sums": dict(sums)} if all(map(_is_usage, sums.values())):
            return through, {str(name): TokenUsage(*numbers) for name, numbers in sums.items()}
    return "", {}


def _is_usage(numbers: object) -> bool:
    return isinstance(numbers, list) and len(numbers) == 3 and all(type(n) is int and n >= 0 for n in numbers)
