"""The export of spans: a thread sends them to a collector by OTLP over HTTP; a process waits for it only at its end, for a second."""

from __future__ import annotations

import atexit
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from threading import Condition, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer


FLUSH_SECONDS = 1.0
"""How long a process waits for the collector at its end."""
_MOST_WAITING = 2_048
_MOST_AT_ONCE = 512
# Claude Code removes OTEL_* from the environment of hooks and MCP servers that it starts, so that these have names of
# their own.
_OWN = "MEMCLI_OTEL_"
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
# In seconds. The exporter waits longer than this before it tries again, so that it gives up on a collector that is
# down.
_DEFAULT_TIMEOUT = "0.75"


class Sender(SpanProcessor):
    """Sends spans in a thread of its own, as they end. If the collector is slower than the commands, the oldest are dropped."""

    # Not the SDK's BatchSpanProcessor, which does not bound how long a process waits at its end.

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._waiting: deque[ReadableSpan] = deque(maxlen=_MOST_WAITING)
        self._changed = Condition()
        self._is_busy = False
        self._pid = 0

    def on_end(self, span: ReadableSpan) -> None:
        # A fork has no threads of its parent, may have copied a lock that one of them held, and does not send its spans.
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._changed = Condition()
            self._waiting.clear()
            Thread(target=self._send, daemon=True, name="memcli-otel").start()
        with self._changed:
            self._waiting.append(span)
            self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Waits until all spans are sent or refused, for `seconds` at most."""
        ends = monotonic() + seconds
        with self._changed:
            while (self._waiting or self._is_busy) and (left := ends - monotonic()) > 0 and self._pid == os.getpid():
                self._changed.wait(left)

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
            except Exception:  # else the thread would end, and send no later span
                logging.getLogger("memcli").debug("spans were not sent", exc_info=True)


def make_exporter() -> SpanExporter:
    """The exporter that the environment describes."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


_lock = Lock()
# By the id of the process, since a fork needs a provider of its own.
_providers: dict[int, tuple[TracerProvider, Sender]] = {}


def open_tracer(environ: Mapping[str, str], make: Callable[[], SpanExporter] | None = None) -> Tracer:
    """The tracer of this process, created when it is first needed. Raises ImportError if the extra is not installed."""
    from memcli import __version__

    with _lock:
        if os.getpid() not in _providers:
            # Without a handler, logging prints failures to standard error.
            logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
            # What memcli sets for the SDK: MEMCLI_OTEL_* in place of OTEL_*, and defaults of a short time limit and a name.
            own = {f"OTEL_{name.removeprefix(_OWN)}": value for name, value in environ.items() if name.startswith(_OWN)}
            if not any(own.get(name) or environ.get(name) for name in _TIMEOUTS):
                own[_TIMEOUTS[0]] = _DEFAULT_TIMEOUT
            given = {**environ, **own}
            if not given.get("OTEL_SERVICE_NAME") and "service.name=" not in given.get("OTEL_RESOURCE_ATTRIBUTES", ""):
                own["OTEL_SERVICE_NAME"] = "memcli"
            # The SDK takes most settings from the environment of the process alone, and only when it is set up.
            before = {name: os.environ.get(name) for name in own}
            os.environ.update(own)
            try:
                sender = Sender((make or make_exporter)())
                # Shutdown at exit would wait for the collector without a bound: `flush` takes its place.
                provider = TracerProvider(resource=Resource.create(), shutdown_on_exit=False)
            finally:
                for name, value in before.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value
            provider.add_span_processor(sender)
            atexit.register(flush)
            _providers[os.getpid()] = provider, sender
        return _providers[os.getpid()][0].get_tracer("memcli", __version__)


def flush(seconds: float = FLUSH_SECONDS) -> None:
    """Waits until all spans of this process are sent or refused, for `seconds` at most."""
    if os.getpid() in _providers:
        _providers[os.getpid()][1].flush(seconds)
