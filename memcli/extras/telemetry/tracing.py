"""Traces of commands as OpenTelemetry spans: what was done, how long it took, how much it was; never a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import reduce
from typing import TYPE_CHECKING, Any

from memcli.app.workspace import Observer
from memcli.errors import MemcliError
from memcli.model.usage import NANO, TokenUsage

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from memcli.index.view import IndexedSpace
    from memcli.model.memory import Json
    from memcli.model.recall import Query, Ranking
    from memcli.model.space import Receipt
    from memcli.ports import Ranker, Store

RECALL = "recall"
TRACED = (RECALL, "remember", "gc")
"""The commands with a span of their own."""


class CommandSpan(Observer):
    """A command that runs; counts for its span, if it has one."""

    def __init__(self, name: str, tracer: Tracer, span: Span | None) -> None:
        super().__init__()
        self._name, self.tracer, self._span = name, tracer, span
        self._items = 0
        self.cost = TokenUsage(0, 0)

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        self.backend = name
        return _Ranker(name, ranker, self, sign) if self._span is not None and self._name == RECALL else ranker

    def shown(self, count: int) -> None:
        if self._span is not None and self._name == RECALL:
            self._items += count

    def store(self, store: Store) -> Store:
        return _Store(store, self.add_items) if self._span is not None and self._name != RECALL else store

    def add_items(self, count: int) -> None:
        self._items += count

    def note_topic(self, digest: str) -> None:
        if self._span is not None and digest:
            self._span.set_attribute("memcli.topic_digest", digest)

    def ended(self, space: str, code: int) -> None:
        if self._span is None:
            return
        told = {"memcli.space": space, "memcli.backend": self.backend if self._name == RECALL else ""}
        self._span.set_attributes({name: value for name, value in told.items() if value})
        self._span.set_attributes({"memcli.items": self._items, "memcli.exit_code": code})
        if self.cost.tokens:
            self._span.set_attributes(_of_cost(self.cost))


_command: ContextVar[CommandSpan | None] = ContextVar("memcli_command", default=None)
_running: list[CommandSpan] = []


@contextmanager
def running(name: str, tracer: Tracer, environ: Mapping[str, str]) -> Iterator[CommandSpan]:
    """Around a command, which has a span if it is one of `TRACED`."""
    from opentelemetry import context

    parent = context.attach(_parent(environ))
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


_costs: ContextVar[list[TokenUsage] | None] = ContextVar("memcli_costs", default=None)
"""What the calls for the question under way have cost."""


@contextmanager
def asking(provider: str, model: str, task: str) -> Iterator[None]:
    """Around one question to a language model, which may take several calls."""
    command = _command.get() or (_running[0] if len(_running) == 1 else None)  # a thread of its own has no context
    if command is None:
        yield
        return
    costs: list[TokenUsage] = []
    token = _costs.set(costs)
    told = {"memcli.provider": provider, "memcli.model": model, "memcli.task": task}
    try:
        with _span(command.tracer, "memcli.provider", told) as span:
            try:
                yield
            finally:
                cost = reduce(_plus, costs, TokenUsage(0, 0))
                command.cost = _plus(command.cost, cost)
                span.set_attributes(_of_cost(cost))
    finally:
        _costs.reset(token)


def note_cost(usage: TokenUsage) -> None:
    """Adds the cost of a call to the question that it was made for."""
    if (costs := _costs.get()) is not None:
        costs.append(usage)


def _parent(environ: Mapping[str, str]) -> Any:
    """The span of the program that calls, or that which TRACEPARENT names."""
    from opentelemetry import context, trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    current = context.get_current()
    if trace.get_current_span(current).get_span_context().is_valid or not environ.get("TRACEPARENT"):
        return current
    carrier = {name: environ[name.upper()] for name in ("traceparent", "tracestate") if environ.get(name.upper())}
    return TraceContextTextMapPropagator().extract(carrier, current)


@contextmanager
def _span(tracer: Tracer, name: str, attributes: Mapping[str, str] = {}) -> Iterator[Span]:
    """A span, in which an error is recorded by its kind: its message may quote a text."""
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
    """The sum; a price that is not known leaves the other."""
    known = [usage.nano_usd for usage in (one, other) if usage.nano_usd is not None]
    return TokenUsage(one.tokens_in + other.tokens_in, one.tokens_out + other.tokens_out, sum(known) if known else None)


def _of_cost(usage: TokenUsage) -> dict[str, int | float]:
    told: dict[str, int | float] = {"memcli.tokens_in": usage.tokens_in, "memcli.tokens_out": usage.tokens_out}
    return told if usage.nano_usd is None else {**told, "memcli.cost_usd": usage.nano_usd / NANO}


class _Ranker:
    """A ranker with a span for each space that it is asked for."""

    def __init__(self, name: str, ranker: Ranker, command: CommandSpan, sign: Callable[[str], str]) -> None:
        self._name, self._ranker, self._command, self._sign = name, ranker, command, sign

    def __call__(self, query: Query, view: IndexedSpace) -> Ranking:
        digest = self._sign(query.topic)
        self._command.note_topic(digest)
        told = {"memcli.backend": self._name, "memcli.topic_digest": digest}
        with _span(self._command.tracer, f"memcli.recall.{self._name}", told) as span:
            ranking = self._ranker(query, view)
            span.set_attribute("memcli.items", len(ranking.hits))
        return ranking


class _Store:
    """A store; `changed` is told how many memories a write touched."""

    def __init__(self, store: Store, changed: Callable[[int], None]) -> None:
        self._store, self._changed = store, changed
        self.spaces, self.open, self.policy, self.delete = store.spaces, store.open, store.policy, store.delete

    def update(self, space: str, change: Any) -> Receipt:
        receipt = self._store.update(space, change)
        self._changed(len(receipt.touched))
        return receipt

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        answer, receipt = self._store.submit(space, request)
        self._changed(len(receipt.touched))
        return answer, receipt
