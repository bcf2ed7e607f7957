"""Prompts of agents that a language model verifies, over HTTP: whatever it does, the agent gets its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcli.app.workspace import Workspace
from memcli.extras.agents import running as agent_hook
from memcli.extras.agents.hook import find_verifier
from memcli.store.layout import Layout
from memcli.store.state import State
from tests.conftest import Run, open_at
from tests.extras.agents.conftest import AGENTS, Fire, entries
from tests.extras.providers import server as play
from tests.extras.providers.conftest import playing
from tests.extras.providers.server import Script

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytest.importorskip("anthropic", reason="the extra `llm` is not installed")
PROMPTS = [agent for agent, events in AGENTS.items() if "prompt" in events]


@pytest.fixture
def model(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    with playing(monkeypatch, "openai:m") as server:
        server.play(play.reply({"relevant": []}))
        yield server


def last(project: Path) -> dict[str, Any]:
    return entries(project, "agents.log")[-1]


def test_what_is_not_relevant_is_not_shown(
    model: Script, fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = {agent: fire(agent, "prompt", session_id=f"{agent} 1").out for agent in PROMPTS}
    monkeypatch.setenv("MEMCLI_HOOK_VERIFY", "8")
    rejected = fire("claude", "prompt", session_id="claude 2")
    assert "orders/database" not in rejected.out
    assert last(project)["verified"].endswith(" rejected")
    (request,) = model.requests
    assert '"number": 1' in request.text
    count = request.text.count('"number"')
    model.play(play.reply({"relevant": list(range(1, count + 1))}))
    (project / ".memory/config.toml").write_text('hook_verify = "7"\n')
    monkeypatch.delenv("MEMCLI_HOOK_VERIFY")
    monkeypatch.setenv("MEMCLI_SEMANTIC_MODEL", "custom:another")
    for agent in PROMPTS:
        assert fire(agent, "prompt", session_id=f"{agent} 3").out == plain[agent]
        assert last(project)["verified"] == f"0 of {count} rejected"


FAULTS = {"no JSON": play.reply("no JSON"), "refused": play.reply(refusal="no"), "401": play.fail(401), "cut": play.cut}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_failure_leaves_the_plain_answer_and_is_not_met_again_at_once(
    model: Script, fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch, fault: play.Step
) -> None:
    plain = fire("claude", "prompt", session_id="1").out
    monkeypatch.setenv("MEMCLI_HOOK_VERIFY", "8")
    model.play(fault)
    assert fire("claude", "prompt", session_id="2").out == plain
    assert last(project)["verified"]
    calls = len(model.requests)
    assert fire("claude", "prompt", session_id="3").out == plain
    assert last(project)["verified"] == "the model failed less than a minute ago"
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-01-31T09:31:01Z")
    model.play(play.reply({"relevant": []}))
    assert "orders/database" not in fire("claude", "prompt", session_id="4").out
    assert (calls > 0, len(model.requests)) == (True, 1)


def test_a_server_that_never_answers_leaves_the_plain_answer_before_the_hook_is_ended(
    model: Script, fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model gets what is left of the time, less what it takes to print: the process is not ended for it."""
    plain = fire("claude", "prompt", session_id="1").out
    monkeypatch.setattr(agent_hook, "_LIMIT_SECONDS", 40.0)
    monkeypatch.setattr(agent_hook, "_PRINTING_SECONDS", 38.0)
    monkeypatch.setenv("MEMCLI_HOOK_VERIFY", "8")
    monkeypatch.delenv("MEMCLI_HOOK_FOREGROUND")
    model.play(play.hang)
    assert fire("claude", "prompt", session_id="2").out == plain
    assert last(project)["outcome"] == "injected"
    assert "did not answer within" in last(project)["verified"] or "no time was left" in last(project)["verified"]


def test_what_is_prepared_for_the_next_prompt_is_verified(
    model: Script, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_HOOK_VERIFY", "8")
    first = json.dumps({"session_id": "1", "cwd": str(project), "prompt": "which database do we use for orders?"})
    then = first.replace("which database do we use for orders", "explain the database of the orders")
    command = ("hook", "run", "prompt", "--agent", "claude", "--next-turn")
    for data, words in ((first, ()), (first, ("--detached",)), (then, ())):
        assert "orders/database" not in run(*command, *words, stdin=data).out
    assert len(model.requests) == 1


def test_what_does_not_ask_a_model_costs_no_memory(
    model: Script, fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is off unless asked for, and settings that cannot be used are logged."""
    verify, number = "MEMCLI_HOOK_VERIFY", "hook_verify must be a number from 0 to 50, not"
    for n, (settings, logged) in enumerate((
        ({}, None), ({verify: ""}, None), ({verify: "0"}, None),
        ({verify: "many"}, f"{number} 'many'"), ({verify: "51"}, f"{number} '51'"),
        ({verify: "8", "MEMCLI_SEMANTIC_MODEL": "tiny"}, "'tiny' names no model"),
        ({verify: "8", "MEMCLI_OFFLINE": "1"}, "no language model is asked offline"),
    )):  # fmt: skip
        with monkeypatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            assert "orders/database" in fire("claude", "prompt", session_id=str(n)).out
        assert (settings, last(project).get("verified")) == (settings, logged)
    assert model.requests == []


def test_a_cloned_configuration_switches_nothing_on(project: Path) -> None:
    def has_verifier(workspace: Workspace) -> bool:
        return find_verifier(workspace, State(Layout(workspace.root)), workspace.clock())[0] is not None

    assert not has_verifier(open_at(project).copy_with(hook_verify="8")), "without a model"
    (project / ".memory/config.toml").write_text('hook_verify = "8"\nmodel = "custom:x"\n')
    assert has_verifier(open_at(project))
    (project / ".memory/local/trust.json").unlink()
    assert not has_verifier(open_at(project))
