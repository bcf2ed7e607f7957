"""What the tests of stores share: the places of a store, repositories, memcli in another process, and processes at once."""

from __future__ import annotations

import errno
import multiprocessing
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.store.layout import Layout, make_root
from tests.faults.scene import Ended, drop_rights, run_forked


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The layout of a new store, whose private state is in its folder `local/`."""
    make_root(str(tmp_path / ".memory"))
    return Layout(str(tmp_path / ".memory"))


def git(folder: Path, *arguments: str) -> str:
    """Runs `git ARGUMENTS` in a folder; what it prints."""
    who = {f"GIT_{role}_{field}": f"a{more}" for role in ("AUTHOR", "COMMITTER") for field, more in _WHO.items()}
    line = ["git", *arguments]
    done = subprocess.run(line, cwd=folder, env={**os.environ, **who}, check=True, capture_output=True, text=True)
    return done.stdout


_WHO = {"NAME": "", "EMAIL": "@example.com"}


def commit(folder: Path, message: str, *force: str) -> None:
    git(folder, "add", *force, ".")
    git(folder, "commit", "-qm", message)


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Shop\n")
    commit(folder, "first")
    return folder


def memcli(folder: Path, *arguments: str) -> Ended:
    """Runs memcli in a fork, which permissions bind even where root runs the tests."""
    return run_forked(folder, dict(os.environ), arguments, before=drop_rights)


def at_once(work: Callable[..., None], calls: list[tuple[object, ...]], start: str = "fork") -> None:
    """Runs `work` with each of the arguments, each in a process of its own."""
    context = multiprocessing.get_context(start if os.name == "posix" else None)
    processes = [context.Process(target=work, args=call) for call in calls]  # type: ignore[attr-defined]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(calls)


class Killed(BaseException):
    """The process is gone."""


def die(*_: object, **__: object) -> None:
    raise Killed


def killed_at(target: str, act: Callable[..., object], *arguments: object) -> None:
    """Acts, in a process that is killed at the function `target`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, die)
        with pytest.raises(Killed):
            act(*arguments)


def fail_to_read(*_: object, **__: object) -> bytes:
    raise OSError(errno.EIO, "Input/output error")
