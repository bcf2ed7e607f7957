"""`memcli remember --semantic llm` over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import wrong
from tests.conftest import ROOT, Golden, Run
from tests.extras.advice.prompts.test_describe import ANSWER
from tests.extras.providers import server as play
from tests.extras.providers.conftest import playing
from tests.extras.providers.server import Script
from tests.safety.secrets_corpus import secret

pytest.importorskip("openai", reason="the extra `llm` is not installed")
TEXT = "We chose PostgreSQL since it has row-level security."
LLM = ("--semantic", "llm")
TOKEN = secret("github_token", 900)[1]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Script:
    """A model that files every note the same way."""
    with playing(monkeypatch) as server:
        server.play(play.reply(ANSWER))
        yield server


def spaces(tmp_path: Path) -> str:
    folder = tmp_path / ".memory/spaces"
    return "".join(file.read_text() for file in sorted(folder.glob("*.json"))) if folder.is_dir() else ""


def test_golden(model: Script, run: Run, tmp_path: Path, golden: Golden) -> None:
    """What is sent, and what is stored, byte for byte; a secret in the text stays here."""
    done = run("remember", f"{TEXT} Use {TOKEN}.", *LLM, "--tag", "own", "--project", "shop")
    assert done.code == 0
    (request,) = model.requests
    assert TOKEN.encode() not in request.raw
    found = json.dumps(request.body, indent=2, sort_keys=True) + "\n" + done.out + spaces(tmp_path)
    golden(ROOT / "tests/extras/advice/prompts/golden/describe.txt", found)


def test_twice_is_paid_once_until_purged(model: Script, run: Run, tmp_path: Path) -> None:
    for path in ("a/b", "a/b"):
        assert run("remember", TEXT, *LLM, "--path", path).code == 0
    assert len(model.requests) == 1
    assert run("forget", "a/b", "--purge", "--now", "--yes").code == 0
    left = b"".join(f.read_bytes() for f in (tmp_path / ".memory").rglob("*") if f.is_file())
    assert b"row-level" not in left
    assert run("remember", TEXT, *LLM, "--path", "a/b", "--offline").code == 5


def test_a_batch(model: Script, run: Run, tmp_path: Path) -> None:
    run("init")
    lines = "".join(json.dumps({"raw": f"Note {n}.", "path": f"notes/{n}"}) + "\n" for n in range(3))
    model.play(play.reply(ANSWER), play.reply(ANSWER), play.fail(401))
    failed = run("remember", "--batch", "-", *LLM, "--keep-going", stdin=lines)
    assert failed.code == 7
    assert failed.err.startswith("memcli: line 3: ")
    assert "nothing was stored" in failed.err
    assert spaces(tmp_path) == ""
    model.play(play.reply(ANSWER))
    assert run("remember", "--batch", "-", *LLM, stdin=lines).out == "3 created, 0 updated, 0 deduplicated\n"
    assert len(model.requests) == 1  # the first two are paid for
    model.play(play.fail(401))
    done = run("remember", "--batch", "-", *LLM, "--fallback", "local", stdin='{"raw": "Another note."}\n')
    assert done.out == "1 created, 0 updated, 0 deduplicated\n"
    assert "described locally" in done.err


def test_a_failure_stores_nothing(model: Script, run: Run, tmp_path: Path) -> None:
    model.play(play.fail(401))
    assert wrong(run, [(["remember", TEXT, *LLM], 7, "")]) == ""
    assert spaces(tmp_path) == ""
    fallen = run("remember", TEXT, *LLM, "--fallback", "local")
    assert (fallen.code, fallen.out.split()[0], "described locally" in fallen.err) == (0, "created", True)


def test_options(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("remember", TEXT, *LLM, "--model", "custom:tiny", "--temperature", "0.5", "--max-tokens", "200")
    assert done.code == 0
    assert (model.requests[0].body["model"], model.requests[0].body["temperature"]) == ("tiny", 0.5)
    assert 200 in model.requests[0].body.values()
    table = [
        (("--model", "custom:tiny"), "--model needs --semantic llm"), ((*LLM, "--model", "tiny"), "'tiny' names no model"),
        ((*LLM, "--fallback", "none"), "no fallback 'none'"), ((*LLM, "--max-tokens", "1"), "--max-tokens must be between"),
        (("--semantic", "magic"), "choose one of llm, local, off"),
    ]  # fmt: skip
    assert wrong(run, [(list(words), 2, says) for words, says in table], "remember", "Another text.") == ""
    monkeypatch.delenv("MEMCLI_SEMANTIC_MODEL")
    assert "no language model is configured" in run("remember", "Another text.", *LLM).err
    monkeypatch.setenv("MEMCLI_SEMANTIC", "llm")
    monkeypatch.setenv("MEMCLI_SEMANTIC_MODEL", "openai:gpt-5-mini")
    model.play(play.reply(ANSWER))
    assert run("remember", "A third text.").code == 0
    assert len(model.requests) == 1


def test_recall_verifies(model: Script, run: Run) -> None:
    for n in range(3):
        run("remember", f"The database number {n} that we use has {n} replicas.", "--path", f"db/{n}", "--no-check")
    model.play(play.reply({"relevant": [2]}))
    ask = ("recall", "which database do we use?", "--verify", "--verify-timeout", "60000")
    found = run(*ask, "--json").json
    assert len(found["sections"]) == 1
    assert found["verified"] == {"asked": 3, "rejected": 2, "model": "openai:gpt-5-mini"}
    for form in ("prompt", "md", "text", "table"):
        assert "2 of 3 rejected by openai:gpt-5-mini." in run(*ask, "--format", form).out
    assert "2 of 3 rejected." in run(*ask, "--budget", "500").out
    assert len(model.requests) == 1
    failed = run(*ask, "--offline", "--model", "custom:other").out
    assert "Not verified: no language model is asked offline." in failed
    assert "3 shown" in failed
    assert run("recall", "x", "--model", "custom:tiny").code == 2
    assert run(*ask, "--model", "tiny").code == 2
    model.play(play.hang)
    slow = run("recall", "which database is used?", "--verify", "2", "--verify-timeout", "1", "--json")
    assert (slow.code, len(slow.json["sections"])) == (0, 3)
    assert slow.json["verified"]["asked"] == 2
    assert slow.json["verified"]["failure"]
