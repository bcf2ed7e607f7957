"""Faults from outside: strace lists every system call that touches the store, and makes one of them fail or kill.

Sees what the process really does, SQLite included. Without `-f`: threads and children are left alone, so that the
number of a call is always that of the main thread.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

from tests.faults.commands import Case
from tests.faults.scene import PRIVATE, STORE, Ended, Scene

CALLS = (
    "open", "openat", "creat", "read", "pread64", "write", "pwrite64", "writev", "fsync", "fdatasync", "rename",
    "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "mkdir", "mkdirat",
    "rmdir", "truncate", "ftruncate", "fallocate", "copy_file_range", "sendfile", "fchmod", "chmod", "fchmodat",
    "utimensat", "flock",
)  # fmt: skip
ERRNOS = ("ENOSPC", "EIO", "EACCES", "EMFILE", "EROFS", "EDQUOT", "EINTR")
_LINE = re.compile(r"(?:\d+\s+)?(\w+)\(")
_TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Point:
    """The `number`-th call of `name` in the process (from 1), on a file at `path` in the work tree."""

    name: str
    number: int
    path: str


def is_there() -> bool:
    """Whether strace is installed and may trace here."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0
    )


def points(scene: Scene, case: Case) -> list[Point]:
    """Every call of the case that touches the work tree's files (not git's), in order."""
    ended = _run(scene, case, ["-e", "trace=" + ",".join(f"?{name}" for name in CALLS)])
    if ended.code:
        raise ValueError(f"{case.name}: exits with {ended.code} under strace: {ended.err.strip()}")
    counts: Counter[str] = Counter()
    found = []
    for line in _log(scene):
        match = _LINE.match(line)
        if match is None:
            continue
        counts[match[1]] += 1
        if path := _touched(scene, line):
            found.append(Point(match[1], counts[match[1]], path))
    return found


def struck(scene: Scene, case: Case, point: Point, kind: str) -> tuple[Ended, bool]:
    """Runs the case with the fault `kind` (`kill`, or a name of errno) at `point`; and whether it struck there."""
    what = "signal=SIGKILL" if kind == "kill" else f"error={kind}"
    ended = _run(
        scene, case, ["-e", f"trace={point.name}", "-e", f"inject={point.name}:{what}:when={point.number}"]
    )  # fmt: skip
    lines = [line for line in _log(scene) if _LINE.match(line)]
    hit = len(lines) >= point.number and bool(_touched(scene, lines[point.number - 1]))
    return ended, hit


def _touched(scene: Scene, line: str) -> str:
    match = re.search(re.escape(str(scene.work)) + r'/([^">]*)', line)
    if match is None or match[1] == ".git" or (match[1].startswith(".git/") and not match[1].startswith(PRIVATE)):
        return ""
    return match[1] if match[1].startswith((STORE, PRIVATE)) or "(deleted)" not in line else ""


def _run(scene: Scene, case: Case, options: list[str]) -> Ended:
    command = ["strace", "-y", "-qq", "-s", "0", "-o", str(scene.base / "strace.log"), *options]
    done = subprocess.run(
        [*command, sys.executable, "-P", "-m", "memcli", *case.arguments], cwd=scene.work, env=scene.environ,
        input=case.stdin, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_SECONDS, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def _log(scene: Scene) -> list[str]:
    return (scene.base / "strace.log").read_text(errors="replace").splitlines()
