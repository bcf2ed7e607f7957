"""`memcli off` and `memcli on`."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.settings import CONFIG_FIELDS, resolve
from memcli.store.trust import is_off
from tests.conftest import Run

NOTE = "memcli: memory is off: hooks, watch and agents do nothing until you run `memcli on`\n"


def test_off_and_on_are_said_and_commands_still_work(run: Run, tmp_path: Path) -> None:
    run("init")
    assert run("off").out == "memory is off in this clone\n"
    assert is_off(str(tmp_path / ".memory"), {})
    again = run("off")
    assert (again.code, again.out, again.err) == (0, "memory is already off in this clone\n", "")
    assert run("on", "--json").json == {"changed": True, "state": "on"}
    assert run("on").out == "memory is already on in this clone\n"
    assert not is_off(str(tmp_path / ".memory"), {})
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


VARIABLES = {"model": "MEMCLI_SEMANTIC_MODEL"}


@pytest.mark.parametrize("name", CONFIG_FIELDS)
def test_an_option_wins_over_the_environment_and_that_over_the_configuration(name: str) -> None:
    variable = VARIABLES.get(name, f"MEMCLI_{name.upper()}")
    option, environ, config = {name: "option"}, {variable: "environ"}, {name: "config"}
    if name != "store":  # whose option names the user-wide store
        assert getattr(resolve(option, environ, config), name) == "option"
    assert getattr(resolve({}, environ, config), name) == "environ"
    assert getattr(resolve({}, {}, config), name) == "config"


def test_the_configuration_of_the_store_holds(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db")
    (tmp_path / ".memory" / "config.toml").write_text('backend = "basic"\nspace = "main"\n')

    def has_meaning() -> bool:
        bundle = run("recall", "postgresql", "--explain", "--json").json
        return "meaning" in bundle["sections"][0]["why"]

    assert not has_meaning()
    monkeypatch.setenv("MEMCLI_BACKEND", "fusion")
    assert has_meaning()


def test_a_named_root_wins_over_the_environment_and_that_over_the_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "environ", "option"):
        (tmp_path / name / ".git").mkdir(parents=True)
        assert run("init", "--root", str(tmp_path / name)).code == 0
        assert run("remember", "A text.", "--path", name, "--root", str(tmp_path / name)).code == 0
    monkeypatch.chdir(tmp_path / "here")
    assert "here" in run("list").out
    monkeypatch.setenv("MEMCLI_ROOT", str(tmp_path / "environ"))
    assert "environ" in run("list").out
    assert "option" in run("list", "--root", str(tmp_path / "option")).out


def test_a_store_is_made_at_the_root_of_the_work_tree(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    made = run("remember", "We chose PostgreSQL.", "--path", "db")
    assert (made.code, f"created a store at {tmp_path / '.memory'}" in made.err) == (0, True)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob(".memory")] == [".memory"]
    assert "db" in run("list").out
