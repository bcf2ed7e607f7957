"""Where spans go: to a collector by OTLP over HTTP, from a thread that no command waits for, but a moment at its end."""

from __future__ import annotations

import atexit
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Condition, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer


FLUSH_SECONDS = 1.0
"""How long a process waits at its end for the collector."""
_MOST_WAITING = 2_048
_MOST_AT_ONCE = 512
_OWN = "MEMCLI_OTEL_"
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
_DEFAULT_TIMEOUT = "0.75"
"""In seconds: the exporter waits for longer than this before it tries again, so that it gives up a collector that is down."""


class Sender(SpanProcessor):
    """Sends spans in a thread of its own, as they end. When the collector is slower than the commands, the oldest are lost."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._waiting: deque[ReadableSpan] = deque(maxlen=_MOST_WAITING)
        self._changed = Condition()
        self._is_busy = False
        self._pid = 0

    def on_end(self, span: ReadableSpan) -> None:
        if self._pid != os.getpid():  # threads do not survive a fork
            self._pid = os.getpid()
            self._changed = Condition()
            self._waiting.clear()
            Thread(target=self._send, daemon=True, name="memcli-otel").start()
        with self._changed:
            self._waiting.append(span)
            self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Waits until all that waits was sent, or refused, but no longer than this."""
        ends = monotonic() + seconds
        with self._changed:
            while (self._waiting or self._is_busy) and (left := ends - monotonic()) > 0 and self._pid == os.getpid():
                self._changed.wait(left)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.flush(timeout_millis / 1000)
        return not self._waiting

    def _send(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                while not self._waiting:
                    self._changed.wait()
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_AT_ONCE))]
                self._is_busy = True
            try:
                self._exporter.export(batch)
            except Exception:
                logging.getLogger("memcli").debug("spans were not sent", exc_info=True)


def make_exporter() -> SpanExporter:
    """The exporter that the environment describes."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


_lock = Lock()
_providers: dict[int, tuple[TracerProvider, Sender]] = {}


def open_tracer(environ: Mapping[str, str], make: Callable[[], SpanExporter] | None = None) -> Tracer:
    """The tracer of this process, made when it is first needed. Raises ImportError when the extra is missing."""
    from memcli import __version__

    with _lock:
        if os.getpid() not in _providers:
            # Without a handler, failures go to standard error.
            logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
            # The variables of OpenTelemetry that memcli sets: MEMCLI_OTEL_* for OTEL_*, a short time limit, and a name.
            own = {f"OTEL_{name.removeprefix(_OWN)}": value for name, value in environ.items() if name.startswith(_OWN)}
            if not any(own.get(name) or environ.get(name) for name in _TIMEOUTS):
                own[_TIMEOUTS[0]] = _DEFAULT_TIMEOUT
            given = {**environ, **own}
            if not given.get("OTEL_SERVICE_NAME") and "service.name=" not in given.get("OTEL_RESOURCE_ATTRIBUTES", ""):
                own["OTEL_SERVICE_NAME"] = "memcli"
            with _overlaid(own):
                sender = Sender((make or make_exporter)())
                provider = TracerProvider(resource=Resource.create(), shutdown_on_exit=False)
            provider.add_span_processor(sender)
            atexit.register(flush)
            _providers[os.getpid()] = provider, sender
        return _providers[os.getpid()][0].get_tracer("memcli", __version__)


def flush(seconds: float = FLUSH_SECONDS) -> None:
    """Waits for what is still to be sent, but no longer than this."""
    if os.getpid() in _providers:
        _providers[os.getpid()][1].flush(seconds)


@contextmanager
def _overlaid(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment with these variables: the SDK reads nothing else, and only when it is set up."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
