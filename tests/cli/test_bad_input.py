"""Bad input: one line on standard error, the exit code of the table, and nothing changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run


@pytest.fixture
def unchanged(run: Run, tmp_path: Path) -> Iterator[None]:
    """A store with one memory, which the test must leave as it is."""
    assert run("remember", "We chose PostgreSQL.", "--path", "db/choice").code == 0
    file = tmp_path / ".memory" / "spaces" / "main.json"
    before = file.read_bytes()
    yield
    assert file.read_bytes() == before
    assert sorted(os.listdir(file.parent)) == ["main.json"]


BAD_PATHS = ["../x", "/etc/x", "con", "x" * 300, "a\x1b[31mb", "-rf"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "says"),
    [
        (["remember", ""], "", 2, "empty"),
        (["remember", "  \n "], "", 2, "empty"),
        (["remember"], "", 2, "empty"),
        (["remember"], b"\x00\x01\x02" * 100, 2, "binary"),
        (["remember"], b"caf\xe9", 2, "UTF-8"),
        (["remember"], b"x" * 50_000_000, 2, "50.0 MB"),
        (["remember", "--object", "{nope"], "", 2, "not valid JSON"),
        (["remember", "--object", "[1]"], "", 2, "JSON object"),
        (["remember", "--object", '{"raw": "x", "pinned": "yes"}'], "", 2, "pinned"),
        (["remember", "--object", '{"raw": 5}'], "", 2, "raw"),
        (["remember", "--object", '{"raw": "x", "links": [{"to": 1, "relation": "relates_to"}]}'], "", 2, "links[0].to"),
        (["remember", "x", "--importance", "7"], "", 2, "importance"),
        (["remember", "x", "--created-at", "soon"], "", 2, "created_at"),
        (["remember", "x", "--id", "a b"], "", 2, "not an id"),
        (["remember", "x", "--tag", "!!"], "", 2, "not a tag"),
        (["remember", "x", "--file", "missing.txt"], "", 2, "cannot be used with --file"),
        (["remember", "--file", "missing.txt"], "", 3, "missing.txt"),
        (["remember", "--file", "."], "", 2, "cannot read"),
        (["remember", "x", "--supersedes", "mem_none"], "", 3, "mem_none"),
        (["remember", "x", "--link", "nothing"], "", 2, "RELATION:ID"),
        (["remember", "x", "--set", "pinned"], "", 2, "name=value"),
        (["remember", "x", "--semantic", "psychic"], "", 2, "psychic"),
        *[(["remember", "x", "--path", path], "", 2, "not a memory path") for path in BAD_PATHS],
        *[(["remember", "x", "--space", name], "", 2, "not a space name") for name in [*BAD_PATHS, "Upper"]],
        (["recall"], "", 2, "topic is empty"),
        (["recall", ""], "", 2, "topic is empty"),
        (["recall", "  "], "", 2, "topic is empty"),
        (["recall", "caf\udce9"], "", 2, "UTF-8"),
        (["recall", "x", "--topics", "-"], "", 2, "cannot be used with --topics"),
        (["recall", "x", "--weights", "colour=1"], "", 2, "colour"),
        (["recall", "x", "--budget", "3"], "", 2, "too small"),
        (["recall", "x", "--recency-bias", "3"], "", 2, "--recency-bias"),
        (["recall", "x", "--space", ""], "", 2, "not a space name"),
        (["remember", "x", "--set", "valid_form=2020-01-01"], "", 2, "valid_form"),
        (["remember", "x", "--set", 'content={"a": NaN}'], "", 2, "--set content"),
        (["export", "--out", "nowhere/"], "", 8, "it is a folder"),
        (["recall", "x", "--format", "yaml"], "", 2, "yaml"),
        (["recall", "x", "--limit", "0"], "", 2, "limit"),
        (["list", "--limit", "9" * 20], "", 2, "--limit must be between 1 and 9007199254740991"),
        (["list", "--offset", "9" * 20], "", 2, "--offset must be"),
        (["list", "--tree", "--depth", "9" * 20], "", 2, "--depth must be"),
        (["session", "list", "--limit", "9" * 20], "", 2, "--limit must be"),
        (["recall", "x", "--since", "soon"], "", 2, "not a time"),
        (["recall", "x", "--freeze-clock", "soon"], "", 2, "not a time"),
        (["get", "mem_none"], "", 3, "mem_none"),
        (["get", "db/choice", "--field", "shoe_size"], "", 2, "shoe_size"),
        (["list", "nowhere"], "", 3, "nowhere"),
        (["pin", "nowhere", "nor/here"], "", 3, "nowhere"),
        (["edit", "db/choice", "--set", "pinned=maybe"], "", 2, "pinned"),
        (["edit", "db/choice", "--set", "shoe_size=44"], "", 2, "shoe_size"),
        (["edit", "db/choice", "--set", "id=mine"], "", 2, "id cannot be set"),
        (["edit", "db/choice", "--set", "raw="], "", 2, "needs raw or content"),
        (["edit", "db/choice", "--set", "path=../x"], "", 2, "not a memory path"),
        (["edit", "db/choice"], "", 2, "EDITOR"),
        (["forget", "nowhere"], "", 3, "nowhere"),
        (["forget", "db/choice", "--purge"], "", 5, "--yes"),
        (["edit", "db/choice", "--tag", ""], "", 2, "tag"),
        (["space", "delete", "main"], "", 5, "allow_delete"),
        (["space", "delete", "none"], "", 3, "none"),
        (["space", "show", "none"], "", 3, "none"),
        (["space", "create", "main", "--reset"], "", 5, "allow_delete"),
        (["space", "policy", "main", "--set", "ttl_days=soon"], "", 2, "ttl_days"),
        (["space", "policy", "main", "--set", "ttl_days=-1"], "", 2, "ttl_days"),
        (["space", "policy", "main", "--set", "colour=red"], "", 2, "colour"),
        (["gc", "--ttl-days", "-3"], "", 2, "ttl-days"),
        (["export", "none"], "", 3, "none"),
        (["import", "missing.json"], "", 3, "missing.json"),
        (["import", "-"], "{}", 6, "not an export"),
        (["import", "-"], "nope", 6, "invalid JSON"),
        (["import", "-", "--mode", "mix"], "{}", 2, "mix"),
        (["schema", "shoe"], "", 2, "shoe"),
        (["completions", "tcsh"], "", 2, "tcsh"),
        (["recal", "x"], "", 2, "recall"),
        (["recall", "x", "--lmit", "3"], "", 2, "--limit"),
    ],
)  # fmt: skip
def test_one_line_and_an_exit_code(
    run: Run, unchanged: None, arguments: list[str], stdin: str | bytes, code: int, says: str
) -> None:
    result = run(*arguments, stdin=stdin)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("memcli: ")
    assert result.err.count("\n") == 1
    assert says in result.err
    assert "\x1b" not in result.err


def test_errors_are_json_too(run: Run, unchanged: None) -> None:
    result = run("get", "mem_none", "--json")
    assert json.loads(result.out)["error"] == {
        "code": "not_found",
        "hint": "`memcli list` lists the memories",
        "message": "no memory 'mem_none' in space 'main'",
    }


def batch(bad: str = '{"raw": 7}') -> str:
    lines = [json.dumps({"raw": f"Memory number {n}.", "path": f"batch/{n}"}) for n in range(1000)]
    lines[500] = bad
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("bad", ['{"raw": 7}', "{nope", "[]", '{"raw": ""}', '{"raw": "x", "path": "../x"}'])
def test_one_bad_line_of_a_thousand_stores_nothing(run: Run, unchanged: None, bad: str) -> None:
    result = run("remember", "--batch", "-", stdin=batch(bad))
    assert result.code == 2
    assert "line 501: " in result.err
    assert "nothing was stored" in result.err
    assert result.err.count("\n") == 1


def test_keep_going_stores_the_rest(run: Run) -> None:
    result = run("remember", "--batch", "-", "--keep-going", "--json", stdin=batch())
    answer = json.loads(result.out)
    assert (result.code, answer["created"], answer["failed"][0]["line"]) == (2, 999, 501)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: data[:-30], "invalid JSON"),
        (lambda data: b"<<<<<<< ours\n" + data, "conflict markers"),
        (lambda data: b"", "invalid JSON"),
        (lambda data: data.replace(b'"raw": "', b'"raw": 1, "x": "'), "raw"),
        (lambda data: data.replace(b'"version": 2', b'"version": "x"'), "version"),
    ],
)
@pytest.mark.parametrize(
    "command", [["recall", "x"], ["remember", "x"], ["list"], ["pin", "db"], ["status", "--stats"]]
)
def test_a_damaged_space_file_is_named(run: Run, tmp_path: Path, damage, says: str, command: list[str]) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    result = run(*command)
    assert (result.code, result.out, file.read_bytes()) == (6, "", before)
    assert "spaces/main.json" in result.err
    assert says in result.err
    assert result.err.count("\n") == 1


def test_a_newer_file_is_read_and_not_written(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_bytes(file.read_bytes().replace(b'"version": 2', b'"version": 3'))
    before = file.read_bytes()
    assert "db/choice" in run("recall", "postgresql").out
    result = run("remember", "More.")
    assert (result.code, file.read_bytes()) == (6, before)
    assert "newer" in result.err


def test_no_store_at_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    for command in (["recall", "x"], ["remember", "x"], ["list"]):
        result = run(*command)
        assert result.code == 3
        assert "memcli init" in result.err
    assert not (tmp_path / ".memory").exists()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_memory_folder_that_is_none(run: Run, tmp_path: Path, kind: str) -> None:
    (tmp_path / "target").mkdir()
    if kind == "link":
        (tmp_path / ".memory").symlink_to(tmp_path / "target")
    else:
        (tmp_path / ".memory").write_text("")
    for command in (["remember", "x"], ["recall", "x"], ["init"]):
        assert run(*command).code == 8
    assert not list((tmp_path / "target").iterdir())


def test_an_unknown_kind_is_fine(run: Run) -> None:
    assert json.loads(run("remember", "x y z", "--kind", "haiku", "--json").out)["status"] == "created"
    assert run("list", "--kind", "haiku", "--json").out.count('"kind": "haiku"') == 1


def test_an_unknown_backend_warns_and_goes_on(run: Run) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    result = run("recall", "postgresql", "--backend", "oracle")
    assert result.code == 0
    assert "db/choice" in result.out
    assert "no backend 'oracle'" in result.err


def test_a_config_of_a_clone_can_name_no_program(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / ".memory" / "config.toml").write_text('editor = "rm -rf /"\n')
    result = run("list")
    assert (result.code, result.err.count("unknown key 'editor'")) == (0, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    for folder in (tmp_path / ".memory", tmp_path / ".memory" / "spaces"):
        folder.chmod(0o555)
    try:
        assert "db/choice" in run("recall", "postgresql").out
        assert run("remember", "More.").code == 8
    finally:
        for folder in (tmp_path / ".memory", tmp_path / ".memory" / "spaces"):
            folder.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ('team = "core"\n', 0, "unknown key 'team'"),
        ("space = 7\n", 0, "space must be text"),
        ("= = =", 2, "config.toml"),
        (f"a = {'9' * 5000}\n", 2, "config.toml"),
        (f"a = {'[' * 5000}{']' * 5000}\n", 2, "nested too deeply"),
    ],
)
def test_a_wrong_config_is_reported_and_never_a_bug(run: Run, tmp_path: Path, text: str, code: int, told: str) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    (tmp_path / ".memory" / "config.toml").write_text(text)
    result = run("get", "db/choice")
    assert (result.code, told in result.err, "PostgreSQL" in result.out) == (code, True, code == 0)
    doctor = run("doctor")
    assert doctor.code == 8
    assert told in doctor.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "x", "--tag"], ["remember", "x", "--kind"], ["remember", "x", "--id"], ["recall", "x", "--under"],
        ["recall", "x", "--tag"], ["recall", "x", "--kind"],
        ["space", "policy", "main", "--set"],
    ],
)  # fmt: skip
def test_an_argument_that_is_not_utf_8(run: Run, arguments: list[str]) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    value = "backend=\udcff" if arguments[-1] == "--set" else "\udcff"
    result = run(*arguments, value)
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_a_store_of_another_kind_is_not_replaced_by_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL.")
    monkeypatch.setenv("MEMCLI_STORE", "mysql://ann:secret-word@example.com/team")
    for arguments in (["list"], ["remember", "x"], ["init"], ["recall", "x"]):
        result = run(*arguments)
        assert (result.code, "MEMCLI_STORE" in result.err, result.err.count("\n")) == (2, True, 1)
        assert "secret-word" not in result.err


def test_fields_of_a_policy_are_checked_when_they_are_set(run: Run) -> None:
    run("remember", "We chose PostgreSQL.")
    for setting in ("backend=zzz", 'export_path="a\\u0000.json"', "export_path=a\0.json", "ttl_days=-1", "review=7"):
        result = run("space", "policy", "main", "--set", setting)
        assert (result.code, "policy." in result.err) == (2, True)
    assert run("space", "policy", "main", "--set", "backend=basic").code == 0


def test_a_path_of_many_segments_in_a_file(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace("db/choice", "/".join("a" * 5000)))
    for arguments in (
        ["list", "--tree"],
        ["list", "--tree", "--json"],
        ["list"],
        ["recall", "postgresql", "--backend", "patricia"],
    ):
        result = run(*arguments)
        assert (result.code, result.err) == (0, "")
    assert run("check", "store").code == 6


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../x", "a//b", ".hidden", "a b", "-x", "a\\b", "", "x" * 200, "a..b", "ä"]
)
def test_an_id_never_names_a_file_elsewhere(run: Run, tmp_path: Path, name: str) -> None:
    assert run("remember", "x", f"--id={name}").code == 2
    assert run("remember", "--object", json.dumps({"raw": "x", "id": name})).code == 2
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--id", "mine")
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace('"mine"', json.dumps(name)))
    for arguments in (
        ["list"],
        ["edit", "db/choice", "--set", "kind=fact"],
        ["recall", "postgresql"],
        ["check", "store"],
    ):
        assert run(*arguments).code == 6
    run("check", "store", "--repair")
    assert run("check", "store").code == 0


def test_a_field_that_only_an_option_can_be(run: Run, unchanged: None) -> None:
    refused = run("remember", "--object", '{"raw": "New.", "supersedes": "db/choice"}')
    assert (refused.code, "--supersedes" in refused.err) == (2, True)
    assert run("remember", "--batch", "-", stdin='{"raw": "New.", "supersedes": "db/choice"}').code == 2


@pytest.mark.parametrize(
    ("name", "hint"), [("tagz", "'tags'"), ("text", "'raw'"), ("importence", "'importance'"), ("qqq", "fields: ")]
)
def test_unknown_fields_of_an_object_are_refused(run: Run, tmp_path: Path, name: str, hint: str) -> None:
    line = json.dumps({"raw": "A text.", name: 1})
    refused = run("remember", "--object", line)
    assert (refused.code, f"no field '{name}'" in refused.err, hint in refused.err) == (2, True, True)
    refused = run("remember", "--batch", "-", stdin=f'{{"raw": "x"}}\n{line}\n')
    assert (refused.code, "line 2: " in refused.err) == (2, True)
    assert not (tmp_path / ".memory/spaces/main.json").exists()
    assert (
        run("remember", "--object", json.dumps({"raw": "A text.", "path_hint": "a/b", "project": "p", "x_own": 1})).code
        == 0
    )
