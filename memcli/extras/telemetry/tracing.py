"""Traces of commands as OpenTelemetry spans: names, durations and counts, but never text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import reduce
from typing import TYPE_CHECKING

from memcli.app.workspace import Observer
from memcli.errors import MemcliError
from memcli.model.usage import NANO, TokenUsage

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from memcli.index.view import IndexedSpace
    from memcli.model.recall import Query, Ranking
    from memcli.ports import Ranker

RECALL = "recall"
TRACED = (RECALL, "remember", "gc")
"""The commands that have a span."""


class CommandSpan(Observer):
    """A running command: the counts and costs for its span, which only commands in TRACED have."""

    def __init__(self, name: str, tracer: Tracer, span: Span | None) -> None:
        super().__init__()
        self._name, self.tracer, self._span = name, tracer, span
        self.items = 0
        self.cost = TokenUsage(0, 0)

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        self.backend = name
        command = self._span
        if command is None or self._name != RECALL:
            return ranker

        def traced(query: Query, view: IndexedSpace) -> Ranking:
            # The keyed digest of the topic relates recalls of one topic without its text.
            digest = sign(query.topic)
            if digest:
                command.set_attribute("memcli.topic_digest", digest)
            attributes = {"memcli.backend": name, "memcli.topic_digest": digest}
            with _span(self.tracer, f"memcli.recall.{name}", attributes) as span:
                ranking = ranker(query, view)
                span.set_attribute("memcli.items", len(ranking.hits))
            return ranking

        return traced

    def shown(self, count: int) -> None:
        if self._span is not None and self._name == RECALL:
            self.items += count

    def written(self, count: int) -> None:
        if self._span is not None and self._name != RECALL:
            self.items += count

    def ended(self, space: str, code: int) -> None:
        if self._span is None:
            return
        places = {"memcli.space": space, "memcli.backend": self.backend if self._name == RECALL else ""}
        self._span.set_attributes({name: value for name, value in places.items() if value})
        self._span.set_attributes({"memcli.items": self.items, "memcli.exit_code": code})
        if self.cost.tokens:
            self._span.set_attributes(_of_cost(self.cost))


_command: ContextVar[CommandSpan | None] = ContextVar("memcli_command", default=None)
_running: list[CommandSpan] = []


@contextmanager
def running(name: str, tracer: Tracer, environ: Mapping[str, str]) -> Iterator[CommandSpan]:
    """Yields the trace of a command, which has a span if it is one of `TRACED`.

    The parent of its spans is the current span of the calling program, else the one that TRACEPARENT names (W3C Trace Context).
    """
    from opentelemetry import context, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    found = context.get_current()
    if environ.get("TRACEPARENT") and not trace.get_current_span(found).get_span_context().is_valid:
        carrier = {name: environ[name.upper()] for name in ("traceparent", "tracestate") if environ.get(name.upper())}
        found = TraceContextTextMapPropagator().extract(carrier, found)
    parent = context.attach(found)
    try:
        with _span(tracer, f"memcli.{name}") if name in TRACED else nullcontext() as span:
            command = CommandSpan(name, tracer, span)
            token = _command.set(command)
            _running.append(command)
            try:
                yield command
            finally:
                _running.remove(command)
                _command.reset(token)
    finally:
        context.detach(parent)


# The costs of the calls for the current request, which may be several: one that fails is repeated.
_costs: ContextVar[list[TokenUsage] | None] = ContextVar("memcli_costs", default=None)


@contextmanager
def asking(provider: str, model: str, task: str) -> Iterator[None]:
    """Gives a span to one request to a language model, which its body makes; the request may take several calls."""
    # A thread that the command has started does not inherit the context variable: there the only running command is meant.
    command = _command.get() or (_running[0] if len(_running) == 1 else None)
    if command is None:
        yield
        return
    costs: list[TokenUsage] = []
    token = _costs.set(costs)
    attributes = {"memcli.provider": provider, "memcli.model": model, "memcli.task": task}
    try:
        with _span(command.tracer, "memcli.provider", attributes) as span:
            try:
                yield
            finally:
                cost = reduce(_plus, costs, TokenUsage(0, 0))
                command.cost = _plus(command.cost, cost)
                span.set_attributes(_of_cost(cost))
    finally:
        _costs.reset(token)


def note_cost(usage: TokenUsage) -> None:
    """Adds the cost of a call to the request that it was made for."""
    if (costs := _costs.get()) is not None:
        costs.append(usage)


@contextmanager
def _span(tracer: Tracer, name: str, attributes: Mapping[str, str] = {}) -> Iterator[Span]:
    """Yields a span. Of an error only the type is recorded, since its message may quote text."""
    from opentelemetry.trace import StatusCode

    with tracer.start_as_current_span(
        name, attributes=dict(attributes), record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:
            kind, code = type(error).__name__, ""
            if isinstance(error, MemcliError):
                kind, code = error.code, f" (exit code {error.exit_code})"
            span.set_attribute("error.type", kind)
            span.set_status(StatusCode.ERROR, f"memcli failed: {kind}{code}")
            raise


def _plus(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    """The sum of two costs; an unknown price counts as none, unless both are unknown."""
    known = [usage.nano_usd for usage in (one, other) if usage.nano_usd is not None]
    return TokenUsage(one.tokens_in + other.tokens_in, one.tokens_out + other.tokens_out, sum(known) if known else None)


def _of_cost(usage: TokenUsage) -> dict[str, int | float]:
    counts: dict[str, int | float] = {"memcli.tokens_in": usage.tokens_in, "memcli.tokens_out": usage.tokens_out}
    return counts if usage.nano_usd is None else {**counts, "memcli.cost_usd": usage.nano_usd / NANO}
