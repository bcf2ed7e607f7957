"""Commands in a work tree that has no store: what fails leaves none, and a dry run needs none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.ingest.conftest import Repo, new_repo


@pytest.fixture
def bare(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = new_repo(tmp_path / "work")
    made.commit("first", {"a.md": "# A\n\nText of a.\n"})
    monkeypatch.chdir(made.root)
    return made


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", "--git", "nix"], ["ingest", "nix.md"], ["ingest", "--since", "a..b"], ["remember", ""],
        ["remember", "x", "--commit", "nix"], ["remember", "x", "--anchor", "nix.py"], ["remember", "x", "--supersedes", "nix"],
    ],
)  # fmt: skip
def test_what_fails_leaves_no_store(run: Run, bare: Repo, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code in (2, 3)
    assert result.err.count("\n") == 1
    assert not (bare.root / ".memory").exists()


def test_what_is_done_leaves_one(run: Run, bare: Repo) -> None:
    result = run("ingest", "a.md")
    assert result.code == 0
    assert "created a store at" in result.err
    before = (bare.root / ".memory/spaces/repo.json").read_bytes()
    assert run("ingest", "--git", "nix").code == 3
    assert (bare.root / ".memory/spaces/repo.json").read_bytes() == before


def test_a_dry_run_needs_none(run: Run, bare: Repo) -> None:
    assert run("ingest", "--git", "HEAD", "--dry-run", "--json").json["paths"] != []
    assert run("ingest", "a.md", "--dry-run").out == "a.md\n1 would be ingested\n"
    assert not (bare.root / ".memory").exists()
