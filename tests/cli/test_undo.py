"""`init --undo` takes back all that was set up, byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import Run

HOOK = "#!/bin/sh\necho mine\n"


def files(folder: Path) -> dict[str, bytes]:
    """The files of a work tree and of its repository, but for objects and the private state of memcli."""
    return {
        name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and not (name := str(path.relative_to(folder))).startswith((".git/objects", ".git/memcli", ".memory/"))
    }


def test_what_was_set_up_is_taken_back_and_the_memories_stay(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    subprocess.run(["git", "init", "-q", "."], check=True)
    (tmp_path / "CLAUDE.md").write_text("# Mine\n")
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "attributes").write_text("*.bin binary\n")
    (tmp_path / ".git" / "hooks" / "post-commit").write_text(HOOK)
    (tmp_path / ".git" / "hooks" / "post-commit").chmod(0o755)
    before = files(tmp_path)
    assert run("init", "--git", "--hooks", "--agent", "claude", "--agent", "gemini").code == 0
    assert files(tmp_path) != before
    run("remember", "We use uv.", "--path", "tools")
    assert run("init", "--undo").code == 0
    assert files(tmp_path) == before
    assert run("get", "tools", "--field", "raw").out == "We use uv.\n"
    assert run("init", "--undo").out == "nothing was set up\n"


def test_a_purge_is_confirmed_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    subprocess.run(["git", "init", "-q", "."], check=True)
    run("init", "--git")
    run("remember", "We use uv.", "--path", "tools")
    assert (run("init", "--purge").code, run("init", "--undo", "--purge").code) == (2, 5)
    assert (tmp_path / ".memory").is_dir()
    assert run("init", "--undo", "--purge", "--yes").code == 0
    assert not (tmp_path / ".memory").exists()
    assert not (tmp_path / ".git" / "memcli").exists()
    assert run("init", "--undo").code == 3
