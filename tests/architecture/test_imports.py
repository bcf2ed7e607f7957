"""What a command may load: names of modules, not milliseconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, memory, open_at, rewrite

HEAVY = {"numpy", "onnxruntime", "tokenizers", "rich", "textual", "pydantic", "watchdog", "pathspec", "asyncio", "yaml"}
PROBE = """
import atexit, sys
def report():
    print(*sorted({part for name in sys.modules for part in (name, name.partition(".")[0])}), file=sys.stderr)
atexit.register(report)
sys.argv = ["memcli", *sys.argv[1:]]
from memcli.__main__ import main
main()
"""


def loaded(folder: Path, *arguments: str, given: str = "", **environ: str) -> set[str]:
    command = [sys.executable, "-P", "-c", PROBE, *arguments]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(command, cwd=folder, input=given, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


LIGHT = (
    "--help", "--version", "recall --help", "recall text", "list", "remember More.", "pin notes/a", "hook run post-commit",
    "hook run prompt --agent claude",
)  # fmt: skip


LIGHTER = {"recall text": {"filecmp", "shlex", "shutil"}, "hook run prompt --agent claude": {"typer"}}
"""What else is not loaded: what only copies and repairs need, and the parser that hooks of agents go past."""


@pytest.mark.parametrize("line", LIGHT)
def test_light_commands_stay_light(tmp_path: Path, line: str) -> None:
    workspace = open_at(tmp_path)
    rewrite(workspace.store, lambda space: space.put([memory("a")], "2026-01-01T00:00:00Z"))
    environ = {"MEMCLI_EMBEDDER": "off", "MEMCLI_HOOK_FOREGROUND": "1"}
    assert not loaded(tmp_path, *line.split(), **environ) & (HEAVY | LIGHTER.get(line, set()))


def test_a_command_that_only_reads_costs_an_agent_no_more_than_memory_that_is_off(tmp_path: Path) -> None:
    open_at(tmp_path)
    call = ("hook", "run", "before-tool", "--agent", "claude")
    reading = '{"tool_name": "Bash", "tool_input": {"command": "git log | head"}}'
    off = loaded(tmp_path, *call, given=reading.replace("log", "push"), MEMCLI_HOOK_FOREGROUND="1", MEMCLI_OFF="1")
    read = loaded(tmp_path, *call, given=reading, MEMCLI_HOOK_FOREGROUND="1")
    assert read <= off
    assert "memcli.store.file" in off - read, "it does not open the store"


def test_completion_of_values_knows_almost_nothing(tmp_path: Path) -> None:
    open_at(tmp_path)
    assert not loaded(tmp_path, "__complete", "paths", "") & (HEAVY | {"typer", "orjson", "sqlite3"})
