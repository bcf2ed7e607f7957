"""Repositories with a store in them, and the plain ones of `tests/ingest`."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from memcli.cli.main import main
from memcli.codec.space import decode_space, encode_space
from memcli.model.memory import Memory
from memcli.model.space import Space
from tests.conftest import ROOT
from tests.ingest.conftest import Repo, new_repo
from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name


@dataclass
class Team(Repo):
    """A repository with a store in it."""

    def memcli(self, *arguments: str, code: int = 0) -> None:
        moment = f"2026-03-{1 + self.hour // 24:02d}T{self.hour % 24:02d}:00:00Z"
        self.hour += 1
        assert main([*arguments, "--root", str(self.root), "--freeze-clock", moment, "--quiet"]) == code

    def commit(self, message: str = "a change", files: dict[str, str | bytes] | None = None) -> str:
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "-A")  # what is of this machine alone stays out, as anywhere
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def remember(self, path: str, text: str, *more: str) -> None:
        self.memcli("remember", text, "--path", path, *more)
        self.commit(f"remember {path}")

    def branch(self, name: str) -> None:
        self.git("switch", "-q", "-c", name, "main")

    def on(self, name: str) -> None:
        self.git("switch", "-q", name)

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        who = {"GIT_COMMITTER_NAME": "Carl", "GIT_COMMITTER_EMAIL": "c@example.org"}
        environ = {**os.environ, **who, "GIT_EDITOR": "true"}
        return subprocess.run(
            ["git", "-c", "user.name=Ann", "-c", "user.email=a@example.org", *arguments],
            cwd=self.root, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def file(self, space: str = "main") -> Path:
        return self.root / ".memory" / "spaces" / f"{space}.json"

    def space(self, space: str = "main") -> Space:
        data = self.file(space).read_bytes()
        found = decode_space(data, "test")
        assert encode_space(found) == data
        return found

    def texts(self, space: str = "main") -> dict[str, str]:
        return {m.path: m.raw for m in self.space(space).objects}

    def at(self, path: str) -> Memory:
        return next(m for m in self.space().objects if m.path == path)


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = Team(new_repo(tmp_path / "team").root)
    made.memcli("init", "--git")
    made.remember("db/choice", "We chose PostgreSQL.")
    return made
