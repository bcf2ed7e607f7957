"""What was purged for good is in no page of the server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Run
from tests.extras.postgres.conftest import sql

pytestmark = pytest.mark.usefixtures("used_by_commands")
WORD = "zqxvwkj"
TEXT = f"The {WORD} of staging is kept in the vault, as Anna said."


def pages_with(postgres: str, word: str) -> list[str]:
    """The files of tables and indexes that have the word."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        ((folder,),) = connection.execute("SHOW data_directory").fetchall()
        if not os.path.isdir(folder):
            pytest.skip("the server is on another machine")
        found = [
            file for file in Path(folder, "base").rglob("*") if file.is_file() and word.encode() in file.read_bytes()
        ]
        names = "SELECT relname FROM pg_class WHERE pg_relation_filenode(oid) = %s"
        rows = [connection.execute(names, [file.name.partition(".")[0].partition("_")[0]]).fetchone() for file in found]
    return sorted(str(row[0]) if row else str(file) for row, file in zip(rows, found, strict=True))


def remembered(run: Run) -> str:
    """The id of a memory that was written twice, with another one that has some of its words."""
    run("remember", "The vault of staging is locked on Fridays.", "--path", "ops/vault")
    told = json.loads(run("remember", TEXT, "--path", f"ops/{WORD}", "--tag", WORD, "--json").out)
    run("edit", f"ops/{WORD}", "--text", f"{TEXT} So did Tom.")
    return str(told["id"] if "id" in told else told["memories"][0]["id"])


def test_no_page_has_what_was_purged_for_good(run: Run, postgres: str, schema: str) -> None:
    name = remembered(run)
    run("recall", f"what is the {WORD}", "--no-usage")
    sql(postgres, "ANALYZE", schema=schema)
    before = pages_with(postgres, WORD)
    assert {"memory", "entry", "field", "term"} <= set(before)
    assert "pg_statistic" not in before
    done = run("forget", name, "--purge", "--now", "--yes")
    assert (done.code, "WAL, logs, replicas and backups" in done.err) == (0, True)
    assert pages_with(postgres, WORD) == []
    name = remembered(run)
    run("forget", name, "--purge", "--yes")
    assert "trash" in pages_with(postgres, WORD)
    assert run("forget", name, "--purge", "--now", "--yes").code == 0
    assert pages_with(postgres, WORD) == []
    assert "ops/vault" in run("recall", "when is the vault locked").out
    assert run("check", "store").code == 0
    assert run("store", "audit", "--verify").code == 0


def test_a_transaction_that_still_sees_the_text_is_waited_for_and_named(
    run: Run, postgres: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = remembered(run)
    monkeypatch.setattr("memcli.wiring.workspace.WAIT_SECONDS", 0.5)
    with psycopg.connect(postgres, options=f"-csearch_path={schema}") as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")  # it holds no lock, and would still see the rows
        done = run("forget", name, "--purge", "--now", "--yes")
        assert (done.code, "still reads table memory" in done.err, "VACUUM FULL" in done.err) == (8, True, True)
