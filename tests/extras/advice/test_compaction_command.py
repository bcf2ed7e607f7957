"""`compaction: llm` over HTTP: what is sent and stored, byte for byte, and what a failure leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Golden, Run
from tests.extras.advice.prompts.test_compact import MERGE
from tests.extras.providers import server as play
from tests.extras.providers.conftest import playing
from tests.extras.providers.server import CHAT, MESSAGES, Script
from tests.safety.secrets_corpus import secret

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytest.importorskip("anthropic", reason="the extra `llm` is not installed")
TOKEN = secret("github_token", 900)[1]
TEXTS = {
    "cache/pages": "The cache of pages holds 64 MB.",
    "cache/images": "The cache of images holds 128 MB.",
    "ci/tags": "Releases are tagged by the build server.",
}
NEW = ("remember", f"The parser is written by hand; its key is {TOKEN}.", "--path", "parser/how", "--no-check")
MODELS = {"openai:gpt-5-mini": CHAT, "anthropic:claude-haiku-4-5": MESSAGES}
BOTH = MERGE | {"target": 1, "into": 2, "text": "The caches hold 64 MB of pages and 128 MB of images."}


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, run: Run) -> Iterator[Script]:
    """A model, and a space in which there is no room: the memory at `cache/pages` is the least valuable."""
    with playing(monkeypatch, request.param) as server:
        for day, (path, text) in enumerate(TEXTS.items(), 1):
            run("remember", text, "--path", path, "--no-check", "--freeze-clock", f"2026-01-0{day}")
        run("space", "policy", "main", "--set", "max_objects=3", "--set", "compaction=llm")
        server.play(play.reply({"decisions": [BOTH]}))
        yield server


def paths(run: Run) -> set[str]:
    return {memory["path"] for memory in run("list", "--json").json}


def test_golden(model: Script, run: Run, tmp_path: Path, golden: Golden) -> None:
    done = run(*NEW, "--json")
    assert done.json["compacted"] == 1
    (request,) = model.requests
    assert TOKEN.encode() not in request.raw
    assert request.path in MODELS.values()
    told = json.loads((tmp_path / ".memory/local/audit/main.jsonl").read_text().splitlines()[-1])["advised"]
    body = json.dumps([request.body, told], indent=2, sort_keys=True)
    found = f"{body}\n{(tmp_path / '.memory/spaces/main.json').read_text()}"
    wire = "openai" if request.path == CHAT else "anthropic"
    golden(ROOT / f"tests/extras/advice/prompts/golden/compact_{wire}.txt", found)
    merged = next(line for line in run("store", "audit").out.splitlines() if "merged" in line)
    assert "repeated, says" in merged
    assert run("store", "audit", "--verify").code == run("check", "store").code == 0
    usage = run("provider", "usage", "--json").json
    assert [day["calls"] for day in usage] == [1]


def test_where_nobody_may_be_asked(model: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: (tmp_path / ".memory/spaces" / name).read_bytes() for name in ("main.json",)}
    for line, says in (
        (NEW, "no language model is asked offline"),
        (("remember", "More."), "no language model is configured"),
    ):
        done = run(*line, "--offline") if line == NEW else run(*line)
        assert (done.code, model.requests) == (0, [])
        assert "(1 removed to make room: policy.max_objects)" in done.out
        assert f"{says}; the least valuable memories make room" in done.err
        monkeypatch.delenv("MEMCLI_SEMANTIC_MODEL", raising=False)
    clone = tmp_path / "clone"  # of a store that was not accepted nothing is sent, and nothing goes
    (clone / ".memory/spaces").mkdir(parents=True)
    (clone / ".memory/spaces/main.json").write_bytes(before["main.json"])
    monkeypatch.chdir(clone)
    monkeypatch.setenv("MEMCLI_SEMANTIC_MODEL", "openai:gpt-5-mini")
    assert (run(*NEW).code, model.requests, len(paths(run))) == (0, [], 4)


def test_dry_runs_and_bulk_writes_ask_nobody(model: Script, run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nThe scheduler has three queues.\n")
    run("ingest", "notes.md", "--dry-run")
    run("gc", "--dry-run")
    run("store", "maintain", "--dry-run")
    run("export", "--out", "bundle.json")
    run("import", "bundle.json", "--dry-run")
    run("ingest", "notes.md")
    run("import", "bundle.json")
    run("gc")
    run("remember", "A proposal.", "--propose")
    assert model.requests == []
