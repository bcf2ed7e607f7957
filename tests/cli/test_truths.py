"""What help and answers say is so: names of tools, spaces that are searched, counts, dates."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.cli.main import load_command
from memcli.cli.verb import names
from memcli.extras.mcp.offer import declared
from memcli.settings import BESIDE
from tests.conftest import Run, memory, open_at, rewrite


def words(text: str) -> str:
    return " ".join(text.split())


def words_of(text: str) -> list[str]:
    return text.replace(" and ", ", ").split(", ")


def test_help_names_the_tools_of_each_set_and_the_spaces_that_readers_ask(run: Run, tmp_path: Path) -> None:
    told = words(run("mcp", "--help").out)
    default, _, others = told.partition("The tools are ")[2].partition("; `--tools all` adds ")
    first = [tool.name for _, tool in declared("default")]
    assert words_of(default) == first
    assert words_of(others.partition(". The project")[0]) == [t.name for _, t in declared("all") if t.name not in first]
    store = open_at(tmp_path).store
    for name in BESIDE:
        rewrite(store, lambda space: space.put((memory("a", raw="The llama eats hay."),), "2026-01-01T00:00:00Z"), name)
    assert open_at(tmp_path).asked_spaces == ["main", *BESIDE]
    for verb in ("recall", "list"):
        told = words(run(verb, "--help").out)
        assert all(name in told.partition("readers also ask ")[2].partition("]")[0] for name in BESIDE)


@pytest.mark.parametrize("arguments", [(), ("--budget", "100"), ("--json",)])
def test_an_empty_answer_counts_the_memories_of_the_store_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "global"))
    for number in range(3):
        run("remember", f"I like tea number {number}.", "--scope", "global")
    run("init")
    assert "empty_space; 0 memories" in run("recall", "zebra crossings", *arguments).out
    run("remember", "The port is 8080.")
    assert "; 1 memory" in run("recall", "zebra crossings", *arguments).out


def test_an_empty_answer_names_the_spaces_that_were_searched(run: Run, tmp_path: Path) -> None:
    run("remember", "The port is 8080.")
    (tmp_path / "notes.md").write_text("# Tea\n\nThe tea is green.\n")
    assert "1 memory in space main)" in run("recall", "zebra crossings").out
    run("ingest", "notes.md")
    assert "2 memories in spaces main and repo)" in run("recall", "zebra crossings").out
    assert "1 memory in space main)" in run("recall", "zebra crossings", "-s", "main").out


def test_no_line_of_a_description_is_indented_further() -> None:
    for verb in names():
        command = load_command(verb)
        for one in (command, *getattr(command, "commands", {}).values()):
            lines = (one.help or "").splitlines()
            assert [line for line in lines if line.startswith(" ")] == [], (verb, one.name)
