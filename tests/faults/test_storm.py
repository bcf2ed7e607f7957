"""The storms in short; `python -m tests.faults.storm` is the whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT, slow_but

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills and forks")


@pytest.mark.parametrize(
    "options",
    slow_but(
        ("--writers 4 --kill-every 50 --seconds 1",),
        ["--writers 4 --count 25", "--writers 4 --kill-every 50 --seconds 1", "--writers 0 --processes 3 --count 4"],
    ),
)
def test_nothing_acknowledged_is_lost(options: str) -> None:
    """In a process of its own, which has no threads and may fork."""
    line = [sys.executable, "-P", "-m", "tests.faults.storm", *options.split()]
    done = subprocess.run(
        line, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
