"""`memcli session end` and `session facts` by a language model, over HTTP."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memcli.extras.advice import session as session_yield
from memcli.store.layout import Layout
from tests.cli.conftest import wrong
from tests.conftest import ROOT, Golden, Run
from tests.extras.advice.test_session import ANSWER, ARGON, LOWER, NEVER, TALK
from tests.extras.providers import server as play
from tests.extras.providers.conftest import playing
from tests.extras.providers.server import Script
from tests.safety.secrets_corpus import secret

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytest.importorskip("anthropic", reason="the extra `llm` is not installed")
LLM = ("--semantic", "llm")
TOKEN = secret("github_token", 900)[1]
MODELS = ("openai:gpt-5-mini", "anthropic:claude-haiku-4-5")


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, run: Run) -> Script:
    """A model of either format that sums up every session the same way."""
    with playing(monkeypatch, request.param) as server:
        server.play(play.reply(ANSWER))
        run("init")
        yield server


def record(run: Run, *said: tuple[str, str]) -> str:
    name = run("session", "start", "--title", "Slow login").out.strip()
    for role, text in said or TALK:
        assert run("session", "add", name, text, "--role", role).code == 0
    return name


def stored(space: str) -> str:
    file = Path(Layout(os.path.abspath(".memory")).space(space))
    return file.read_text() if file.exists() else ""


def test_golden(model: Script, run: Run, golden: Golden) -> None:
    """What is sent, and what is stored, byte for byte; a secret in the session stays here."""
    name = record(run, *TALK, ("user", f"The key for it is {TOKEN}."))
    done = run("session", "end", name, *LLM, "--outcome", "Fast", "--json")
    assert done.code == 0, done.err
    (request,) = model.requests
    assert TOKEN.encode() not in request.raw
    found = json.dumps(request.body, indent=2, sort_keys=True) + "\n" + done.out + stored("journal")
    golden(ROOT / f"tests/extras/advice/prompts/golden/session.{done.json['model'].partition(':')[0]}.txt", found)


@pytest.mark.parametrize("fault", [play.fail(401), play.hang], ids=["401", "too slow"])
def test_whatever_the_provider_does_the_session_ends(
    model: Script, run: Run, monkeypatch: pytest.MonkeyPatch, fault: play.Step
) -> None:
    """Every other fault of a provider is an error too (tests/extras/providers/test_model.py)."""
    monkeypatch.setattr(session_yield, "WITHIN_SECONDS", 0.2)
    name = record(run, ("user", ARGON))
    model.play(fault)
    done = run("session", "end", name, *LLM, "--json")
    assert (done.code, "model" in done.json, done.err.count("\n")) == (0, False, 1)
    assert done.err.endswith("; the local layer stands in\n")
    assert ARGON in stored("journal")
    assert ARGON in run("inbox").out


def test_facts_of_a_file(model: Script, run: Run) -> None:
    Path("talk.jsonl").write_text("".join(f"{json.dumps({'role': role, 'content': text})}\n" for role, text in TALK))
    command = ("session", "facts", "--from", "talk.jsonl")
    texts = [one["text"] for one in run(*command, *LLM, "--json").json]
    assert texts == [LOWER, NEVER, ARGON]
    assert [one["text"] for one in run(*command, "--json").json] == [TALK[0][1], NEVER, ARGON]
    failed = run(*command, *LLM, "--model", "custom:other", "--offline", "--json")
    assert [one["text"] for one in failed.json] == [TALK[0][1], NEVER, ARGON]
    assert failed.err == "memcli: no language model is asked offline; the local layer stands in\n"


def test_options(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = record(run)
    table = [
        (["--model", "custom:tiny"], 2, "--model needs --semantic llm"), ([*LLM, "--model", "tiny"], 2, "'tiny' names no model"),
        (["--semantic", "magic"], 2, "choose one of llm, local, off"),
    ]  # fmt: skip
    for verb in (("end", name), ("facts", name), ("promote", f"{name}#3.1"), ("facts", "--from", "talk.jsonl")):
        assert wrong(run, table, "session", *verb) == ""
    monkeypatch.setenv("MEMCLI_SEMANTIC", "llm")
    assert run("session", "promote", f"{name}#3.2").code == 0
    assert NEVER in stored("main")
    assert run("session", "end", name).code == 0
    assert len(model.requests) == 1
    monkeypatch.delenv("MEMCLI_SEMANTIC_MODEL")
    assert run("session", "end", name).code == 2


def test_a_clone_sends_nothing_until_it_is_trusted(model: Script, run: Run) -> None:
    name = record(run)
    Path(".memory/local/trust.json").unlink()
    done = run("session", "end", name, *LLM)
    assert (done.code, model.requests) == (0, [])
    assert "this store was cloned: nothing of it is sent" in done.err
