"""Where a memory says that it comes from: a file, a commit, a speaker, a group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_anchors import work as work  # noqa: PLC0414 - a fixture is taken over by its name
from tests.conftest import Run
from tests.ingest.conftest import Repo


def stored(run: Run, path: str = "a") -> dict[str, Any]:
    found: dict[str, Any] = run("get", path, "--json").json
    return found


def test_a_revision_is_stored_as_its_hash(run: Run, work: Repo) -> None:
    head = work.git("rev-parse", "HEAD")
    for revision in ("HEAD", head[:9], "main", head):
        assert run("remember", f"Since {revision}.", "-p", "a", "--commit", revision).code == 0
        assert stored(run)["provenance"] == {"commit": head}


@pytest.mark.parametrize(("revision", "code"), [("nix", 3), ("f" * 40, 3), ("abcdef1", 3), ("a..b", 2), ("--all", 2)])
def test_what_names_no_commit(run: Run, work: Repo, revision: str, code: int) -> None:
    result = run("remember", "x", "-p", "a", f"--commit={revision}")
    assert (result.code, result.err.count("\n")) == (code, 1)
    assert run("get", "a").code == 3


def test_outside_of_a_repository(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    (tmp_path / ".git").rmdir()
    assert run("remember", "x", "-p", "a", "--commit", "abcdef1").code == 0
    assert stored(run)["provenance"] == {"commit": "abcdef1"}
    assert run("remember", "x", "-p", "a", "--commit", "HEAD").code == 3


def test_a_file_is_the_source(run: Run, work: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    work.write("docs/rules.md", "Never deploy on Fridays.\n")
    monkeypatch.chdir(work.root / "docs")
    assert run("remember", "--file", "rules.md", "-p", "a").code == 0
    found = stored(run)
    assert (found["metadata"]["source"], found["provenance"]) == ("docs/rules.md", {"files": ["docs/rules.md"]})
    run("remember", "--file", "rules.md", "-p", "b", "--meta", "source=talk", "--source", "observed")
    found = stored(run, "b")
    assert (found["metadata"]["source"], found["provenance"]["source"]) == ("talk", "observed")
    (tmp_path / "mine.txt").write_text("Elsewhere.")
    run("remember", "--file", str(tmp_path / "mine.txt"), "-p", "c")
    assert "source" not in stored(run, "c")["metadata"]
