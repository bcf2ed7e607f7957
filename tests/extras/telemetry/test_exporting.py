"""Exporting: what a collector receives over HTTP, and that one that is down or slow fails and delays nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from memcli.extras.telemetry import exporting
from tests.conftest import ROOT, open_at, slow_but

Received = list[tuple[str, dict[str, str], ExportTraceServiceRequest]]


@contextmanager
def collector(status: int = 200, is_stuck: bool = False) -> Iterator[tuple[str, Received]]:
    """A receiver of OTLP over HTTP, its address, and what it got."""
    received: Received = []
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, dict(self.headers), ExportTraceServiceRequest.FromString(data)))
            if is_stuck:
                release.wait(60)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def memcli(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with traces, in a process of its own."""
    open_at(folder)
    return subprocess.run(
        [sys.executable, "-P", "-m", "memcli", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MEMCLI_OTEL": "1", **environ}, text=True, check=False, timeout=60,
    )  # fmt: skip


def quiet(done: subprocess.CompletedProcess[str]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_collector_receives_the_spans_of_a_command(tmp_path: Path) -> None:
    with collector() as (url, received):
        done = memcli(tmp_path, "recall", "zebra", OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert (done.returncode, done.stderr) == (0, "memcli: space 'main' is empty\n")
    assert {path for path, _, _ in received} == {"/v1/traces"}
    resources = [one for _, _, request in received for one in request.resource_spans]
    names = {a.value.string_value for one in resources for a in one.resource.attributes if a.key == "service.name"}
    spans = [span for one in resources for scope in one.scope_spans for span in scope.spans]
    assert names == {"memcli"}
    assert {"memcli.recall"} <= {span.name for span in spans} <= {"memcli.recall", "memcli.recall.fusion"}
    assert b"zebra" not in b"".join(request.SerializeToString() for _, _, request in received)


def test_own_variables_win(tmp_path: Path) -> None:
    with collector() as (theirs, none), collector() as (own, received):
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": theirs, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=theirs"}
        mine = {"MEMCLI_OTEL_EXPORTER_OTLP_ENDPOINT": own, "MEMCLI_OTEL_SERVICE_NAME": "mine",
                "MEMCLI_OTEL_EXPORTER_OTLP_HEADERS": "api-key=own"}  # fmt: skip
        assert memcli(tmp_path, "gc", **environ, **mine).returncode == 0
    assert none == []
    ((path, headers, request),) = received
    assert (path, {name.lower(): value for name, value in headers.items()}["api-key"]) == ("/v1/traces", "own")
    assert "mine" in {a.value.string_value for a in request.resource_spans[0].resource.attributes}


@pytest.mark.parametrize("status", slow_but((503,), (400, 503)))
def test_a_collector_that_refuses_is_no_error(tmp_path: Path, status: int) -> None:
    with collector(status) as (url, received):
        assert quiet(memcli(tmp_path, "gc", "-q", OTEL_EXPORTER_OTLP_ENDPOINT=url))
    assert received


@pytest.mark.parametrize(
    "url", slow_but(("http://127.0.0.1:9", "http://["), ("http://127.0.0.1:9", "nonsense", "http://[", ""))
)
def test_a_collector_that_is_not_there_is_no_error(tmp_path: Path, url: str) -> None:
    assert quiet(memcli(tmp_path, "gc", "-q", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=url))


def test_a_collector_that_is_stuck_is_left(tmp_path: Path) -> None:
    with collector(is_stuck=True) as (url, received):
        assert quiet(memcli(tmp_path, "gc", "-q", OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_EXPORTER_OTLP_TIMEOUT="50"))
    assert received


def test_a_variable_that_makes_no_sense_is_no_traceback(tmp_path: Path) -> None:
    for variable in ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"):
        done = memcli(tmp_path, "gc", "-q", **{variable: "nonsense"})
        assert (variable, "Traceback" in done.stderr, done.returncode in (0, 2)) == (variable, False, True)


class Stuck(SpanExporter):
    """An exporter that never comes back."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.release = threading.Event()

    def export(self, spans: list[ReadableSpan]) -> SpanExportResult:  # type: ignore[override]
        self.batches.append(len(spans))
        self.release.wait(60)
        return SpanExportResult.SUCCESS


def test_a_flush_ends_in_time_and_the_oldest_spans_are_lost() -> None:
    exporter = Stuck()
    tracer = exporting.open_tracer({}, lambda: exporter)
    for n in range(5_000):
        tracer.start_span(str(n)).end()
    began = monotonic()
    exporting.flush(0.05)
    assert monotonic() - began < 30
    exporter.release.set()
    exporting.flush(30)
    assert sum(exporter.batches) <= 512 + 2_048


class Broken(SpanExporter):
    def export(self, spans: list[ReadableSpan]) -> SpanExportResult:  # type: ignore[override]
        raise RuntimeError("no")


def test_an_exporter_that_raises_is_tried_again(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "theirs")
    before = dict(os.environ)
    tracer = exporting.open_tracer({"MEMCLI_OTEL_SERVICE_NAME": "own", "MEMCLI_OTEL_X": "1"}, Broken)
    assert dict(os.environ) == before
    for _ in range(3):
        tracer.start_span("one").end()
        exporting.flush(30)
    assert capfd.readouterr().err == ""


def test_without_it_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    open_at(tmp_path)
    probe = "import atexit, sys; from memcli.__main__ import main; atexit.register(lambda: print(*sys.modules)); main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", probe, "recall", "x"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert "memcli.cli.verb" in loaded
    own = ("opentelemetry", "memcli.extras.telemetry", "prometheus_client", "memcli.extras.telemetry.opening")
    assert [name for name in loaded if name.startswith(own)] == []
