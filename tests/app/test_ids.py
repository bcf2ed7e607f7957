"""Ids are made of what is stored, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from memcli.app.remember import prepare, remember
from memcli.model.names import memory_id
from tests.conftest import open_at


def test_an_id_is_known_from_space_and_path() -> None:
    """These ids stand in stores and READMEs: they may never change."""
    assert memory_id("main", "decisions/postgresql-mysql-row-level-security") == "mem_kf7afte3devl"
    assert len({memory_id(*key) for key in (("main", "a"), ("main", "b"), ("other", "a"), ("main", "a", 2))}) == 4


def test_two_machines_give_the_same_ids_to_the_same_text(tmp_path: Path) -> None:
    texts = ["We chose PostgreSQL.", "Never force-push to main.", "To deploy: make release."]
    made = []
    for name, user, now in (("one", "ann", "2026-01-01T00:00:00Z"), ("two", "bob", "2027-06-05T04:03:02Z")):
        workspace = open_at(tmp_path / name, MEMCLI_USER=user, MEMCLI_FREEZE_CLOCK=now)
        made.append([remember(workspace, [prepare(workspace, {"raw": text})]).outcomes[0].id for text in texts])
    assert made[0] == made[1]
    assert len(set(made[0])) == 3
