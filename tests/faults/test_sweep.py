"""The sweep in short; `python -m tests.faults.sweep` is the whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, slow_but
from tests.faults.inject import Watched, distinct

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills and forks")


@pytest.mark.parametrize(
    "command", slow_but(("edit",), ["init", "remember", "edit", "forget", "import", "gc", "space delete"])
)
def test_no_fault_tears_or_lies(command: str) -> None:
    """In a process of its own, which has no threads and may fork."""
    line = [sys.executable, "-P", "-m", "tests.faults.sweep", "--short", "--jobs", "1", "--case", command]
    done = subprocess.run(
        line, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_kills_that_leave_the_same_files_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a"
    with Watched(str(tmp_path)) as watched:
        fd = os.open(file, os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"text")
        os.fsync(fd)
        os.close(fd)
        os.close(os.open(file, os.O_RDONLY))
        open(file, "rb").close()
        open(file, mode="ab").close()
        os.rename(file, tmp_path / "b")
    names = [call.name for call in watched.calls]
    assert names == ["open", "write", "fsync", "close", "open", "close", "open", "open", "rename"]
    assert distinct(watched.calls) == [0, 1, 2, 8]
