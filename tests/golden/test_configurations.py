"""The configurations among the samples name what there is, and what they call does what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.safety.secrets_corpus import secret

HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text()
CONFIGURATION = (ROOT / "samples" / "pre_commit_config.yaml").read_text()
WORKFLOW = (ROOT / "samples" / "ci_workflow.yml").read_text()
ENTRIES = dict(re.findall(r"- id: (\S+)\n(?:  .*\n)*?  entry: (.*)\n", HOOKS))
FILES = dict(re.findall(r"- id: (\S+)\n(?:  .*\n)*?  files: (.*)\n", HOOKS))
STEPS = re.findall(r"- run: (memcli .*)\n", WORKFLOW)

Call = Callable[..., int]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Runs a command line in a repository whose store is committed; its exit code."""

    def run(command: str, *files: str) -> int:
        words = [sys.executable, "-P", "-m", *shlex.split(command), *files]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert run("memcli init") == 0
    assert run("memcli remember 'We chose PostgreSQL.'") == 0
    for arguments in (["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return run


def test_pre_commit(call: Call, tmp_path: Path) -> None:
    wanted = re.findall(r"- id: (\S+)", CONFIGURATION)
    assert call(ENTRIES["memcli-guard"]) == 0  # which looks at the change, whatever files it has
    wanted.remove("memcli-guard")
    assert wanted
    file = ".memory/spaces/main.json"
    for name in wanted:
        assert re.search(FILES[name], file)
        assert not re.search(FILES[name], "memory/main.json")
        assert call(ENTRIES[name], file) == 0
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text.replace("PostgreSQL", secret("github_token", 900)[1]) + "\n")
    assert all(call(ENTRIES[name], file) for name in wanted)


def test_workflow(call: Call, tmp_path: Path) -> None:
    assert STEPS
    assert [call(step) for step in STEPS] == [0] * len(STEPS)
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text() + "[")
    assert call(STEPS[0]) == 6
