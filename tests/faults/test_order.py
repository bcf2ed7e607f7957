"""What makes a write survive a power cut is the order of its calls; here every command's calls are looked at.

For each file that is renamed into its place: written, flushed (fsync) after its last byte, renamed, and then the
folder flushed, all before the command says that it is done. A session is appended to, and flushed after its last byte.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.faults.commands import Case, cases
from tests.faults.inject import Call, Watched
from tests.faults.scene import MACHINE_OWN, PRIVATE, STORE, is_compared

_JUDGED = f"{PRIVATE}/usage"
"""Feedback is acknowledged, so it must last, unlike what else is noted of use."""
pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders are not flushed there")


def unsafe(calls: list[Call]) -> list[str]:
    """What is wrong with the order of these calls, for files that must last."""
    problems = []
    for at, call in enumerate(calls):
        if _is_own(call.target or call.path):
            continue
        if call.name in ("write", "pwrite", "writev", "truncate", "ftruncate") and not _is_temporary(call.path):
            if not _is_appended(call.path):
                problems.append(f"{call.path} is written in place")
            elif not any(c.name == "fsync" and c.path == call.path for c in calls[at + 1 :]):
                problems.append(f"{call.path} is not flushed")
        if call.name in ("replace", "rename"):
            before = [c.name for c in calls[:at] if c.path == call.path]
            written = max((n for n, name in enumerate(before) if name in ("write", "pwrite", "writev")), default=-1)
            if "fsync" not in before[written + 1 :]:
                problems.append(f"{call.path} is renamed before it was flushed")
            if call.target.startswith(STORE) and not call.path.startswith((f"{STORE}/local/", f"{STORE}/exports/")):
                problems.append(f"{call.path} could be committed")
        if call.name in ("replace", "rename", "unlink") and (call.name != "unlink" or call.path.endswith(".json")):
            folders = {os.path.dirname(name) for name in (call.path, call.target or call.path)}
            flushed = {c.path for c in calls[at + 1 :] if c.name == "fsync"}
            problems += [f"{call.name} of {call.path}: {folder} is not flushed" for folder in sorted(folders - flushed)]
    return problems


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_write_is_flushed_in_order(run: Run, tmp_path: Path, case: Case) -> None:
    (tmp_path / ".git").rmdir()
    subprocess.run(["git", "init", "-q", "--template="], cwd=tmp_path, check=True)
    for step in case.setup:
        assert run(*step).code == 0
    for name, text in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with Watched(str(tmp_path)) as watched:
        result = run(*case.arguments, stdin=case.stdin)
    assert result.code == 0, result.err
    assert unsafe(watched.calls) == []
    # These write outside of the work tree, or in the local state: see `store/test_state.py`.
    assert case.name in ("export --private", "feedback", "gaps --clear") or any(
        call.name in ("replace", "rename", "unlink") or (call.name == "write" and _is_appended(call.path))
        for call in watched.calls
    )


def test_writers_wait_for_each_other(run: Run, tmp_path: Path) -> None:
    """A lock that another process holds is waited for: nothing is written while it is held."""
    import fcntl
    import time

    run("remember", "One.", "--path", "a/one")
    file = tmp_path / STORE / "spaces" / "main.json"
    before = file.read_bytes()
    with open(tmp_path / STORE / "local" / "main.lock", "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        line = [sys.executable, "-P", "-m", "memcli", "edit", "a/one", "--set", "kind=decision"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(line, cwd=tmp_path, env=environ, stdout=subprocess.DEVNULL) as waiting:
            time.sleep(0.5)
            assert (waiting.poll(), file.read_bytes()) == (None, before)
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert waiting.wait(30) == 0
    assert file.read_bytes() != before


def _is_own(path: str) -> bool:
    if path.startswith(f"{PRIVATE}/"):
        return not (_is_appended(path) or is_compared(path))
    parts = path.split("/")
    return parts[0] != STORE or (len(parts) > 1 and parts[1] in MACHINE_OWN)


def _is_appended(path: str) -> bool:
    sessions = (f"{STORE}/sessions/", f"{PRIVATE}/sessions/")
    return path == _JUDGED or (path.startswith(sessions) and path.endswith(".jsonl") and not _is_temporary(path))


def _is_temporary(path: str) -> bool:
    return os.path.basename(path).startswith(".")
