"""The sweep in short; `python -m tests.faults.sweep` is the whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills and forks")


@pytest.mark.parametrize("command", ["init", "remember", "edit", "forget", "import", "gc", "space delete"])
def test_no_fault_tears_or_lies(command: str) -> None:
    """In a process of its own, which has no threads and may fork."""
    line = [sys.executable, "-P", "-m", "tests.faults.sweep", "--short", "--jobs", "1", "--case", command]
    done = subprocess.run(
        line, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
