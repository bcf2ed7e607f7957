"""What tests of commands share: a repository, and tables of command lines that must be refused."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

DATE = "2026-01-02T03:04:05Z"
"""When the commits of `commit` are made."""


def git(folder: Path, *arguments: str) -> str:
    """What git prints in a folder, as an author of its own, at DATE."""
    identity = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    environ = {**os.environ, **identity, **dates}
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, env=environ, capture_output=True, text=True)
    return done.stdout


def commit(folder: Path, name: str, text: str, message: str) -> None:
    """Writes a file and commits all that is in the folder."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


@pytest.fixture
def repository(tmp_path: Path, run: Run) -> Path:
    """The folder that commands run in, as an empty repository."""
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def on_a_terminal(
    folder: Path,
    *arguments: str,
    environ: Mapping[str, str],
    size: tuple[int, int] = (200, 80),
    typed: str = "",
) -> tuple[int, str]:
    """Runs memcli on a terminal of so many lines and columns; how it ends, and what it writes there."""
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    strange = ("COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE", "PAGER")
    own = {name: value for name, value in os.environ.items() if name not in strange}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "memcli", *arguments], cwd=folder, stdin=its, stdout=its, stderr=its,
        env={**own, "PYTHONPATH": str(ROOT), "MEMCLI_EMBEDDER": "off", **environ},
    )  # fmt: skip
    os.close(its)
    os.write(mine, typed.encode())
    shown = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(mine, 1 << 16):
            shown += part
    os.close(mine)
    return process.wait(), shown.decode()


def until(condition: Callable[[], object]) -> None:
    """Waits at most a minute for a condition to hold."""
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("waited for 60 s")


def wrong(run: Run, table: Iterable[tuple[str | list[str], int, str]], *before: str) -> str:
    """Of command lines that must be refused with an exit code and one line that says something, those that are not.

    A line is words, or a text that is split at blanks; `before` stands before each.
    """
    found = []
    for words, code, says in table:
        line = [*before, *(words.split() if isinstance(words, str) else words)]
        result = run(*line)
        seen = (result.code, result.out, result.err.count("\n"), says in result.err, "\x1b" in result.err)
        if seen != (code, "", 1, True, False):
            found.append(f"{line}: {result.code} {result.out}{result.err}")
    return "\n".join(found)
