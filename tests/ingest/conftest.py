"""Real repositories in temporary folders, with fixed authors and dates."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CASES: dict[str, Any] = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))


@dataclass
class Repo:
    """A git repository whose commits are an hour apart."""

    root: Path
    hour: int = field(default=0)

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        moment = f"2026-01-{1 + self.hour // 24:02d}T{self.hour % 24:02d}:00:00+02:00"
        environ = {
            **os.environ,
            "GIT_AUTHOR_NAME": "Ann Author", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_NAME": "Carl", "GIT_COMMITTER_EMAIL": "carl@example.org", "GIT_COMMITTER_DATE": moment,
        }  # fmt: skip
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.root, env=environ, input=stdin, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return os.fsdecode(done.stdout).strip()

    def write(self, name: str | bytes, content: str | bytes) -> None:
        file = os.path.join(os.fsencode(self.root), os.fsencode(name))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "a change", files: dict[str, str | bytes] | None = None) -> str:
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        self.hour += 1
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return new_repo(tmp_path / "repo")


def memories(candidates: Iterable[Mapping[str, object]]) -> list[dict[str, Any]]:
    """The fields of the candidates, without what only says which others they replace, or that a commit was read."""
    found = [{k: value for k, value in fields.items() if k not in ("replaces", "read")} for fields in candidates]
    return [fields for fields in found if fields]


def new_repo(root: Path) -> Repo:
    root.mkdir()
    made = Repo(Path(os.path.realpath(root)))
    made.git("init", "-q", "-b", "main")
    return made


def unchanged(text: str) -> tuple[str, dict[str, int]]:
    """A redaction that finds no secret."""
    return text, {}
