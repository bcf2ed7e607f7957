"""Commands that read files elsewhere: on a server they look at what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.extras.completion.values import values
from tests.conftest import Run
from tests.extras.postgres.conftest import sql
from tests.safety.secrets_corpus import secret


@pytest.fixture
def served(used_by_commands: None, run: Run) -> Run:
    run("init")
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--tag", "sql", "--kind", "decision")
    run("remember", "Deploy on Tuesdays.", "--path", "deploy/day", "--kind", "guide")
    return run


def test_values_are_completed_from_the_server(served: Run, tmp_path: Path) -> None:
    def ask(kind: str, prefix: str = "") -> list[str]:
        return values(kind, prefix, "", str(tmp_path))

    for kind, prefix, expected in (
        ("spaces", "", ["main"]), ("paths", "d", ["db/choice", "deploy/day"]), ("refs", "de", ["deploy/day"]),
        ("tags", "s", ["sql"]), ("kinds", "d", ["decision"]),
    ):  # fmt: skip
        assert (kind, ask(kind, prefix)) == (kind, expected)
    (found,) = [name for name in ask("ids", "mem_") if name in served("get", "db/choice").out]
    assert ask("refs", found[:8]) == [found]
    served("space", "policy", "side", "--set", "ttl_days=3")
    assert ask("spaces", "s") == ["side"]


def test_a_scan_looks_at_the_spaces_of_the_server(served: Run, postgres: str, schema: str) -> None:
    assert served("check", "secrets").out == "no secrets in 0 files and 1 space on the server\n"
    token = secret("github_token", 900)[1]
    changed = f"convert_to(replace(convert_from(body, 'UTF8'), 'Deploy on', 'Deploy {token} on'), 'UTF8')"
    sql(postgres, f"UPDATE {schema}.memory SET body = {changed}")
    found = served("check", "secrets")
    assert (found.code, "deploy/day" in found.out, token in found.out) == (6, True, False)
    assert served("check", "store").code == 6  # its hash is that of the text before


def test_fsck_and_stats_know_the_spaces_of_the_server(served: Run, postgres: str, schema: str) -> None:
    assert served("check", "store").code == 0
    assert "space 0" not in served("status", "--stats").out
    sql(postgres, f"DELETE FROM {schema}.entry")
    found = served("check", "store")
    assert (found.code, "index rebuild" in found.out, "backup" in found.err) == (6, True, True)
    served("store", "index", "rebuild")
    assert served("check", "store").code == 0
