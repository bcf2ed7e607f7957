"""Traces: which spans commands have, what they say, and that they say no text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from memcli import Memory
from memcli.cli.calls import Calls
from memcli.cli.verb import find_verb
from memcli.errors import NotFoundError, ProviderError, UsageError
from memcli.extras.telemetry import exporting
from tests.conftest import Run
from tests.extras.advice.prompts.test_describe import ANSWER
from tests.extras.providers import server as play
from tests.extras.providers.conftest import playing
from tests.extras.telemetry.conftest import Spans

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def told(span: ReadableSpan) -> dict[str, object]:
    return {name.removeprefix("memcli."): value for name, value in (span.attributes or {}).items()}


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def test_a_recall_has_a_span_with_a_child_for_the_backend(
    run: Run, spans: Spans, memory_exporter: InMemorySpanExporter
) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    run("remember", "PostgreSQL listens on 5432.", "--path", "db/port")
    exporting.flush(10)
    memory_exporter.clear()
    run("recall", "Which  PostgreSQL?")
    found = spans()
    assert set(found) == {"memcli.recall", "memcli.recall.fusion"}
    recall, backend = found["memcli.recall"], found["memcli.recall.fusion"]
    digest = told(recall)["topic_digest"]
    assert told(recall) == {
        "space": "main", "backend": "fusion", "items": 2, "exit_code": 0, "topic_digest": digest,
    }  # fmt: skip
    assert re.fullmatch("[0-9a-f]{16}", str(digest))
    assert told(backend) == {"backend": "fusion", "topic_digest": digest, "items": 2}
    assert backend.parent is not None
    assert recall.context is not None
    assert backend.parent.span_id == recall.context.span_id
    assert recall.parent is None
    run("recall", "which postgresql?", "--backend", "basic")
    again = spans()
    assert set(again) == {"memcli.recall", "memcli.recall.basic"}
    assert told(again["memcli.recall"])["topic_digest"] == digest


def test_remember_and_gc_have_spans(run: Run, spans: Spans) -> None:
    run("remember", "One.", "--path", "a", "-s", "notes")
    (span,) = spans().values()
    assert (span.name, told(span)) == ("memcli.remember", {"space": "notes", "items": 1, "exit_code": 0})
    run("gc", "notes")
    (span,) = spans().values()
    assert (span.name, told(span)) == ("memcli.gc", {"space": "notes", "items": 0, "exit_code": 0})
    run("list")
    assert spans() == {}


def test_a_question_to_a_model_has_a_span_with_its_cost(
    run: Run, spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="the extra `llm` is not installed")
    with playing(monkeypatch) as server:
        server.play(play.reply(ANSWER))
        arguments = ("remember", "A secret zebra.", "--semantic", "llm")
        assert run(*arguments).code == 0
        found = spans()
        assert set(found) == {"memcli.remember", "memcli.provider"}
        remember, provider = found["memcli.remember"], found["memcli.provider"]
        assert provider.parent is not None
        assert remember.context is not None
        assert provider.parent.span_id == remember.context.span_id
        cost = {"tokens_in": 11, "tokens_out": 7, "cost_usd": pytest.approx(11 * 0.25e-6 + 7 * 2e-6)}
        task = told(provider)["task"]
        assert told(provider) == {"provider": "openai", "model": "gpt-5-mini", "task": task, **cost}
        assert told(remember).items() >= cost.items()
        server.play(play.fail(400, "zebra is not allowed"))
        assert run(*arguments[:1], "Another zebra.", *arguments[2:]).code == 7
        for span in spans().values():
            assert span.status.status_code == StatusCode.ERROR
            assert told(span)["error.type"] == "provider"
            assert "zebra" not in span.to_json()


def test_an_error_is_recorded_without_texts(run: Run, spans: Spans) -> None:
    run("init")
    assert run("recall", "zebra", "--weights", "tapir=1").code == 2
    (span,) = [span for name, span in spans().items() if name == "memcli.recall"]
    assert span.status.status_code == StatusCode.ERROR
    assert span.status.description == "memcli failed: usage (exit code 2)"
    assert told(span)["exit_code"] == 2
    assert span.events == ()


def test_no_span_has_a_text(run: Run, spans: Spans) -> None:
    run("remember", "A zebra.", "--path", "animals/okapi", "--tag", "tapir")
    text = "".join(span.to_json() for span in spans().values())
    run("recall", "zebra tapir", "--tag", "tapir")
    text += "".join(span.to_json() for span in spans().values())
    assert not any(word in text.lower() for word in ("zebra", "okapi", "tapir"))


def test_programs_and_tools_have_spans_too(run: Run, tmp_path: Path, spans: Spans) -> None:
    """Below those of the program; errors end them."""
    run("init")
    with Memory(tmp_path) as memory:
        memory.remember("One.")
        assert set(spans()) == {"memcli.remember"}
        memory.recall("one")
        assert set(spans()) == {"memcli.recall", "memcli.recall.fusion"}
        with TracerProvider().get_tracer("program").start_as_current_span("request") as outer:
            memory.gc()
        (span,) = spans().values()
        assert span.parent is not None
        assert span.parent.span_id == outer.get_span_context().span_id
        with pytest.raises(NotFoundError):
            memory.gc("nowhere")
        (span,) = spans().values()
        assert told(span)["error.type"] == "not_found"
        with pytest.raises((ProviderError, UsageError)):
            memory.remember("One.", semantic="llm")
        assert set(spans()) == {"memcli.remember"}
    Calls({"root": str(tmp_path)}, lambda _: None).text(find_verb("recall"), {"topic": "one"})
    assert set(spans()) == {"memcli.recall", "memcli.recall.fusion"}


def test_traceparent_is_continued(run: Run, spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    monkeypatch.setenv("TRACEPARENT", TRACEPARENT)
    run("gc")
    (span,) = spans().values()
    assert trace_of(span) == TRACEPARENT.split("-")[1]
    monkeypatch.setenv("TRACEPARENT", "nonsense")
    run("gc")
    (span,) = spans().values()
    assert span.parent is None


def test_what_switches_traces_off(run: Run, spans: Spans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable, being offline, and hooks, which are not traced."""
    run("init")
    spans()
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    assert run("gc", "--offline").code == 0
    call = json.dumps({"session_id": "s", "cwd": str(tmp_path), "prompt": "which database?"})
    assert run("hook", "run", "prompt", "--agent", "claude", stdin=call).code == 0
    for value in ("", "0", "false", "no"):
        monkeypatch.setenv("MEMCLI_OTEL", value)
        assert run("gc").code == 0
    monkeypatch.setenv("MEMCLI_OTEL", "1")
    monkeypatch.setenv("MEMCLI_OFFLINE", "1")
    assert run("gc").code == 0
    assert spans() == {}


def test_a_store_cannot_switch_it_on(run: Run, spans: Spans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_OTEL")
    run("init")
    (tmp_path / ".memory" / "config.toml").write_text('otel = "1"\nMEMCLI_OTEL = "1"\n')
    assert "unknown key" in run("gc").err
    assert spans() == {}


def test_a_missing_extra_is_an_error_but_stops_no_hook(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memcli.extras.telemetry.exporting", None)
    run("init")
    monkeypatch.setenv("MEMCLI_OTEL", "1")
    done = run("init")
    assert (done.code, done.err.count("\n"), "pip install 'memcli[otel]'" in done.err) == (2, 1, True)
    with pytest.raises(UsageError, match="needs the extra"):
        Memory(tmp_path).list()
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    call = json.dumps({"session_id": "s", "cwd": str(tmp_path), "prompt": "which database?"})
    done = run("hook", "run", "prompt", "--agent", "claude", stdin=call)
    assert (done.code, done.err) == (0, "")
    assert run("session", "sync", "--background").code == 0
