"""What was changed behind memcli's back, by hand or by git, is in the next answer."""

from __future__ import annotations

import json

import pytest

from memcli.cli.main import main
from tests.git.conftest import Team


def recalled(team: Team, capfd: pytest.CaptureFixture[str], topic: str) -> list[str]:
    capfd.readouterr()
    assert main(["recall", topic, "--root", str(team.root), "--json", "--include-raw"]) == 0
    return [raw["raw"] for raw in json.loads(capfd.readouterr().out)["raw"]]


def test_an_edit_by_hand(team: Team, capfd: pytest.CaptureFixture[str]) -> None:
    assert recalled(team, capfd, "postgresql") == ["We chose PostgreSQL."]
    team.file().write_text(team.file().read_text().replace("PostgreSQL", "CockroachDB"))
    assert recalled(team, capfd, "cockroachdb") == ["We chose CockroachDB."]
    assert "We chose PostgreSQL." not in recalled(team, capfd, "postgresql")


def test_a_checkout_and_a_merge(team: Team, capfd: pytest.CaptureFixture[str]) -> None:
    team.branch("side")
    team.remember("db/choice", "We chose MariaDB.")
    assert recalled(team, capfd, "mariadb") == ["We chose MariaDB."]
    team.on("main")
    assert "We chose MariaDB." not in recalled(team, capfd, "mariadb")
    assert recalled(team, capfd, "postgresql") == ["We chose PostgreSQL."]
    team.git("merge", "-q", "side")
    assert recalled(team, capfd, "mariadb") == ["We chose MariaDB."]
