"""An ingest that is killed and run again leaves what one does that nobody disturbed, whatever happens to the history."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app import ingest as ingesting
from memcli.cli.main import main
from tests.conftest import NOW, examples
from tests.ingest.conftest import Repo, new_repo

_CALLS = ("replace", "fsync", "write", "unlink")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a merge, a commit of nothing but noise, and more memories than a few writes take."""
    made = new_repo(tmp_path_factory.mktemp("history") / "repo")
    for n in range(14):
        made.commit(
            f"Change {n}", {f"src/m{n % 3}.py": f"def f{n}():\n    return {n}\n" * 3, f"d{n}.md": f"Part {n}.\n"}
        )
    made.git("checkout", "-q", "-b", "side", "HEAD~4")
    made.commit("On the side", {f"side/s{n}.txt": f"side {n}\n" for n in range(9)})
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "side", "-m", "Merge the side")
    made.commit("Lock", {"poetry.lock": "x = 1\n"})
    return made.root


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(ingesting, "_LEAST", 5)
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", NOW)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = Path.cwd()
    yield
    os.chdir(before)


def ingest(kill_at: int = 0) -> bool:
    """Runs `ingest --git HEAD` in a process of its own, killed at this call that changes a file; whether it ended by itself."""
    child = os.fork()
    if not child:
        calls = 0

        def deadly(real: Any) -> Any:
            def call(*arguments: Any, **more: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **more)

            return call

        for name in _CALLS:
            setattr(os, name, deadly(getattr(os, name)))
        code = 99
        try:
            code = main(["ingest", "--git", "HEAD", "--quiet"])
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def change(repo: Repo, what: str, number: int, start: str) -> None:
    if what == "commit":
        repo.commit(f"Later {number}", {f"later{number}.txt": "x\n", "src/m0.py": f"def later{number}(): ...\n"})
    elif what == "amend":
        repo.write("src/m1.py", f"def amended{number}(): ...\n")
        repo.git("add", "-A")
        repo.git("commit", "-q", "--amend", "-m", f"Amended {number}")
    elif what == "reset":
        repo.git("reset", "-q", "--hard", "HEAD~2")
    elif what == "gc":
        repo.git("reflog", "expire", "--expire=now", "--all")
        repo.git("gc", "-q", "--prune=now")
    elif what == "back":
        if "missing" not in repo.git("cat-file", "--batch-check", stdin=f"{start}\n".encode()):
            repo.git("reset", "-q", "--hard", start)
    elif what == "cache":
        shutil.rmtree(repo.root / ".memory" / "cache", ignore_errors=True)
    elif what == "space":
        (repo.root / ".memory" / "spaces" / "repo.json").unlink(missing_ok=True)


_STEPS = st.lists(
    st.one_of(
        st.integers(1, 260), st.sampled_from(["commit", "amend", "reset", "gc", "back", "cache", "space", "whole"])
    ),
    min_size=1,
    max_size=6,
)


@examples(0.12)
@given(steps=_STEPS)
@pytest.mark.usefixtures("surroundings")
def test_killed_and_resumed(history: Path, tmp_path_factory: pytest.TempPathFactory, steps: list[int | str]) -> None:
    root = tmp_path_factory.mktemp("killed") / "repo"
    shutil.copytree(history, root)
    repo = Repo(root, hour=40)
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text(".memory/\n")  # no reset takes it back
    start = repo.commit("Start", {"start.txt": "x\n"})
    repo.git("branch", "-D", "-q", "side")
    os.chdir(root)
    assert main(["init", "--quiet"]) == 0
    for number, step in enumerate(steps):
        if isinstance(step, int):
            ingest(step)
        elif step == "whole":
            assert ingest()
        else:
            change(repo, step, number, start)
    assert ingest()
    file = root / ".memory" / "spaces" / "repo.json"
    resumed = file.read_bytes()
    shutil.rmtree(root / ".memory")
    assert main(["init", "--quiet"]) == 0
    assert ingest()
    assert resumed == file.read_bytes()
