"""What a person sees: lists, answers and colours at the widths of real terminals, and the pager."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memcli.render.clean import columns
from tests.cli.conftest import on_a_terminal
from tests.conftest import Run

PROSE = "We chose PostgreSQL over MySQL: we need JSONB and row-level security, and the team has run it since 2019. " * 8
SHAPES = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    """A store with a long decision, an enforced warning in wide characters, and a fact read from a file."""
    path = "decisions/database/postgresql-and-row-level-security"
    run("remember", PROSE, "--freeze-clock", "2026-01-05T10:00:00Z", "--kind", "decision", "--path", path)
    push = "決して main に強制プッシュしない。" * 6
    run("remember", push, "--kind", "negative", "--trigger", "push -f", "--enforce", "--path", "never/push")
    (tmp_path / "NOTES.md").write_text("# Deploy\n\nThe deploy job runs at noon.\n")
    run("ingest", "NOTES.md")
    return tmp_path


def shown(folder: Path, width: int, *arguments: str, lines: int = 200, typed: str = "", **environ: str) -> str:
    """What a command prints on a terminal of so many columns and lines, where `typed` is typed."""
    own = {"TERM": "xterm", **environ}
    code, text = on_a_terminal(folder, *arguments, size=(lines, width), typed=typed, environ=own)
    assert code == 0
    return text.replace("\r\n", "\n")


def widest(text: str) -> int:
    return max(columns(SHAPES.sub("", line)) for line in text.splitlines())


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_nothing_is_wider_than_the_terminal(width: int, store: Path) -> None:
    for arguments in (
        ("list",),
        ("list", "-s", "repo"),
        ("recall", "which database?"),
        ("get", "never/push"),
    ):
        text = shown(store, width, *arguments)
        assert text
        assert arguments[0] == "get" or widest(text) <= width, text
    for arguments in (("status",), ("store", "audit"), ("agent", "list"), ("inbox",)):
        text = SHAPES.sub("", shown(store, width, *arguments))
        # A path that is longer than the line stays whole.
        assert [line for line in text.splitlines() if len(line) > width and len(line.split()) > 1] == [], text


def test_a_list_has_the_newest_first_one_line_each_and_says_what_else_there_is(store: Path) -> None:
    head, *rows = SHAPES.sub("", shown(store, 80, "list")).splitlines()
    assert head == "main · 2 of 2, newest first"
    assert [row.split()[1] for row in rows[:2]] == ["negative", "decision"]
    assert rows[0].split()[2] == "!"
    assert rows[2:] == ["1 in repo: -s repo"]


def test_a_pipe_gets_all_of_it(store: Path, run: Run) -> None:
    listed = run("list")
    (_, decision) = (line.split("\t") for line in listed.out.splitlines())
    assert decision[0].startswith("mem_")
    assert decision[1] == "decision"
    assert decision[3] == "decisions/database/postgresql-and-row-level-security"
    assert decision[5].endswith("since 2019.")
    assert "1 in repo: -s repo" in listed.err


def test_the_id_of_a_list_names_the_memory_for_every_command(store: Path, run: Run) -> None:
    short = SHAPES.sub("", shown(store, 80, "list")).splitlines()[2].split()[0]
    assert len(short) == 4
    assert run("get", short, "--field", "kind").out == "decision\n"
    assert run("pin", short).code == 0
    assert run("forget", short).code == 0
    assert run("get", "zzzz").code == 3


def test_an_answer_has_five_lines_and_says_how_to_read_the_rest(store: Path) -> None:
    text = SHAPES.sub("", shown(store, 80, "recall", "which database?"))
    found = re.search(r"… (\d+) more lines: memcli get (\w+)", text)
    assert found
    assert len(text.partition("\n")[2].split("\n   …")[0].splitlines()) < 10
    assert "more lines" not in shown(store, 80, "recall", "which database?", "-v")


def test_the_lines_that_are_shown_are_those_of_the_question(store: Path, run: Run) -> None:
    lines = [f"Paragraph {n} is about wool and yeast." for n in range(20)]
    lines[14] = "The quokka sleeps at noon."
    run("remember", "\n".join(["Animals", *lines]), "--path", "animals", "--kind", "fact")
    text = SHAPES.sub("", shown(store, 80, "recall", "when does the quokka sleep?", "--limit", "1"))
    assert "\n  Animals\n" in text
    assert "\n  The quokka sleeps at noon.\n" in text


def test_a_removed_line_is_shown_with_the_one_in_its_place(store: Path, run: Run) -> None:
    diff = "Drop old versions\n\na.rst\n@@ Version 8\n one\n two\n three\n-Drop Python 3.7.\n+Drop Python 3.7 to 3.9.\n four\n five"
    given = {"raw": diff, "kind": "diff", "path": "code/a.rst/1", "metadata": {"source": "a.rst"}}
    run("remember", "--object", json.dumps(given))
    text = SHAPES.sub("", shown(store, 80, "recall", "which Python was dropped?", "--limit", "1"))
    shape = ["  Drop old versions", "  @@ Version 8", "  -Drop Python 3.7.", "  +Drop Python 3.7 to 3.9."]
    assert text.splitlines()[1:5] == shape


def test_a_diff_without_a_change_is_shown_too(store: Path, run: Run) -> None:
    given = {"raw": "\n".join(f" quokka {n}" for n in range(20)), "kind": "diff", "path": "code/b.rst/1"}
    run("remember", "--object", json.dumps(given))
    assert "quokka 0" in shown(store, 80, "recall", "quokka", "--limit", "1")


def test_a_line_of_the_answer_is_not_cut_in_two(store: Path, run: Run) -> None:
    lines = [f"{n} is about wool and yeast, and about the settings of a machine that knits." for n in range(20)]
    lines[7] = "We rotate the certificate of the gateway every ninety days with certbot, and never by hand."
    run("remember", "\n".join(lines), "--path", "rules/all", "--kind", "fact")
    text = SHAPES.sub("", shown(store, 60, "recall", "how often do we rotate the certificate?", "--limit", "1"))
    assert " ".join(text.split()).count(lines[7]) == 1
    assert "\n  …\n" in text


def test_colours_mean_something_and_can_be_refused_and_forced(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[33mnegative" in shown(store, 80, "list")
    assert "\x1b" not in shown(store, 80, "list", NO_COLOR="1")
    assert "\x1b" not in shown(store, 80, "list", "--color", "never")
    assert "\x1b" not in run("recall", "which database?", "--format", "text").out
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert "\x1b[1m" in run("recall", "which database?", "--format", "text").out
    assert "\x1b" not in run("recall", "which database?", "--format", "text", "--color", "never").out
    assert "\x1b" not in run("recall", "which database?").out


def test_a_memory_cannot_colour_or_move_anything(run: Run, tmp_path: Path) -> None:
    text = "Plain \U000f0003red\U000f0004 \x1b[31mred\x1b[0m and \x1b[2J gone."
    run("remember", text, "--kind", "fact", "--path", "a")
    for command in (("list",), ("list", "--tree"), ("recall", "plain"), ("get", "a")):
        text = shown(tmp_path, 80, *command)
        assert "\x1b[33m" not in text, command
        assert "\x1b[31m" not in text, command
        assert SHAPES.sub("", text).count("\x1b") == 0, command
    assert "\x1b" not in run("list").out


def test_what_is_longer_than_the_screen_goes_through_the_pager(store: Path) -> None:
    seen = store / "seen"
    pager = f"sh -c 'cat > {seen}'"
    assert shown(store, 80, "get", "never/push", lines=2, MEMCLI_PAGER=pager) == ""
    assert "never/push" in seen.read_text()
    assert "never/push" in shown(store, 80, "get", "never/push", "--no-pager", lines=2, MEMCLI_PAGER=pager)
    assert "never/push" in shown(store, 80, "get", "never/push", lines=200, MEMCLI_PAGER=pager)
    assert "never/push" in shown(store, 80, "get", "never/push", lines=2, MEMCLI_PAGER="no-such-pager")


def test_a_message_is_wrapped_to_the_width(store: Path) -> None:
    (store / ".memory" / "config.toml").write_text("no_such_setting = 1\n" + "another_setting_that_nobody_knows = 1\n")
    assert widest(shown(store, 60, "list")) <= 60


def test_init_offers_what_it_can_set_up_and_names_the_next_step(repository: Path) -> None:
    (repository / "NOTES.md").write_text("# Deploy\n\nThe deploy job runs at noon.\n")
    programs = repository.parent / "programs"
    programs.mkdir()
    (programs / "codex").write_text("#!/bin/sh\n")
    (programs / "codex").chmod(0o755)
    path = f"{programs}:/usr/bin:/bin"
    asked = shown(repository, 80, "init", typed="n\n\ny\n", PATH=path)
    assert asked.count("[Y/n]") == 3
    assert "Connect Codex CLI? [Y/n]" in asked
    assert asked.index("\n1 created, 0 updated") < asked.index(".codex/hooks.json")
    assert "memcli: next: `memcli remember TEXT`" in asked
    assert (repository / ".codex" / "hooks.json").exists()
    assert not (repository / ".git" / "hooks" / "post-commit").exists()
    again = shown(repository, 80, "init", "--git", PATH=path)
    assert ("[Y/n]" in again, "memcli: next: `memcli ingest --git HEAD" in again) == (False, True)
    assert "hook install" in shown(repository, 80, "ingest", "NOTES.md", "-s", "notes")
