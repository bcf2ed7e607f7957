"""The documents say what the program does."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.cli.main import load_command
from memcli.cli.verb import names
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("verb", names())
def test_every_command_is_documented(verb: str) -> None:
    assert f"`{verb}" in README
    command = load_command(verb)
    assert command.help
    for parameter in command.params:
        assert parameter.name


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 130


def test_the_session_in_the_readme_is_real(tmp_path: Path, update_golden: bool) -> None:
    """Runs each `$` line of the session in a new repository and compares what comes out."""
    (shown,) = SESSION.findall(README)
    (tmp_path / ".git").mkdir()
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MEMCLI_EMBEDDER": "onnx",
        "MEMCLI_FREEZE_CLOCK": "2026-01-05T10:00:00Z",
    }
    told = ""
    for line in shown.splitlines():
        if line.startswith("$ "):
            program, *arguments = shlex.split(line[2:])
            assert program == "memcli"
            done = subprocess.run(
                [sys.executable, "-P", "-m", "memcli", *arguments],
                cwd=tmp_path,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
            told += f"{line}\n{done.stderr.replace(str(tmp_path), '~/shop')}{done.stdout}"
    if update_golden:
        (ROOT / "README.md").write_text(README.replace(shown, told))
        return
    assert shown == told
