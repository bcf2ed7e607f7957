"""`memcli metrics`: what each way into a store counts, and what is not counted."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from memcli import Memory
from memcli.cli.calls import Calls
from memcli.cli.verb import find_verb
from memcli.errors import NotFoundError
from memcli.extras.telemetry.metrics import COUNTER, GAUGE, Family, Sample, render
from memcli.model.conversation import ModelName
from memcli.model.usage import Charge, TokenUsage
from memcli.store.layout import Layout
from memcli.store.ledger import StoreLedger
from memcli.store.state import State
from tests.conftest import NOW, Run, open_at
from tests.local_state import rows

Labels = tuple[tuple[str, str], ...]


@pytest.fixture(autouse=True)
def running_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")


def parsed(text: str) -> dict[str, dict[Labels, float]]:
    """The samples by name and labels, as the parser of prometheus-client reads them."""
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def counted(run: Run, name: str) -> dict[Labels, float]:
    return parsed(run("metrics").out).get(name, {})


def labels(**given: str) -> Labels:
    return tuple(sorted(given.items()))


def test_each_command_is_counted_by_its_labels(run: Run) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    for words in ("recall postgresql", "recall postgresql --backend basic", "recall unicorn --fail-empty", "pin db/choice",
                  "pin db/choice --remove", "pin nowhere", "gc"):  # fmt: skip
        run(*words.split())
    text = run("metrics").out
    assert [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")] == [
        "memcli_memory_objects", "memcli_recall_total", "memcli_remember_total", "memcli_gc_runs_total",
        "memcli_pin_toggle_total", "memcli_session_end_total", "memcli_injection_total", "memcli_compaction_total",
        "memcli_provider_tokens_total", "memcli_provider_usd_total", "memcli_commands_total",
        "memcli_command_duration_seconds",
    ]  # fmt: skip
    found = parsed(text)
    assert found["memcli_memory_objects"] == {labels(space="main"): 1}
    assert found["memcli_recall_total"] == {
        labels(space="main", backend="fusion", status="0"): 1,
        labels(space="main", backend="fusion", status="3"): 1,
        labels(space="main", backend="basic", status="0"): 1,
    }
    assert found["memcli_remember_total"] == {labels(space="main", status="0"): 1}
    assert found["memcli_gc_runs_total"] == {labels(space="main", status="0"): 1}
    assert found["memcli_pin_toggle_total"] == {labels(space="main"): 2}
    assert found["memcli_commands_total"][labels(command="pin", status="3")] == 1
    assert found["memcli_command_duration_seconds_count"][labels(command="recall")] == 3
    assert found["memcli_command_duration_seconds_bucket"][labels(command="recall", le="+Inf")] == 3


def test_the_python_interface_and_tools_count_too(run: Run, tmp_path: Path) -> None:
    run("init")
    with Memory(tmp_path) as memory:
        memory.remember("One.", path="a")
        memory.recall("one")
        memory.pin("a")
        with pytest.raises(NotFoundError):
            memory.get("nowhere")
    Calls({"root": str(tmp_path)}, lambda _: None).text(find_verb("recall"), {"topic": "one"})
    found = parsed(run("metrics").out)
    assert found["memcli_recall_total"] == {labels(space="main", backend="fusion", status="0"): 2}
    assert found["memcli_pin_toggle_total"] == {labels(space="main"): 1}
    assert found["memcli_commands_total"][labels(command="get", status="3")] == 1


@pytest.mark.parametrize("foreground", ["1", ""])
def test_an_injection_of_a_hook_is_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], foreground: str
) -> None:
    if not foreground and not hasattr(os, "fork"):
        pytest.skip("hooks fork on POSIX alone")
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", foreground)
    run("remember", "Releases happen on Tuesdays.", "--path", "release/day", "--pin")
    for name in ("one", "two"):
        given = {"session_id": name, "cwd": str(tmp_path), "hook_event_name": "SessionStart", "source": "startup"}
        call = json.dumps(given)
        run("hook", "run", "session-start", "--agent", "claude", stdin=call)
        run("hook", "run", "session-start", "--agent", "claude", stdin=call)  # the same again injects nothing
    found = parsed(run("metrics").out)
    assert found["memcli_injection_total"] == {labels(space="main", event="session-start"): 2}
    assert found["memcli_commands_total"][labels(command="hook run", status="0")] == 4


def test_compaction_is_counted_by_write(run: Run) -> None:
    run("init")
    run("space", "policy", "main", "--set", "max_objects=1")
    run("remember", "One about zebras.", "--path", "a")
    assert counted(run, "memcli_compaction_total") == {}
    run("remember", "Two about tapirs.", "--path", "b")
    assert counted(run, "memcli_compaction_total") == {labels(space="main"): 1}


def test_the_ledger_says_what_was_spent(run: Run, tmp_path: Path) -> None:
    run("init")
    ledger = StoreLedger(State(Layout(str(tmp_path / ".memory"))))
    model = ModelName("openai", "tiny")
    for at, settled in ((NOW, True), (NOW, False), ("2999-01-01T00:00:00Z", False)):
        usage = TokenUsage(10, 20, 5 * 10**8)
        charge = Charge(at=at, space="main", provider=model.provider, model=model.model, task="t/1", usage=usage)
        booked = ledger.reserve(charge, lambda _: None)
        if settled:
            ledger.settle(booked, TokenUsage(1, 2, 10**8))
    found = parsed(run("metrics").out)
    assert found["memcli_provider_tokens_total"] == {
        labels(provider="openai", direction="in"): 11, labels(provider="openai", direction="out"): 22,
    }  # fmt: skip
    assert found["memcli_provider_usd_total"] == {labels(provider="openai"): 0.6}


def test_a_text_file_is_replaced_at_once_and_readable_by_all(run: Run, tmp_path: Path) -> None:
    run("remember", "One.")
    folder = tmp_path / "collector"
    folder.mkdir()
    path = folder / "memcli.prom"
    path.write_text("old")
    before = os.umask(0o077)
    try:
        with path.open() as old:
            assert run("metrics", "--textfile", str(path), "-q").out == ""
            assert old.read() == "old"  # who reads it now has the whole of it
    finally:
        os.umask(before)
    assert parsed(path.read_text())["memcli_remember_total"] == {labels(space="main", status="0"): 1}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(folder) == ["memcli.prom"]


def test_a_damaged_space_does_not_hide_the_others(run: Run, tmp_path: Path) -> None:
    run("remember", "One.")
    run("remember", "Two.", "-s", "notes")
    (tmp_path / ".memory" / "spaces" / "notes.json").write_text("{")
    done = run("metrics")
    assert done.code == 0
    assert "'notes' is not counted" in done.err
    assert parsed(done.out)["memcli_memory_objects"] == {labels(space="main"): 1}


def test_without_a_store_nothing_is_counted_or_made(run: Run, tmp_path: Path) -> None:
    assert run("metrics").code == 3
    assert run("recall", "x").code == 3
    assert not (tmp_path / ".memory").exists()


@pytest.mark.parametrize("why", ["frozen", "off", "cloned"])
def test_where_nothing_is_recorded_nothing_is_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("MEMCLI_FREEZE_CLOCK", NOW)
        run("remember", "One.")
    if why == "frozen":
        monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", NOW)
    if why == "off":
        monkeypatch.setenv("MEMCLI_OFF", "1")
    if why == "cloned":
        open_at(tmp_path).trust.revoke()
    assert run("recall", "one").code == 0
    assert rows(tmp_path, "counter") == []


def test_no_text_is_counted(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--tag", "storage")
    run("recall", "which zebra?")
    run("get", "db/choice")
    counted = str(rows(tmp_path, "counter"))
    assert counted.count("run\\t") == 3
    assert not any(word in counted for word in ("PostgreSQL", "zebra", "choice", "storage"))


def test_counters_that_cannot_be_written_fail_no_command(run: Run, tmp_path: Path) -> None:
    run("remember", "One.")
    path = tmp_path / ".memory" / "local" / "state.db"
    path.unlink()
    path.mkdir()
    done = run("recall", "one")
    assert (done.code, done.err) == (0, "")
    assert run("metrics").code == 0


def test_a_family_has_its_help_and_type_before_its_samples() -> None:
    sample = Sample("memcli_memory_objects", (), 3)
    assert render([Family("memcli_memory_objects", GAUGE, "Memories\nin a \\ space.", [sample])]) == (
        "# HELP memcli_memory_objects Memories\\nin a \\\\ space.\n"
        "# TYPE memcli_memory_objects gauge\n"
        "memcli_memory_objects 3\n"
    )
    assert render([]) == ""


@given(st.text(st.characters(exclude_categories=("Cs",))), st.integers(0, 10**12) | st.floats(0, 1e12))
def test_any_label_and_number_is_read_back(label: str, value: float) -> None:
    name = "memcli_recall_total"
    text = render([Family(name, COUNTER, "Recalls.", [Sample(name, (("space", label), ("status", "0")), value)])])
    (family,) = text_string_to_metric_families(text)
    (sample,) = family.samples
    assert (sample.name, sample.labels, sample.value) == (name, {"space": label, "status": "0"}, value)
