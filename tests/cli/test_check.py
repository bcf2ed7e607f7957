"""`memcli check`: four checks in one, each also by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import git
from tests.conftest import Run


@pytest.fixture
def sound(run: Run, tmp_path: Path) -> Path:
    """A store in a repository, without a fault."""
    git(tmp_path, "init", "-q")
    run("init")
    run("remember", "We chose PostgreSQL because of JSONB.", "--path", "db/choice", "--kind", "decision")
    return tmp_path


def states(run: Run) -> dict[str, str]:
    return {name: found["state"] for name, found in run("check", "--json").json.items()}


def test_a_sound_store_passes_and_what_it_lacks_is_skipped(run: Run, sound: Path) -> None:
    done = run("check")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()] == [
        ["passed", "code"], ["skipped", "recall"], ["passed", "secrets"], ["passed", "store"],
    ]  # fmt: skip
    assert states(run) == {"code": "passed", "recall": "skipped", "secrets": "passed", "store": "passed"}


def test_a_check_that_fails_says_what_it_says_alone(run: Run, sound: Path) -> None:
    file = sound / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace("because of JSONB", "since AKIA" + "Q3EGTX7ZP5RNB2WM"))
    alone = run("check", "store")
    assert alone.code == 6
    done = run("check")
    assert (done.code, states(run)["store"], states(run)["secrets"]) == (6, "failed", "failed")
    assert all(f"  {line}" in done.out.splitlines() for line in alone.out.splitlines())
    assert "Q3EGTX7ZP5RNB2WM" not in done.out


def test_recall_tests_that_cannot_be_read_fail(run: Run, sound: Path) -> None:
    tests = sound / ".memory" / "tests"
    tests.mkdir()
    (tests / "db.toml").write_text('[[case]]\ntopic = "postgresql"\nmust_include = ["db/choice"]\n')
    assert states(run)["recall"] == "passed"
    (tests / "db.toml").write_text('[[case]]\ntopik = "which database?"\n')
    done = run("check")
    assert (done.code, states(run)["recall"]) == (6, "failed")
    assert "topik" in done.out


def test_an_unknown_check_is_an_error(run: Run, sound: Path) -> None:
    done = run("check", "everything")
    assert (done.code, "everything" in done.err, "`memcli check --help`" in done.err) == (2, True, True)
