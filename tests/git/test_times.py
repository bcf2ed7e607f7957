"""When versions and commits were made."""

from __future__ import annotations

import subprocess

import pytest

from memcli.git.times import time_of
from tests.ingest.conftest import Repo

MADE = ("2025-12-31T22:00:00Z", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")


@pytest.fixture
def tagged(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("TZ", "America/New_York")
    for tag in ("v1.0.0", "release-1.1", "2.0", "nightly"):
        repo.write("a.txt", tag)
        repo.commit()  # an hour after the one before
        subprocess.run(["git", "tag", tag], cwd=repo.root, check=True)
    return repo


@pytest.mark.parametrize(
    ("name", "hour"),
    [("1.0", 0), ("v1.0.0", 0), ("1", 0), ("1.1", 1), ("1.1.0", 1), ("v2", 2), ("nightly", 3), ("1.2", -1), ("0", -1)],
)
def test_a_version_is_found_by_its_tag(tagged: Repo, name: str, hour: int) -> None:
    assert time_of(str(tagged.root), name) == (MADE[hour] if hour >= 0 else None)


def test_a_commit_is_found_by_its_hash(tagged: Repo) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD~1"], cwd=tagged.root, check=True, capture_output=True, text=True
    ).stdout
    assert time_of(str(tagged.root), commit[:9]) == MADE[2]
    assert time_of(str(tagged.root), "0123456789") is None


@pytest.mark.parametrize("name", ["", "--all", "-p", "HEAD", "1..2", "v\0"])
def test_what_is_neither_is_nothing(tagged: Repo, name: str) -> None:
    assert time_of(str(tagged.root), name) is None


def test_without_a_repository_there_are_no_times(tmp_path) -> None:
    assert time_of(str(tmp_path / "nowhere"), "1.0") is None
