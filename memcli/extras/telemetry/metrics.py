"""Metrics: the memories in a store, the commands on this machine, and the costs of language models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial

from memcli.app.recall import Views
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError
from memcli.model.memory import Json
from memcli.model.usage import (
    BOUNDS,
    BUCKET,
    COMPACTION,
    INJECTION,
    MICROS,
    NANO,
    PIN_TOGGLE,
    RUN,
    SESSION_END,
    Totals,
)
from memcli.record import Record

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
_DURATION = "memcli_command_duration_seconds"
_MILLION = 1_000_000


class Sample(Record):
    """A number with its name, which begins with that of its family, and its labels in order."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


class Family(Record):
    """The samples of one metric, whose `kind` is COUNTER, GAUGE or HISTOGRAM."""

    name: str
    kind: str
    help: str
    samples: Sequence[Sample] = ()

    def to_json(self) -> dict[str, Json]:
        samples = [{"name": one.name, "labels": dict(one.labels), "value": one.value} for one in self.samples]
        return {"name": self.name, "type": self.kind, "help": self.help, "samples": samples}


def metrics(workspace: Workspace) -> list[Family]:
    """All families in a fixed order; one without counts has no samples. Raises StoreError."""
    totals = workspace.counters.read()
    spent = sorted(workspace.ledger.sums(workspace.clock()[:10]).items())
    tokens, dollars = "memcli_provider_tokens_total", "memcli_provider_usd_total"
    used = [
        Sample(tokens, (("provider", provider), ("direction", direction)), count)
        for provider, usage in spent
        for direction, count in (("in", usage.tokens_in), ("out", usage.tokens_out))
    ]
    paid = [Sample(dollars, (("provider", provider),), (usage.nano_usd or 0) / NANO) for provider, usage in spent]
    priced = "US dollars that language models have charged, where their prices are known."
    return [
        Family("memcli_memory_objects", GAUGE, "Memories in a space.", list(_objects(workspace))),
        _counter("memcli_recall_total", "Recalls.", totals, RUN, ("space", "backend", "status"), command="recall"),
        _counter("memcli_remember_total", "Runs of remember.", totals, RUN, ("space", "status"), command="remember"),
        _counter("memcli_gc_runs_total", "Garbage collections.", totals, RUN, ("space", "status"), command="gc"),
        _counter("memcli_pin_toggle_total", "Memories that were pinned or unpinned.", totals, PIN_TOGGLE, ("space",)),
        _counter("memcli_session_end_total", "Sessions that ended.", totals, SESSION_END, ("space",)),
        _counter("memcli_injection_total", "Injections into the context of an agent.", totals, INJECTION, ("space", "event")),
        _counter("memcli_compaction_total", "Writes that made room under max_objects.", totals, COMPACTION, ("space",)),
        Family(tokens, COUNTER, "Tokens that language models have charged for.", used),
        Family(dollars, COUNTER, priced, paid),
        _counter("memcli_commands_total", "Commands that opened the store.", totals, RUN, ("command", "status")),
        Family(_DURATION, HISTOGRAM, "Duration of commands, without the start of the process.", list(_durations(totals))),
    ]  # fmt: skip


def _objects(workspace: Workspace) -> Iterator[Sample]:
    for space in workspace.store.spaces():
        try:
            with closing(Views()) as views:
                size = views.again(partial(_size, views, workspace, space))
        except CorruptError as error:  # the metrics of all other spaces are still of use
            workspace.warn(f"space {space!r} is not counted: {error.message}")
        else:
            yield Sample("memcli_memory_objects", (("space", space),), size)


def _size(views: Views, workspace: Workspace, space: str) -> int:
    return views.get(workspace, space).size


def _counter(name: str, text: str, totals: Totals, kind: str, labels: tuple[str, ...], *, command: str = "") -> Family:
    """The counts of a kind, summed by labels, which name the parts of its keys; for `RUN`, some of these parts. With `command`
    only runs of that command count."""
    parts = ("command", "space", "backend", "status") if kind == RUN else labels
    places = [1 + parts.index(label) for label in labels]
    sums: Totals = {}
    for key, count in totals.items():
        if key[0] == kind and key[1] == (command or key[1]):
            part = tuple(key[place] for place in places)
            sums[part] = sums.get(part, 0) + count
    # To Prometheus a label with an empty value is no label.
    samples = [
        Sample(name, tuple((label, value) for label, value in zip(labels, part, strict=True) if value), count)
        for part, count in sorted(sums.items())
    ]
    return Family(name, COUNTER, text, samples)


def _durations(totals: Totals) -> Iterator[Sample]:
    """The histogram of each command: the runs that took at most each bound, then the sum in seconds, and the number of runs."""
    for command in sorted(key[1] for key in totals if key[0] == MICROS):
        label = ("command", command)
        count = 0
        for bound in BOUNDS:
            # Buckets of Prometheus are cumulative; the counters are not, so that a run is one increment.
            count += totals.get((BUCKET, command, bound), 0)
            shown = "+Inf" if bound == "inf" else str(float(bound))
            yield Sample(f"{_DURATION}_bucket", (label, ("le", shown)), count)
        yield Sample(f"{_DURATION}_sum", (label,), totals[MICROS, command] / _MILLION)
        yield Sample(f"{_DURATION}_count", (label,), count)


_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def render(families: Iterable[Family]) -> str:
    """The families in the text exposition format of Prometheus, version 0.0.4, with a newline at the end."""
    # Three rules of escaping and a line for each sample are not worth a library; a test reads the text with prometheus-client.
    lines = []
    for family in families:
        text = family.help.replace("\\", r"\\").replace("\n", r"\n")
        lines += [f"# HELP {family.name} {text}", f"# TYPE {family.name} {family.kind}"]
        for sample in family.samples:
            values = [(name, value.translate(_ESCAPES)) for name, value in sample.labels]
            labels = ",".join(f'{name}="{value}"' for name, value in values)
            lines.append(f"{sample.name}{{{labels}}} {sample.value!r}" if labels else f"{sample.name} {sample.value!r}")
    return "".join(f"{line}\n" for line in lines)
