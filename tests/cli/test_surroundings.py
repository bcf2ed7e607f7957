"""Odd surroundings: links, pipes, closed streams, a home that nobody may write to; nothing outside the store is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import wrong
from tests.conftest import NOW, ROOT, Run, memory, open_at, rewrite, slow_but
from tests.ingest.conftest import Repo, new_repo

ESCAPES = ("\x1b", "\u202e", "\x7f", "\x9b", "\u200b")


def program(folder: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("environ", {})}  # type: ignore[dict-item]
    command = [sys.executable, "-P", "-m", "memcli", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environ, text=True, capture_output=True, check=False, timeout=60, **options
    )  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    "target", [".git/config.json", ".memory/spaces/main.json", ".memory", "README.md", "data.json"]
)
def test_an_export_path_of_a_policy_replaces_nothing(run: Run, tmp_path: Path, target: str) -> None:
    run("remember", "We chose PostgreSQL.")
    (tmp_path / "data.json").write_text("{}")
    space = tmp_path / ".memory" / "spaces" / "main.json"
    if target != "data.json":  # which is a name like any other, but of a file that is no export
        assert run("space", "policy", "main", "--set", f"export_path={target}").code == 2
    before = space.read_bytes()
    space.write_bytes(before.replace(b'"policy": {}', f'"policy": {{"export_path": "{target}"}}'.encode()))
    assert run("export").code == 8
    assert (tmp_path / "data.json").read_text() == "{}"
    assert (
        json.loads((tmp_path / ".memory" / "spaces" / "main.json").read_bytes())["objects"]
        == json.loads(before)["objects"]
    )
    run("space", "policy", "main", "--set", "export_path=shared/out.json")
    assert run("export").code == run("export").code == 0
    assert json.loads((tmp_path / "shared" / "out.json").read_text())["format"] == "memcli/export"


def test_no_export_path_leads_through_a_link_and_an_export_goes_into_a_pipe(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (tmp_path / "shared").symlink_to(outside)
    for path in ("shared", "shared/below", "shared/x.json"):
        run("space", "policy", "main", "--set", f"export_path={path}")
        assert run("export").code == 8
    assert list(outside.iterdir()) == []
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        assert run("export", "--out", "pipe").code == 0
        told = reader.communicate(timeout=30)[0]
    assert json.loads(told)["format"] == "memcli/export"
    assert (tmp_path / "pipe").is_fifo()


def test_what_is_no_file_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    run("init")
    for place in ("spaces/main.json", "config.toml"):
        path = tmp_path / ".memory" / place
        for make in (os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")):
            make(path)
            assert wrong(run, [(line, 8, "") for line in ("list", "recall x", "remember x")]) == ""
            path.rmdir() if path.is_dir() else path.unlink()


CLOSED = [
    (command, closed)
    for command in ("remember text --path a", "list", "--version", "recall text", "forget b --quiet")
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")
]


@pytest.mark.parametrize("line", slow_but([CLOSED[5], CLOSED[11], CLOSED[17]], CLOSED))
def test_closed_streams(tmp_path: Path, line: tuple[str, str]) -> None:
    command, closed = line
    rewrite(open_at(tmp_path).store, lambda space: space.put([memory("b", path="b")], NOW))
    shell = f'"{sys.executable}" -P -m memcli {command} {closed}'
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, env=environ, capture_output=True, check=False, timeout=60
    )
    is_lost = ">&-" in closed.split() and not command.endswith("--quiet")  # an answer that nobody reads
    assert (done.returncode, b"internal error" in done.stderr) == (8 if is_lost else 0, False)
    if is_lost and "2>&-" not in closed:
        assert b"cannot write the answer" in done.stderr
        assert done.stderr.count(b"\n") == 1


_INTERRUPTED = """
import builtins, os, signal, sys
module = sys.argv.pop(1)
real = builtins.__import__
def interrupted(name, *rest):
    if name == module:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = interrupted
from memcli.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("memcli.cli.verb", "list"), ("memcli.extras.completion.values", "__complete"),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in (("memcli.cli.output", "list"), ("memcli.cli.main", "stats"), ("typer", "stats"), ("memcli.store.layout", "list"))
        ),
    ],
)  # fmt: skip
def test_an_interrupt_while_modules_are_imported_is_quiet(tmp_path: Path, module: str, command: str) -> None:
    open_at(tmp_path)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-P", "-c", _INTERRUPTED, module, command]
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_full_standard_output_is_said(tmp_path: Path) -> None:
    rewrite(open_at(tmp_path).store, lambda space: space.put([memory("a")], "2026-01-01T00:00:00Z"))
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-P", "-m", "memcli", "list"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr.count("\n")) == (8, 1)
    assert "cannot write the answer" in done.stderr


def test_the_model_leaves_nothing_at_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    rewrite(open_at(tmp_path).store, lambda space: space.put([memory("a")], "2026-01-01T00:00:00Z"))
    done = program(
        tmp_path, "recall", "text", environ={"HOME": str(home), "MEMCLI_EMBEDDER": "onnx", "XDG_CACHE_HOME": str(home)}
    )
    assert done.returncode == 0
    assert [str(p) for p in home.rglob("*")] == []


def test_nothing_stored_reaches_a_terminal_raw(run: Run, tmp_path: Path) -> None:
    hostile = "".join(ESCAPES)
    text = f"text {hostile}"
    told = memory("a", raw=text, summary_micro=text, kind=f"k{hostile}", tags=(hostile,), metadata={hostile: hostile})
    rewrite(open_at(tmp_path).store, lambda space: space.put([told], "2026-01-01T00:00:00Z"))
    commands = [
        ["list"], ["list", "--tree"], ["get", "notes/a"], ["status"], ["pin", "notes/a"], ["status", "--stats"], ["doctor"],
        ["recall", "text"], ["recall", "text", "--format", "md", "--include-metadata"], ["recall", "text", "--format", "table"],
    ]  # fmt: skip
    for command in commands:
        for options in ([], ["--json"]):
            result = run(*command, *options)
            assert result.code == 0, result.err
            assert not [c for c in ESCAPES if c in result.out + result.err], command
            if options:
                json.loads(result.out)


def test_a_space_that_is_not_there_is_said_and_doctor_tries_to_write(run: Run, tmp_path: Path) -> None:
    run("init")
    for command in (["recall", "x"], ["status", "--stats"]):
        result = run(*command, "--space", "nope")
        assert (result.code, "space 'nope' is empty" in result.err) == (0, True)
    for command in (["list"], ["list", "--tree"]):
        result = run(*command, "--space", "nope")
        assert (result.code, result.err) == (3, "memcli: no space 'nope' (`memcli space list` lists the spaces)\n")
    shutil.rmtree(tmp_path / ".memory" / "local")
    (tmp_path / ".memory" / "local").write_text("a file in the way")
    result = run("doctor")
    assert result.code == 8
    assert "FAIL  store" in result.out


@pytest.fixture
def bare(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = new_repo(tmp_path / "work")
    made.commit("first", {"a.md": "# A\n\nText of a.\n"})
    monkeypatch.chdir(made.root)
    return made


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", "--git", "nix"], ["ingest", "nix.md"], ["ingest", "--since", "a..b"], ["remember", ""],
        ["remember", "x", "--commit", "nix"], ["remember", "x", "--anchor", "nix.py"], ["remember", "x", "--supersedes", "nix"],
    ],
)  # fmt: skip
def test_what_fails_leaves_no_store(run: Run, bare: Repo, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code in (2, 3)
    assert result.err.count("\n") == 1
    assert not (bare.root / ".memory").exists()


def test_what_is_done_leaves_a_store_and_a_dry_run_none(run: Run, bare: Repo) -> None:
    assert run("ingest", "--git", "HEAD", "--dry-run", "--json").json["paths"] != []
    assert run("ingest", "a.md", "--dry-run").out == "a.md\n1 would be ingested\n"
    assert not (bare.root / ".memory").exists()
    result = run("ingest", "a.md")
    assert result.code == 0
    assert "created a store at" in result.err
    before = (bare.root / ".memory/spaces/repo.json").read_bytes()
    assert run("ingest", "--git", "nix").code == 3
    assert (bare.root / ".memory/spaces/repo.json").read_bytes() == before
