"""Kinds, tags and paths as users type them; names of commands that are not quite right."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.cli.arguments import split_commas
from memcli.cli.main import load_command, main
from memcli.cli.verb import names
from memcli.extras.mcp.offer import declared
from memcli.settings import BESIDE
from tests.conftest import Run, memory, open_at, rewrite


@pytest.fixture
def few(run: Run) -> Run:
    for path, kind, tags in (("a/one", "decision", "sql,auth"), ("a/two", "fact", "sql"), ("b/three", "guide", "auth")):
        assert run("remember", f"Text of {path}.", "--path", path, "--kind", kind, "--tag", tags).code == 0
    return run


def paths(run: Run, *arguments: str) -> list[str]:
    answer = run(*arguments, "--json").json
    found = answer["sections"] if isinstance(answer, dict) else answer
    return sorted(one["path"] for one in found)


@pytest.mark.parametrize("command", [("list",), ("browse",), ("recall",)])
def test_kinds_and_tags_may_be_separated_by_commas(few: Run, command: tuple[str, ...]) -> None:
    if command != ("recall",):
        assert paths(few, *command, "--tag", "sql,auth") == ["a/one"]
        assert paths(few, *command, "--tag", "SQL") == ["a/one", "a/two"]
    assert paths(few, *command, "--kind", "decision,fact") == ["a/one", "a/two"]
    assert paths(few, *command, "--kind", "decision", "--kind", " guide ") == ["a/one", "b/three"]


def test_tags_given_with_commas_are_several_for_several_memories(few: Run) -> None:
    assert few("get", "a/one", "--json").json["tags"] == ["sql", "auth"]
    assert few("edit", "a/one", "--tag", "x,y", "--untag", "sql,auth").code == 0
    assert few("get", "a/one", "--json").json["tags"] == ["x", "y"]
    assert split_commas(["a,b", "c,", "", ","]) == ["a", "b", "c", "", ","]
    assert few("remember", "x", "--tag", "").code == 2
    assert few("edit", "a/two", "--tag", "new", "--tag", "more").code == 0
    assert few("get", "a/two", "--json").json["tags"] == ["sql", "new", "more"]
    assert few("edit", "a/one", "a/two", "--tag", "both").code == 0
    assert paths(few, "list", "--tag", "both") == ["a/one", "a/two"]
    for wrong in (("--text", "One."), ("--tag", "x", "--set", "kind=fact"), ("--tag", "x", "--object"), ()):
        assert few("edit", "a/one", "a/two", *wrong).code == 2


@pytest.mark.parametrize("option", ["--kind", "--tag"])
@pytest.mark.parametrize("command", ["list", "export", "recall"])
def test_an_empty_filter_does_not_choose_everything(few: Run, command: str, option: str) -> None:
    done = few(command, option, "", *(["x"] if command == "recall" else []))
    assert (done.code, f"{option} is empty" in done.err) == (2, True)


def test_paths_are_found_however_they_are_composed(run: Run) -> None:
    assert run("remember", "Text.", "--path", "caf\u00e9/x").code == 0
    for command in (("list",), ("list", "--tree"), ("recall", "text", "--under"), ("browse",)):
        assert "x" in run(*command, "cafe\u0301").out
    assert run("get", "cafe\u0301/x").code == 0
    assert run("edit", "cafe\u0301/x", "--text", "New.").code == 0


def test_a_kind_that_is_nearly_a_known_one_is_refused_and_named(run: Run) -> None:
    done = run("remember", "x", "--kind", "desicion", "--path", "a")
    hint = "did you mean 'decision'? --kind-new stores it as it is"
    assert (done.code, done.err) == (2, f"memcli: unknown kind 'desicion' ({hint})\n")
    assert run("remember", "x", "--kind", "desicion", "--kind-new", "--path", "a").code == 0
    assert run("get", "a", "--field", "kind").out == "desicion\n"
    for given, stored in (
        ("DECISION", "decision"),
        ("warning", "negative"),
        ("note", "note"),
        ("customer", "customer"),
    ):
        assert run("remember", f"About {given}.", "--kind", given, "--path", given).err == ""
        assert run("get", given, "--field", "kind").out == f"{stored}\n"
    for given, path in (("Warning", "warning"), ("customer", "customer")):
        assert [one["path"] for one in run("list", "-k", given, "--json").json] == [path]
    for arguments in (("edit", "a", "--set", "kind=decisoin"), ("list", "-k", "decisiom"), ("recall", "-k", "decison")):
        assert "did you mean 'decision'?" in run(*arguments).err
    assert run("remember", "--batch", "-", stdin='{"raw": "y", "kind": "gide"}').err.endswith("'guide'?\n")
    assert run("remember", "z", "--kind", "note").err == ""
    assert run("remember", "x", "--kind", "fact,guide").code == 2


def test_a_list_is_cut_and_says_so(few: Run) -> None:
    done = few("list", "--limit", "1")
    assert ("a/one" in done.out, "a/two" in done.out) == (True, False)
    assert done.err == "memcli: 2 more: --offset 1\n"
    assert few("list", "-l", "3").err == ""
    assert few("list", "--offset", "2", "--limit", "1").err == ""
    assert len(few("list", "--limit", "2", "--json").json) == 2
    assert few("list", "--limit", "1", "-q").err == ""
    assert few("list", "--limit", "0").code == 2


def test_names_from_other_tools_are_understood(few: Run) -> None:
    assert few("show", "a/one").out == few("get", "a/one").out
    assert few("add", "Added text.", "--path", "c/new").out.startswith("created ")
    assert few("rm", "c/new").out.startswith("forgotten ")
    acts = {act["command"] for act in few("store", "audit", "--json").json}
    assert {"remember", "forget"} == acts, "the audit log has the names of the commands"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("delete", "forget"), ("ls", "list"), ("Recal", "recall"), ("undo", "restore"), ("save", "remember"), ("sho", "show")],
)  # fmt: skip
def test_other_names_are_answered_with_what_they_are_called(
    capsys: pytest.CaptureFixture[str], typed: str, meant: str
) -> None:
    assert main([typed]) == 2
    assert f"no command {typed!r} (did you mean " in (told := capsys.readouterr().err)
    assert meant in told


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
    assert open_at(tmp_path).spaces_to_read == ["main", *BESIDE]
    for verb in ("recall", "list"):
        told = words(run("help", verb).out)
        assert all(name in told.partition("readers also ask ")[2].partition("]")[0] for name in BESIDE)


@pytest.mark.parametrize("arguments", [(), ("--budget", "100"), ("--json",)])
def test_an_empty_answer_counts_the_memories_of_the_store_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "global"))
    for number in range(3):
        run("remember", f"I like tea number {number}.", "--scope", "global")
    run("init")
    assert "0 memories" in run("recall", "zebra crossings", *arguments).out
    run("remember", "The port is 8080.")
    assert "1 memory" in run("recall", "zebra crossings", *arguments).out


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
