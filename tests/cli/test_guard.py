"""`memcli guard`: what speaks against a change, in the forms that editors, CI and people read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli import __version__
from memcli.record import replace
from memcli.safety.screening import screened
from tests.cli.conftest import git, wrong
from tests.conftest import ROOT, Run, memory, open_at, rewrite
from tests.safety.hostile import INSTRUCTIONS

GOLDEN = Path(__file__).parent / "golden"
CODE = "import time\ny = time.time()\nz = eval(input())\r\n"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    """A repository with a store, and a change staged that four memories have something to say about."""
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    run("init")
    run("remember", "Never call eval on input.\nIt got us owned.", "--kind", "negative", "--path", "sec/eval",
        "--trigger", "eval\\(", "--enforce")  # fmt: skip
    run("remember", "Migrations are never edited.", "--kind", "constraint", "--path", "db/migrations",
        "--trigger", "db/migrations/*.sql")  # fmt: skip
    run("remember", "Take the clock from the port.", "--kind", "negative", "--path", "auth/clock",
        "--trigger", "symbol:time.time", "--trigger", "path:src/auth")  # fmt: skip
    run("remember", "PostgreSQL is the database.", "--kind", "decision", "--path", "db", "--trigger", "create")
    write(tmp_path, "src/auth/a.py", CODE)
    write(tmp_path, "src/other.py", "y = time.time()\n")
    write(tmp_path, "db/migrations/1, ü.sql", "create\n")
    git(tmp_path, "add", "-A")
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_the_formats(project: Path, run: Run, form: str, update_golden: bool) -> None:
    done = run("guard", "--format", form)
    assert done.code == 5
    assert done.err == "memcli: 1 enforced: change these lines; `memcli get ID` shows the reason\n"
    told = done.out.replace(f'"{__version__}"', '"VERSION"')
    golden = GOLDEN / f"guard.{form}"
    if update_golden:
        golden.write_text(told)
    assert told == golden.read_text()
    if form == "json":
        assert run("guard", "--json").out == done.out


def test_a_change_is_told_alike_however_it_comes(project: Path, run: Run) -> None:
    asked = run("guard").out
    data = subprocess.run(["git", "diff", "--cached"], cwd=project, capture_output=True, check=True).stdout
    assert run("guard", "--diff", "-", stdin=data).out == asked
    (project / "x.diff").write_bytes(data)
    assert run("guard", "--diff", "x.diff").out == asked
    assert run("guard", "--staged").out == asked
    git(project, "commit", "-q", "-m", "one")
    quiet = run("guard")
    assert (quiet.code, quiet.out) == (0, "")
    write(project, "src/other.py", "y = time.time()\neval(1)\n")
    git(project, "commit", "-qam", "two")
    assert run("guard", "--changed", "HEAD~1").out.startswith("src/other.py:2: enforced negative ")


def test_a_clone_that_nobody_accepted_only_warns(project: Path, run: Run) -> None:
    (project / ".git" / "memcli" / ".memory" / "trust.json").unlink()
    done = run("guard", "--format", "github")
    assert (done.code, done.out.count("::warning"), done.out.count("::error")) == (0, 3, 0)
    assert "memcli trust" in done.err


def test_memories_with_instructions_in_them_are_withheld(run: Run, tmp_path: Path) -> None:
    told = screened(memory(raw=INSTRUCTIONS[0], kind="negative", triggers=("eval",), enforce=True))
    rewrite(open_at(tmp_path).store, lambda space: space.put([told], told.updated_at))
    done = run("guard", "--diff", "-", stdin="--- a\n+++ a\n@@ -0,0 +1 @@\n+eval\n")
    assert (done.code, done.out) == (0, "")
    assert "skipped 1 that contain instructions" in done.err


def test_a_stored_trigger_that_is_no_expression_is_told(run: Run, tmp_path: Path) -> None:
    told = memory(kind="negative", triggers=("(", "eval"))
    rewrite(open_at(tmp_path).store, lambda space: space.put([told], told.updated_at))
    done = run("guard", "--diff", "-", stdin="--- a\n+++ a\n@@ -0,0 +1 @@\n+eval\n")
    assert (done.code, done.out) == (0, "a:1: negative mem_a notes/a: The text of a.\n")
    assert "notes/a has a trigger that is not a valid RE2 pattern" in done.err
    assert run("check", "store").code == 0
    rewrite(open_at(tmp_path).store, lambda space: space.put([replace(told, enforce=True)], told.updated_at))
    done = run("guard", "--diff", "-", "-q", stdin="--- a\n+++ a\n@@ -0,0 +1 @@\n+eval\n")
    assert (done.code, done.out) == (6, "a:1: enforced negative mem_a notes/a: The text of a.\n")
    assert done.err.startswith("memcli: enforced, but not checked, because a trigger is invalid: mem_a (")
    found = run("check", "store")
    assert (found.code, "mem_a: enforced, but triggers[0]" in found.out, "memcli edit ID" in found.err) == (
        6,
        True,
        True,
    )


def test_bad_input(project: Path, run: Run) -> None:
    table = [
        ("--diff gone", 3, ""), ("--changed gone", 3, ""), ("--changed --x", 2, ""), ("--staged --diff -", 2, ""),
        ("--format yaml", 2, ""), ("--changed HEAD", 3, ""),
    ]  # fmt: skip
    assert wrong(run, table, "guard") == ""
    for stdin, code in (("hello", 2), ("", 0)):
        done = run("guard", "--diff", "-", stdin=stdin)
        assert (done.code, done.out, done.err.count("\n")) == (code, "", int(code != 0))


def test_a_trigger_is_checked_when_it_is_stored(run: Run) -> None:
    run("remember", "x", "--path", "a")
    for trigger in ("(", "path:a[", "", "x" * 1001):
        given = json.dumps([trigger])
        table = [
            (["remember", "x", "--path", "b", "--trigger", trigger], 2, "triggers[0]"), (["edit", "a", "--set", f"triggers={given}"], 2, ""),
            (["remember", "--object", f'{{"raw": "x", "triggers": {given}}}'], 2, "triggers[0]"),
        ]  # fmt: skip
        assert wrong(run, table) == ""
    assert run("edit", "a", "--set", 'triggers=["fine"]').code == 0


@pytest.mark.parametrize("way", [["-a"], pytest.param(["src/other.py"], marks=pytest.mark.slow)], ids=str)
def test_a_hook_sees_what_this_commit_takes(project: Path, way: list[str]) -> None:
    """`git commit -a` and `git commit FILE` have an index of their own, which only the hook is told of."""
    git(project, "commit", "-q", "-m", "one")
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -P -m memcli guard\n")
    hook.chmod(0o755)
    write(project, "src/other.py", "eval(1)\n")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-m", "two", *way]
    done = subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "src/other.py:1: enforced negative " in done.stdout + done.stderr


def test_a_trigger_that_nobody_looks_at_is_told_of(run: Run) -> None:
    run("init", "-q")
    for options, told in (
        ("--kind fact --trigger eval", "never checked"), ("--kind negative --enforce", "has no effect without --trigger"),
        ("--kind negative --trigger eval", ""), ("--kind fact --trigger eval --enforce", ""), ("--kind fact", ""),
    ):  # fmt: skip
        result = run("remember", f"Never call eval {options}.", "--no-check", *options.split())
        assert (result.code, told in result.err if told else result.err) == (0, True if told else "")


def test_what_is_enforced_comes_first_among_findings_of_one_line(run: Run, tmp_path: Path) -> None:
    rules = [memory(name, kind="negative", triggers=("eval",), enforce=name == "z") for name in ("a", "z")]
    rewrite(open_at(tmp_path).store, lambda space: space.put(rules, rules[0].updated_at))
    done = run("guard", "--diff", "-", stdin="--- a\n+++ a\n@@ -0,0 +1 @@\n+eval\n")
    assert [line.split()[-5] for line in done.out.splitlines()] == ["notes/z:", "notes/a:"]


def test_without_a_store_there_are_no_rules(project: Path, run: Run) -> None:
    # As in the work tree of a branch without one, where the hooks of the repository run too.
    (project / ".memory").rename(project / "elsewhere")
    git(project, "rm", "-q", "--cached", "-r", ".memory")
    done = run("guard", "--json")
    assert (done.code, done.json["findings"], done.json["files"]) == (0, [], 3)
    assert done.err == "memcli: no store found: no .memory in this folder or above, so no rules\n"
    assert run("guard", "--root", str(project / ".memory")).code == 3


def test_a_protected_file_is_not_removed_or_renamed(project: Path, run: Run) -> None:
    run("remember", "Never touch the licence.", "--kind", "negative", "--trigger", "path:LICENSE", "--enforce")
    write(project, "LICENSE", "text\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "--no-verify", "-m", "x")
    for change in (("rm", "-q", "LICENSE"), ("mv", "LICENSE", "COPYING")):
        assert run("guard").code == 0
        git(project, *change)
        assert run("guard").code == 5, change
        git(project, "reset", "-q", "--hard")
