"""A memory of scope `session` is recalled in its session alone, and ends with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

TEXT = "The staging port is 8123 while we debug."
QUESTION = "which port does staging use?"


@pytest.fixture
def session(run: Run) -> str:
    """A session, in which a memory was stored."""
    run("init")
    run("remember", "The production port is 443.", "--path", "ports/production", "--no-check")
    name = run("session", "start").out.strip()
    assert run("remember", TEXT, "--path", "ports/staging", "--scope", "session", "--no-check").code == 0
    return name


def recalls(run: Run, *options: str) -> bool:
    return "8123" in run("recall", QUESTION, *options).out


def test_it_is_recalled_until_its_session_ends_and_collected_then(run: Run, session: str, tmp_path: Path) -> None:
    assert recalls(run)
    assert recalls(run, "--scope", "session")
    assert "8123" in run("session", "context", QUESTION).out
    assert "8123" not in (tmp_path / ".memory" / "spaces" / "main.json").read_text()
    assert run("gc").out.count("session has ended") == 0
    run("session", "end", session)
    assert not recalls(run)
    assert not recalls(run, "--include-inactive")
    assert "8123" in run("get", "ports/staging").out
    assert "would purge" in run("gc", "--dry-run").out
    assert [one["why"] for one in run("gc", "--json").json["purged"]] == ["session"]
    assert run("get", "ports/staging").code == 3
    assert run("restore", "ports/staging", "-s", "journal").code == 0
    assert "443" in run("recall", "which port does production use?").out


def test_another_session_does_not_see_it(run: Run, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-02-01T09:30:00Z")
    other = run("session", "start").out.strip()
    assert not recalls(run)
    assert "8123" not in run("session", "context", QUESTION).out
    assert "8123" in run("session", "context", QUESTION, "--session", session).out
    for name, sees in ((session, True), (other, False), ("ses_none", False)):
        monkeypatch.setenv("MEMCLI_SESSION", name)
        assert recalls(run) == sees


def test_without_a_session_nothing_is_stored(run: Run) -> None:
    run("init")
    done = run("remember", TEXT, "--scope", "session")
    assert (done.code, "no session is active" in done.err) == (3, True)
    run("remember", TEXT, "--path", "a/b")
    assert run("edit", "a/b", "--set", "scope=session").code == 2
    ended = run("session", "start").out.strip()
    run("session", "end", ended)
    done = run("remember", "x y z.", "--scope", "session", "--session", ended)
    assert (done.code, "has ended" in done.err) == (4, True)
    assert run("list", "-s", "journal").out == ""


def test_the_end_of_a_session_that_another_clone_has_is_not_known(run: Run, session: str) -> None:
    run("remember", "Shared and short.", "--scope", "session", "-s", "main", "--path", "short/lived")
    run("session", "delete", session, "--yes", "--keep-memories")
    assert "short/lived" not in run("gc", "-s", "main").out
    assert "ports/staging" in run("gc").out
    assert "short/lived" not in run("recall", "shared and short").out
    assert "short/lived" in run("list").out
