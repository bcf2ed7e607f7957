"""The calls to language models as lines of a ledger: one books a call by its place, another settles it."""

from __future__ import annotations

import json

from memcli.model.memory import Json
from memcli.model.metrics import Charge, Day, TokenUsage
from memcli.record import replace


def charge_to_json(charge: Charge) -> dict[str, Json]:
    """The line that books a call."""
    return {
        "number": charge.number, "at": charge.at, "space": charge.space, "provider": charge.provider,
        "model": charge.model, "task": charge.task, **cost_to_json(charge.usage),
    }  # fmt: skip


def cost_to_json(usage: TokenUsage) -> dict[str, Json]:
    """What a line says of a cost."""
    known = {} if usage.nano_usd is None else {"nano_usd": usage.nano_usd}
    return {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, **known}


def day_of(data: bytes) -> Day:
    """The calls that the lines of a day tell of."""
    charges: dict[int, Charge] = {}
    damaged = 0
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            _take(json.loads(line), number, charges)
        except (ValueError, KeyError, TypeError, RecursionError):
            damaged += 1
    return Day(tuple(charges.values()), damaged)


def _take(entry: Json, number: int, charges: dict[int, Charge]) -> None:
    """Adds what a line says to `charges`. Raises ValueError, KeyError or TypeError for one that is not of the ledger."""
    usage = _usage(entry)
    if "settles" in entry:
        known = charges[entry["settles"]]
        charges[known.number] = replace(known, usage=usage, is_settled=True)
        return
    texts = {name: entry[name] for name in ("at", "space", "provider", "model", "task")}
    if entry["number"] != number or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("not a line of this place")
    charges[number] = Charge(number=number, **texts, usage=usage)


def _usage(entry: Json) -> TokenUsage:
    values = [entry["tokens_in"], entry["tokens_out"], entry.get("nano_usd", 0)]
    if not all(isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values):
        raise ValueError("not a count")
    return TokenUsage(*values) if "nano_usd" in entry else TokenUsage(*values[:2])
