"""Metrics: what a store holds, what was done with it on this machine, and what language models have cost.

What language models have cost, and whether one answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from memcli.app.recall import Views
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError
from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.usage import (
    BOUNDS,
    BUCKET,
    COMPACTION,
    COUNTER,
    GAUGE,
    HISTOGRAM,
    INJECTION,
    MICROS,
    NANO,
    PIN_TOGGLE,
    RUN,
    SESSION_END,
    Charge,
    Family,
    Key,
    Sample,
    TokenUsage,
    Total,
    Totals,
    total,
)
from memcli.ports.language_model import LanguageModel
from memcli.record import Record

_DURATION = "memcli_command_duration_seconds"
_MILLION = 1_000_000


def metrics(workspace: Workspace) -> list[Family]:
    """All families, in the same order every time; one that nothing was counted in has no samples. Raises StoreError."""
    totals = workspace.counters.read()
    runs = {key[1:]: count for key, count in totals.items() if key[0] == RUN}
    return [
        Family("memcli_memory_objects", GAUGE, "Memories in a space.", list(_objects(workspace))),
        _runs("memcli_recall_total", "Recalls.", runs, "recall", ("space", "backend", "status")),
        _runs("memcli_remember_total", "Runs of remember.", runs, "remember", ("space", "status")),
        _runs("memcli_gc_runs_total", "Garbage collections.", runs, "gc", ("space", "status")),
        _events("memcli_pin_toggle_total", "Memories that were pinned or unpinned.", totals, PIN_TOGGLE, ("space",)),
        _events("memcli_session_end_total", "Sessions that ended.", totals, SESSION_END, ("space",)),
        _events("memcli_injection_total", "Injections into the context of an agent.", totals, INJECTION, ("space", "event")),
        _events("memcli_compaction_total", "Writes that made room under max_objects.", totals, COMPACTION, ("space",)),
        *_spending(workspace),
        _runs("memcli_commands_total", "Commands that opened the store.", runs, "", ("command", "status")),
        Family(_DURATION, HISTOGRAM, "Duration of commands, without the start of the process.", list(_durations(totals))),
    ]  # fmt: skip


def _objects(workspace: Workspace) -> Iterator[Sample]:
    for space in workspace.store.spaces():
        try:
            with Views() as views:
                size = views.again(partial(_size, views, workspace, space))
        except CorruptError as error:
            workspace.warn(f"space {space!r} is not counted: {error.message}")
        else:
            yield Sample("memcli_memory_objects", (("space", space),), size)


def _size(views: Views, workspace: Workspace, space: str) -> int:
    return views.get(workspace, space).size


def _runs(name: str, text: str, runs: Totals, command: str, labels: tuple[str, ...]) -> Family:
    """The commands of a name, or all, by some of the labels of `RUN`."""
    places = [("command", "space", "backend", "status").index(label) for label in labels]
    chosen = {key: count for key, count in runs.items() if key[0] == (command or key[0])}
    return Family(name, COUNTER, text, _summed(name, chosen, labels, lambda key: tuple(key[place] for place in places)))


def _events(name: str, text: str, totals: Totals, event: str, labels: tuple[str, ...]) -> Family:
    chosen = {key: count for key, count in totals.items() if key[0] == event}
    return Family(name, COUNTER, text, _summed(name, chosen, labels, lambda key: key[1:]))


def _summed(name: str, counts: Totals, labels: tuple[str, ...], part: Callable[[Key], Key]) -> list[Sample]:
    sums: Totals = {}
    for key, count in counts.items():
        sums[part(key)] = sums.get(part(key), 0) + count
    return [
        Sample(name, tuple((label, value) for label, value in zip(labels, key, strict=True) if value), count)
        for key, count in sorted(sums.items())
    ]


def _durations(totals: Totals) -> Iterator[Sample]:
    """Of each command the runs up to each bound, then their sum and number."""
    for command in sorted(key[1] for key in totals if key[0] == MICROS):
        label = ("command", command)
        count = 0
        for bound in BOUNDS:
            count += totals.get((BUCKET, command, bound), 0)
            shown = "+Inf" if bound == "inf" else str(float(bound))
            yield Sample(f"{_DURATION}_bucket", (label, ("le", shown)), count)
        yield Sample(f"{_DURATION}_sum", (label,), totals[MICROS, command] / _MILLION)
        yield Sample(f"{_DURATION}_count", (label,), count)


def _spending(workspace: Workspace) -> list[Family]:
    spent = workspace.ledger.sums(workspace.clock()[:10])
    return [_tokens(spent), _dollars(spent)]


def _tokens(spent: Mapping[str, TokenUsage]) -> Family:
    name = "memcli_provider_tokens_total"
    return Family(name, COUNTER, "Tokens that language models have charged for.", [
        Sample(name, (("provider", provider), ("direction", direction)), count)
        for provider, usage in sorted(spent.items())
        for direction, count in (("in", usage.tokens_in), ("out", usage.tokens_out))
    ])  # fmt: skip


def _dollars(spent: Mapping[str, TokenUsage]) -> Family:
    name = "memcli_provider_usd_total"
    return Family(name, COUNTER, "US dollars that language models have charged, where their prices are known.", [
        Sample(name, (("provider", provider),), (usage.nano_usd or 0) / NANO) for provider, usage in sorted(spent.items())
    ])  # fmt: skip


_QUESTION = Prompt(
    task="check/1",
    system="You check a connection. Answer with JSON alone.",
    text='Answer {"ok": true}.',
    schema={"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    max_tokens=1000,  # a model that thinks before it answers needs some
)


class Spent(Record):
    """What a provider has cost on a day for a space."""

    day: str
    space: str
    provider: str
    total: Total

    def to_json(self) -> dict[str, Json]:
        known = self.total.unpriced < self.total.calls
        return {
            "day": self.day, "space": self.space, "provider": self.provider, "calls": self.total.calls,
            "tokens_in": self.total.tokens_in, "tokens_out": self.total.tokens_out,
            "usd": self.total.nano_usd / NANO if known else None,
            "unpriced": self.total.unpriced, "unsettled": self.total.pending,
        }  # fmt: skip


def check_model(model: LanguageModel, within: float) -> None:
    """Asks a model one short question. Raises ProviderError, RefusedError."""
    model.ask(_QUESTION, lambda data: data, within)


def spent(workspace: Workspace, since: str = "", until: str = "") -> list[Spent]:
    """The cost of each day from `since` until `until`, by space and provider, in this order; of the space that the user
    named, or of all. Raises StoreError."""
    found: dict[tuple[str, str, str], list[Charge]] = {}
    for day in workspace.ledger.days():
        if since <= day <= (until or day):
            for charge in workspace.ledger.charges(day):
                if not workspace.is_space_named or charge.space == workspace.space:
                    found.setdefault((day, charge.space, charge.provider), []).append(charge)
    return [Spent(*key, total(charges)) for key, charges in sorted(found.items())]
