"""Spans of commands, in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memcli.extras.telemetry import exporting

Spans = Callable[[], dict[str, ReadableSpan]]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No collector and no proxy from outside."""
    for name in list(os.environ):
        if name.startswith(("OTEL_", "TRACE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(exporting, "_providers", {})


@pytest.fixture
def memory_exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of this process go, once MEMCLI_OTEL=1 is set, as it is."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(exporting, "make_exporter", lambda: exporter)
    monkeypatch.setenv("MEMCLI_OTEL", "1")
    yield exporter
    exporter.shutdown()


@pytest.fixture
def spans(memory_exporter: InMemorySpanExporter) -> Spans:
    """Gives the spans that ended since it was called last, by name; there may be one of each."""

    def take() -> dict[str, ReadableSpan]:
        exporting.flush(10)
        found = memory_exporter.get_finished_spans()
        memory_exporter.clear()
        assert len({span.name for span in found}) == len(found)
        return {span.name: span for span in found}

    return take
