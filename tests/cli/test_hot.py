"""The way past Typer: what both parsers understand means the same, and what is not plain is left to Typer."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from memcli.cli import hot
from memcli.cli.main import load_command
from memcli.cli.recalling import recall
from memcli.cli.remembering import store_memory
from memcli.wiring.roots import global_root
from tests.conftest import Run, open_at, rewrite

PLAIN = [
    ["recall", "postgresql"],
    ["recall", "postgresql", "--json"],
    ["recall", "--json", "postgresql", "--limit", "1", "--explain"],
    ["recall", "-l", "1", "postgresql", "--format=md"],
    ["recall", "--kind", "decision", "-k", "fact", "--json"],
    ["recall", "postgresql", "--include-raw", "--raw-limit", "1", "--json"],
    ["recall", "postgresql", "--budget", "200"],
    ["recall", "postgresql", "--weights", "semantic=.5,keyword=.5", "--recency-bias", "0.2", "--json"],
    ["recall", "postgresql", "--since", "2020-01-01", "--until", "2030-01-01", "--at", "2026-02-01", "--json"],
    ["recall", "postgresql", "--min-score", "0.9", "--fail-empty", "--json"],
    ["recall", "postgresql", "-s", "other", "-q"],
    ["recall", "postgresql", "--all-spaces", "--no-global", "--json"],
    ["recall", "postgresql", "--rev", "HEAD"],
    ["recall", "--from-diff", "-", "--json"],
    ["recall", "--from-diff", "gone"],
    ["recall", "--changed=HEAD", "--format", "md"],
    ["recall", "x", "--from-diff", "-"],
    ["recall", "x", "--format", "yaml"],
    ["recall", "x", "--limit", "0"],
    ["recall"],
    ["remember", "We chose PostgreSQL.", "--path", "db/choice", "--json"],
    [
        "remember",
        "New text.",
        "--tag",
        "a",
        "-t",
        "b",
        "--pin",
        "--importance",
        "0.5",
        "--set",
        "enforce=true",
        "--json",
    ],
    ["remember", "x", "--importance", "7"],
    ["remember", "x", "--id", "a b"],
    ["remember", ""],
    ["hook", "run", "post-commit", "--"],
    ["hook", "run", "-q", "prepare-commit-msg", "--", "gone", "template"],
    ["hook", "run", "no-such-hook", "--"],
]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_both_ways_are_one(run: Run, arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    run("remember", "We chose PostgreSQL because of JSONB.", "--path", "db/engine", "--kind", "decision")
    run("remember", "PostgreSQL listens on 5432.", "--path", "db/port")
    run("space", "create", "other")
    through_typer = run(*arguments)
    if arguments[0] == "remember" and through_typer.code == 0:
        run("space", "policy", "main", "--set", "allow_delete=true")
        run("forget", json.loads(through_typer.out)["id"], "--purge", "--now", "--yes")
    run("list")  # so that nothing read so far is left on standard input
    code = hot.run(arguments)
    captured = capfd.readouterr()
    assert (code, captured.out, captured.err) == (through_typer.code, through_typer.out, through_typer.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "--help"], ["recall", "x", "-h"], ["recall", "x", "--lmit", "3"], ["recall", "x", "y"],
        ["recall", "x", "--limit", "three"], ["recall", "x", "--limit"], ["recall", "x", "--json=1"],
        ["recall", "x", "--", "-y"], ["recall", "x", "-qs", "main"], ["recall", "x", "--limit", "1", "--limit", "2"],
        ["recall", "x", "--include_raw"], ["recall", "--topic", "x"], ["recall", "x", "--since", "-3"],
        ["hook", "install"], ["hook", "run", "post-commit"], ["hook", "run", "--"], ["hook", "run", "--help", "--"],
        ["hook", "run", "--arguments", "x", "post-commit", "--"], ["hook", "run", "x", "y", "--"],
        ["remember", "--text", "x"], ["remember", "x", "--commit", "--pin"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(arguments: list[str]) -> None:
    assert hot.run(arguments) is None


@pytest.mark.parametrize(("verb", "function"), [("recall", recall), ("remember", store_memory)])
def test_both_know_the_same_options(verb: str, function: object) -> None:
    command = load_command(verb)
    names = {p.name for p in command.params} - {"help", *hot._COMMON}
    assert names == set(inspect.signature(function).parameters) - {"session"}  # type: ignore[arg-type]
    annotations = function.__annotations__  # type: ignore[attr-defined]
    for parameter in command.params:
        for option in (o for o in parameter.opts if o.startswith("-") and o not in ("--help", "-h")):
            assert hot._name(option) == parameter.name
            kind = {**hot._COMMON, **annotations}[parameter.name].removesuffix(" | None")
            assert kind == ("bool" if parameter.is_flag else "list[str]" if parameter.multiple else kind)


def test_the_user_wide_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import sys

    import platformdirs

    assert global_root(os.environ).startswith(os.environ["HOME"])
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        assert global_root(os.environ) == os.path.join(platformdirs.user_data_dir("memcli"), ".memory")
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "mine"))
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    assert run("remember", "I prefer PostgreSQL to MySQL.", "--scope", "global", "--path", "taste").code == 0
    assert (tmp_path / "mine" / ".memory" / "spaces" / "main.json").is_file()
    found = json.loads(run("recall", "postgresql", "--json").out)["sections"]
    assert {(s["path"], s.get("space")) for s in found} == {("db/choice", None), ("taste", "global/main")}
    alone = json.loads(run("recall", "postgresql", "--json", "--no-global").out)["sections"]
    assert [s["path"] for s in alone] == ["db/choice"]


def test_all_spaces(run: Run) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "a", "--space", "one")
    run("remember", "PostgreSQL is on port 5432.", "--path", "b", "--space", "two")
    bundle = json.loads(run("recall", "postgresql", "--all-spaces", "--json").out)
    assert (bundle["space"], {s["space"] for s in bundle["sections"]}) == ("*", {"one", "two"})


def test_a_deadline_that_passes_is_said(tmp_path: Path) -> None:
    from memcli.app.recall import recall as answer
    from memcli.model.recall import Query
    from tests.conftest import NOW, memory

    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="onnx")
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="We chose PostgreSQL.")], NOW))
    (late,) = answer(workspace, [Query(topic="postgresql", now=NOW, deadline=0.0)])
    assert (late.degraded, [s.memory.id for s in late.sections]) == (True, ["mem_a"])
    (whole,) = answer(workspace, [Query(topic="postgresql", now=NOW)])
    assert not whole.degraded


def test_no_model_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "a")
    assert "degraded" not in json.loads(run("recall", "postgresql", "--json").out)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    assert json.loads(run("recall", "postgresql", "--json").out)["degraded"] is True


def test_a_process_that_missed_its_deadline_ends_well(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    from tests.conftest import NOW, ROOT, memory

    rewrite(open_at(tmp_path).store, lambda space: space.put([memory("a", raw="We chose PostgreSQL.")], NOW))
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "MEMCLI_EMBEDDER": "onnx"}
    command = [sys.executable, "-P", "-m", "memcli", "recall", "postgresql", "--deadline", "1", "--json"]
    for _ in range(3):
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["degraded"] is True
