"""What is named to be changed in several places: what is printed of it, and how the commands end."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli import Memory
from memcli.errors import NotFoundError
from tests.cli.conftest import wrong
from tests.conftest import Run

HERE, THERE = "tools/uv", "style/tabs"


def test_what_is_changed_elsewhere_or_not_found_is_said(run: Run) -> None:
    run("remember", "We use uv, not pip.", "--path", HERE)
    run("remember", "Ann prefers tabs.", "--path", THERE, "--scope", "global")
    run("remember", "Ann prefers a dark theme.", "--path", "style/theme", "--scope", "global")
    for line in (
        ["edit", THERE, "--text", "Ann prefers spaces."], ["pin", THERE], ["edit", THERE, "--tag", "make"],
        ["link", THERE, "style/theme"], ["link", "style/theme", THERE, "--remove"], ["forget", THERE],
        ["forget", THERE, "--purge", "--yes"], ["restore", THERE], ["edit", THERE, "--set", "active=true"],
    ):  # fmt: skip
        done = run(*line)
        assert (done.code, "user-wide store" in done.err) == (0, "--purge" not in line or "user-wide" in done.err), line
    assert wrong(run, [(f"link {HERE} {THERE}", 2, "link memories of the same store")]) == ""
    for words in ("get", "pin", "pin --remove", "edit --tag x", "feedback --helpful", "forget", "forget --recursive"):
        done = run(*words.split(), "no/where", HERE, "nor/here", THERE)
        assert (done.code, HERE in done.out, THERE in done.out) == (3, True, True), words
        assert done.err.splitlines()[-1].startswith(
            "memcli: no memory 'no/where' in space 'main'; no memory 'nor/here' in"
        )
        assert wrong(run, [(f"{words} no/where nor/here", 3, "nor/here")]) == ""
    assert run("forget", HERE, "no/where", THERE, "--purge", "--yes").out.count("purged mem_") == 2
    assert "main (user-wide)" in run("restore", "--list").out
    assert {one.get("store") for one in run("restore", "--list", "--json").json} == {None, "global"}


def test_a_program_gets_the_error_with_what_was_found(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.init()
        memory.remember("We use uv, not pip.", path=HERE)
        with pytest.raises(NotFoundError, match="no memory 'no/where'") as raised:
            memory.get("no/where", HERE)
    assert [one["path"] for one in raised.value.value] == [HERE]  # type: ignore[attr-defined]
