"""A repository with a store of three memories, for the examples in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli import Memory
from tests.cli.conftest import git


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the repository, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("guide.md").write_text("# Guide\n\nRun `make release` to deploy the service.\n", encoding="utf-8")
    Path("expected.toml").write_text(
        '[[case]]\ntopic = "which database?"\nmust_include = ["decisions/database"]\n', encoding="utf-8"
    )
    for arguments in (["init", "-q"], ["add", "guide.md"], ["commit", "-qm", "Add the guide"]):
        git(tmp_path, *arguments)
    memory = Memory()
    memory.remember("We chose PostgreSQL over MySQL: we need JSONB.", kind="decision", path="decisions/database")
    memory.remember("Never force-push to main.", kind="negative", path="rules/force-push", trigger="push --force")
    memory.remember("To deploy: run make release.", kind="procedure", path="ops/deploy")
    return tmp_path
