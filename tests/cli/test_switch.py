"""`memcli off` and `memcli on`."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.store.switch import is_off
from tests.conftest import Run

NOTE = "memcli: memory is off: hooks, watch and agents do nothing until you run `memcli on`\n"


def test_off_and_on(run: Run, tmp_path: Path) -> None:
    run("init")
    assert run("off").out == "memory is off in this clone\n"
    assert is_off(str(tmp_path / ".memory"), {})
    again = run("off")
    assert (again.code, again.out, again.err) == (0, "memory is already off in this clone\n", "")
    assert run("on", "--json").json == {"changed": True, "state": "on"}
    assert run("on").out == "memory is already on in this clone\n"
    assert not is_off(str(tmp_path / ".memory"), {})


def test_explicit_commands_say_so_and_still_work(run: Run) -> None:
    run("init")
    run("off")
    stored = run("remember", "We chose PostgreSQL.", "--path", "db/engine")
    assert (stored.code, stored.err) == (0, NOTE)
    found = run("recall", "PostgreSQL")
    assert "db/engine" in found.out
    assert found.err == NOTE
    assert run("recall", "PostgreSQL", "-q").err == ""
    run("on")
    assert run("recall", "PostgreSQL").err == ""


@pytest.mark.parametrize(("value", "off"), [("1", True), ("true", True), ("0", False), ("", False), ("no", False)])
def test_the_variable(run: Run, monkeypatch: pytest.MonkeyPatch, value: str, off: bool) -> None:
    run("init")
    monkeypatch.setenv("MEMCLI_OFF", value)
    assert (NOTE in run("list").err) == off
    assert ("stays off" in run("on").err) == off


def test_without_a_store_there_is_nothing_to_switch(run: Run) -> None:
    assert run("off").code == 3
