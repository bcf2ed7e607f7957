"""Kinds, tags and paths as users type them; names of commands that are not quite right."""

from __future__ import annotations

import pytest

from memcli.cli.arguments import parts
from memcli.cli.main import main
from tests.conftest import Run


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
    assert parts(["a,b", "c,", "", ","]) == ["a", "b", "c", "", ","]
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


def test_a_kind_that_is_nearly_a_known_one_is_named(run: Run) -> None:
    done = run("remember", "x", "--kind", "desicion", "--path", "a")
    assert (done.code, "memcli: unknown kind 'desicion'; did you mean 'decision'?\n" in done.err) == (0, True)
    assert run("get", "a", "--field", "kind").out == "desicion\n"
    for arguments in (("edit", "a", "--set", "kind=decisoin"), ("list", "-k", "Decision"), ("recall", "-k", "decison")):
        assert "did you mean 'decision'?" in run(*arguments).err
    assert run("remember", "--batch", "-", stdin='{"raw": "y", "kind": "gide"}').err.endswith("'guide'?\n")
    assert run("remember", "z", "--kind", "note").err == ""
    assert run("remember", "x", "--kind", "fact,guide").code == 2


def test_a_list_is_cut_and_says_so(few: Run) -> None:
    done = few("list", "--limit", "1")
    assert ("a/one" in done.out, "a/two" in done.out) == (True, False)
    assert done.err == "memcli: 2 more (use --offset 1)\n"
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


def test_below_a_path_is_nothing_whose_name_only_begins_like_it(run: Run) -> None:
    for path in ("a/one", "a-b/two", "a"):
        run("remember", f"Text of {path}.", "--path", path, "--no-check")
    for command in (("recall", "text", "--under", "a"), ("recall", "--under", "a"), ("list", "a")):
        assert paths(run, *command) == ["a", "a/one"]
