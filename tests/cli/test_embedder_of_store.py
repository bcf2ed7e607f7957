"""The embedder that the configuration of a store names, where something asks before a command runs, or without one."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Timer

import pytest

from memcli.cli.calls import Calls
from memcli.cli.verb import find_verb
from memcli.embed import EMBEDDERS
from memcli.ports import Embedder
from tests.conftest import Run

LOADING = "the embedding model is still loading"


@pytest.mark.parametrize(
    ("config", "waits"), [("", True), ('embedder = "hashed"\n', False), ('embedder = "off"\n', False)]
)
def test_only_the_model_that_the_store_wants_is_waited_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, waits: bool
) -> None:
    run("remember", "We chose PostgreSQL for the orders.")
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    (tmp_path / ".memory/config.toml").write_text(config)
    calls = Calls({}, lambda _: None)
    calls.load_later()
    assert (LOADING in calls.text(find_verb("recall"), {"topic": "which database?"})) is waits
    calls.close()


def test_a_question_waits_for_the_model_that_is_being_loaded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL for the orders.")
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    may_load = Event()

    def model() -> Embedder | None:
        may_load.wait()
        return EMBEDDERS["hashed"]()

    monkeypatch.setattr("memcli.cli.calls.EMBEDDERS", {**EMBEDDERS, "onnx": model})
    calls = Calls({}, lambda _: None)
    calls.load_later()
    calls.load()
    with monkeypatch.context() as patched:
        patched.setattr("memcli.cli.calls._MODEL_SECONDS", 0.0)
        answer = calls.text(find_verb("recall"), {"topic": "which database?"})
    assert LOADING in answer
    assert "ask again" in answer
    Timer(0.05, may_load.set).start()
    answer = calls.text(find_verb("recall"), {"topic": "which database?"})
    assert LOADING not in answer
    assert "Degraded" not in answer
    calls.close()
