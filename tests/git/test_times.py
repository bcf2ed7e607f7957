"""When versions and commits were made."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memcli.git.revisions import time_of
from tests.ingest.conftest import Repo

MADE = ("2025-12-31T22:00:00Z", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
TAGS = ("v1.0.0", "release-1.1", "2.0", "nightly")


def tag_all(repo: Repo, tags: Sequence[str]) -> None:
    for tag in tags:
        repo.write("a.txt", tag)
        repo.commit()  # an hour after the one before
        repo.git("tag", tag)


@pytest.fixture
def tagged(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("TZ", "America/New_York")
    tag_all(repo, TAGS)
    return repo


def test_a_version_is_found_by_its_tag(tagged: Repo) -> None:
    names = [("1.0", 0), ("v1.0.0", 0), ("1", 0), ("1.1", 1), ("1.1.0", 1), ("v2", 2), ("nightly", 3)]
    for name, hour in names:
        assert time_of(str(tagged.root), name) == (TAGS[hour], MADE[hour]), name
    for name in ("1.2", "0", "", "--all", "-p", "HEAD", "1..2", "v\0"):
        assert time_of(str(tagged.root), name) is None, name


def test_an_exact_tag_wins_and_a_stage_is_a_part_of_its_version(repo: Repo) -> None:
    tag_all(
        repo,
        ("pkg-v4.0", "v0.32", "0.32rc1", "v1.0.0-beta.2", "2.0a3", "3.1.dev4", "pkg@1", "release-4.0", "lib/v5.1",
         "curl-8_1_0", "nightly-2024-01-02"),
    )  # fmt: skip
    wanted = [
        ("0.32rc1", "0.32rc1"), ("0.32", "v0.32"), ("0.32rc2", None), ("v0.32rc1", "0.32rc1"), ("0.32-rc.1", "0.32rc1"),
        ("1.0.0-beta.2", "v1.0.0-beta.2"), ("1.0b2", "v1.0.0-beta.2"), ("1.0.0", None), ("1.0.0-beta", None),
        ("2.0a3", "2.0a3"), ("2.0", None), ("2", None), ("3.1.dev4", "3.1.dev4"), ("1", None), ("pkg@1", "pkg@1"),
        ("4.0", "release-4.0"), ("RELEASE-4.0", "release-4.0"), ("pkg@4.0", "pkg-v4.0"), ("pkg-4.0.0", "pkg-v4.0"),
        ("other@4.0", None), ("5.1", "lib/v5.1"), ("lib@5.1", "lib/v5.1"), ("8.1", "curl-8_1_0"), ("02", None),
    ]  # fmt: skip
    found = ((name, time_of(str(repo.root), name)) for name, _ in wanted)
    assert [(name, one and one[0]) for name, one in found] == wanted


def test_only_where_no_tag_is_just_the_name_are_others_looked_at(repo: Repo) -> None:
    tag_all(repo, ["v1.2", "1.2.0", "pkg-1.2", "1.2"])
    assert time_of(str(repo.root), "1.2") == ("1.2", MADE[3])
    assert time_of(str(repo.root), "release-1.2") == ("v1.2", MADE[0])
    assert time_of(str(repo.root), "pkg@1.2.0") == ("pkg-1.2", MADE[2])


def test_a_commit_is_found_by_its_hash(tagged: Repo) -> None:
    commit = tagged.git("rev-parse", "HEAD~1")
    assert time_of(str(tagged.root), commit[:9]) == (commit[:9], MADE[2])
    assert time_of(str(tagged.root), "0123456789") is None


def test_without_a_repository_there_are_no_times(tmp_path) -> None:
    assert time_of(str(tmp_path / "nowhere"), "1.0") is None
