"""Bad input and failures of every kind: one line on standard error, the exit code of the table, and nothing changed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.cli.output import ProgressBar, reported
from memcli.errors import MemcliError, UsageError
from tests.cli.conftest import wrong
from tests.conftest import ROOT, Run
from tests.safety.secrets_corpus import secret

SPACE = ".memory/spaces/main.json"


@pytest.fixture
def unchanged(run: Run, tmp_path: Path) -> Iterator[None]:
    """A store with one memory, which the test must leave as it is."""
    assert run("remember", "We chose PostgreSQL.", "--path", "db/choice").code == 0
    file = tmp_path / SPACE
    before = file.read_bytes()
    yield
    assert file.read_bytes() == before
    assert sorted(os.listdir(file.parent)) == ["main.json"]


BAD_PATHS = ["../x", "/etc/x", "con", "x" * 300, "a\x1b[31mb", "-rf"]
LONG = "9" * 20
REFUSED = [
    (["remember", ""], 2, "empty"), (["remember", "  \n "], 2, "empty"), ("remember", 2, "empty"),
    ("remember --object {nope", 2, "not valid JSON"), ("remember --object [1]", 2, "JSON object"),
    (["remember", "--object", '{"raw": "x", "pinned": "yes"}'], 2, "pinned"),
    (["remember", "--object", '{"raw": "x", "links": [{"to": 1, "relation": "relates_to"}]}'], 2, "links[0].to"),
    (["remember", "--object", '{"raw": "New.", "supersedes": "db/choice"}'], 2, "--supersedes"),
    ("remember x --importance 7", 2, "importance"), ("remember x --created-at soon", 2, "created_at"),
    (["remember", "x", "--id", "a b"], 2, "not an id"), ("remember x --tag !!", 2, "not a tag"),
    ("remember x --file missing.txt", 2, "cannot be used with --file"), ("remember --file missing.txt", 3, "missing.txt"),
    ("remember --file .", 2, "cannot read"), ("remember x --supersedes mem_none", 3, "mem_none"),
    ("remember x --link nothing", 2, "RELATION:ID"), ("remember x --set pinned", 2, "name=value"),
    ("remember x --semantic psychic", 2, "psychic"), ("remember x --set valid_form=2020-01-01", 2, "valid_form"),
    (["remember", "x", "--set", 'content={"a": NaN}'], 2, "--set content"), ("remember x --tag \udcff", 2, "Unicode"),
    ("remember x --kind \udcff", 2, "Unicode"), ("remember x --id \udcff", 2, "Unicode"),
    *[(["remember", "x", "--path", path], 2, "not a memory path") for path in BAD_PATHS],
    *[(["remember", "x", "--space", name], 2, "not a space name") for name in [*BAD_PATHS, "Upper"]],
    ("recall", 2, "topic is empty"), (["recall", ""], 2, "topic is empty"), (["recall", "  "], 2, "topic is empty"),
    ("recall caf\udce9", 2, "UTF-8"), ("recall x --topics -", 2, "cannot be used with --topics"),
    ("recall x --weights colour=1", 2, "colour"), ("recall x --budget 3", 2, "too small"),
    ("recall x --recency-bias 3", 2, "--recency-bias"), (["recall", "x", "--space", ""], 2, "not a space name"),
    *((f"recall {words}", 2, "cannot be combined") for words in (
        "x --from-diff -", "--from-diff - --changed HEAD", "--topics - --changed HEAD",
    )),
    ("recall x --format yaml", 2, "yaml"), ("recall x --limit 0", 2, "limit"), ("recall x --since soon", 2, "not a time"),
    ("recall x --freeze-clock soon", 2, "not a time"), ("recall x --tag \udcff", 2, "UTF-8"),
    (f"list --limit {LONG}", 2, "--limit must be between 1 and 9007199254740991"),
    (f"list --offset {LONG}", 2, "--offset must be"), (f"list --tree --depth {LONG}", 2, "--depth must be"),
    (f"session list --limit {LONG}", 2, "--limit must be"), ("list nowhere", 3, "nowhere"),
    ("get mem_none", 3, "mem_none"), ("get db/choice --field shoe_size", 2, "shoe_size"), ("pin nowhere nor/here", 3, "nowhere"),
    ("edit db/choice --set pinned=maybe", 2, "pinned"), ("edit db/choice --set shoe_size=44", 2, "shoe_size"),
    ("edit db/choice --set triggers=5", 2, "triggers must be a list"), ("edit db/choice --set tags=true", 2, "tags must be a list"),
    (["edit", "db/choice", "--set", 'tags={"a": 1}'], 2, "not an object"),
    ("edit db/choice --set id=mine", 2, "id cannot be set"), ("edit db/choice --set raw=", 2, "needs raw or content"),
    ("edit db/choice --set path=../x", 2, "not a memory path"), ("edit db/choice", 2, "EDITOR"),
    (["edit", "db/choice", "--tag", ""], 2, "tag"), ("forget nowhere", 3, "nowhere"), ("forget db/choice --purge", 5, "--yes"),
    ("space delete main", 5, "allow_delete"), ("space delete none", 3, "none"), ("space show none", 3, "none"),
    ("space create main --reset", 5, "allow_delete"), ("space policy main --set ttl_days=soon", 2, "ttl_days"),
    ("space policy main --set ttl_days=-1", 2, "ttl_days"), ("space policy main --set colour=red", 2, "colour"),
    ("space policy main --set backend=zzz", 2, "policy."), ("space policy main --set export_path=a\0.json", 2, "policy."),
    ("space policy main --set review=7", 2, "policy."), ("space policy main --set backend=\udcff", 2, "Unicode"),
    ("gc --ttl-days -3", 2, "ttl-days"), ("export none", 3, "none"), ("export --out nowhere/", 8, "it is a folder"),
    ("import missing.json", 3, "missing.json"), ("schema shoe", 2, "shoe"), ("completions tcsh", 2, "tcsh"),
    ("recal x", 2, "recall"), ("recall x --lmit 3", 2, "--limit"),
]  # fmt: skip
PIPED = [
    (["remember"], b"\x00\x01\x02" * 100, 2, "binary"), (["remember"], b"caf\xe9", 2, "UTF-8"),
    (["remember"], b"x" * 50_000_000, 2, "50.0 MB"), (["import", "-"], "{}", 6, "not an export"),
    (["import", "-"], "nope", 6, "invalid JSON"), (["import", "-", "--mode", "mix"], "{}", 2, "mix"),
    (["remember", "--batch", "-"], '{"raw": "New.", "supersedes": "db/choice"}', 2, "--supersedes"),
    (["recall", "-"], " \t\n", 2, "topic is empty"),
]  # fmt: skip


def test_one_line_and_an_exit_code(run: Run, unchanged: None) -> None:
    assert wrong(run, REFUSED) == ""
    for words, data, code, says in PIPED:
        result = run(*words, stdin=data)
        assert (result.code, result.out, result.err.count("\n"), says in result.err) == (code, "", 1, True), words


def test_errors_are_json_too(run: Run, unchanged: None) -> None:
    assert run("get", "mem_none", "--json").json["error"] == {
        "code": "not_found", "hint": "`memcli list` lists the memories", "message": "no memory 'mem_none' in space 'main'",
    }  # fmt: skip


def batch(bad: str = '{"raw": 7}', count: int = 100) -> str:
    lines = [json.dumps({"raw": f"Memory number {n}.", "path": f"batch/{n}"}) for n in range(count)]
    lines[count // 2] = bad
    return "\n".join(lines) + "\n"


def test_one_bad_line_of_a_thousand_stores_nothing(run: Run, unchanged: None) -> None:
    for bad in ('{"raw": 7}', "{nope", "[]", '{"raw": ""}', '{"raw": "x", "path": "../x"}'):
        count = 1000 if bad == "{nope" else 100
        result = run("remember", "--batch", "-", stdin=batch(bad, count))
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert f"line {count // 2 + 1}: " in result.err
        assert "nothing was stored" in result.err


def test_keep_going_stores_the_rest(run: Run) -> None:
    result = run("remember", "--batch", "-", "--keep-going", "--json", stdin=batch())
    assert (result.code, result.json["created"], result.json["failed"][0]["line"]) == (2, 99, 51)


def test_a_damaged_space_file_is_named(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / SPACE
    sound = file.read_bytes()
    for damaged, says in (
        (sound[:-30], "invalid JSON"), (b"<<<<<<< ours\n" + sound, "conflict markers"), (b"", "invalid JSON"),
        (sound.replace(b'"raw": "', b'"raw": 1, "x": "'), "raw"), (sound.replace(b'"version": 2', b'"version": "x"'), "version"),
    ):  # fmt: skip
        file.write_bytes(damaged)
        assert (
            wrong(run, [(line, 6, says) for line in ("recall x", "remember x", "list", "pin db", "status --stats")])
            == ""
        )
        assert "spaces/main.json" in run("list").err
        assert file.read_bytes() == damaged


def test_a_newer_file_is_read_and_not_written(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / SPACE
    file.write_bytes(file.read_bytes().replace(b'"version": 2', b'"version": 3'))
    before = file.read_bytes()
    assert "db/choice" in run("recall", "postgresql").out
    assert wrong(run, [(line, 6, "newer") for line in ("remember x", "pin db/choice")]) == ""
    assert file.read_bytes() == before


def test_where_there_is_no_store_none_is_made(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    assert wrong(run, [(line, 3, "memcli init") for line in ("recall x", "remember x", "list")]) == ""
    assert not (tmp_path / ".memory").exists()
    (tmp_path / "target").mkdir()
    for make in (lambda place: place.symlink_to(tmp_path / "target"), lambda place: place.write_text("")):
        make(tmp_path / ".memory")
        assert [run(*command).code for command in (["remember", "x"], ["recall", "x"], ["init"])] == [8, 8, 8]
        (tmp_path / ".memory").unlink()
    assert not list((tmp_path / "target").iterdir())


def test_an_unknown_backend_is_a_warning(run: Run) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    result = run("recall", "postgresql", "--backend", "oracle")
    assert (result.code, "db/choice" in result.out, "no backend 'oracle'" in result.err) == (0, True, True)


def test_a_wrong_config_is_reported_and_names_no_program(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / ".memory" / "config.toml").write_text('editor = "rm -rf /"\n')
    result = run("list")
    assert (result.code, result.err.count("unknown key 'editor'")) == (0, 1)
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    for text, code, told in (
        ('team = "core"\n', 0, "unknown key 'team'"), ("space = 7\n", 0, "space must be text"), ("= = =", 2, "config.toml"),
        (f"a = {'9' * 5000}\n", 2, "config.toml"), (f"a = {'[' * 5000}{']' * 5000}\n", 2, "nested too deeply"),
    ):  # fmt: skip
        (tmp_path / ".memory" / "config.toml").write_text(text)
        result, doctor = run("get", "db/choice"), run("doctor")
        assert (result.code, told in result.err, "PostgreSQL" in result.out) == (code, True, code == 0)
        assert (doctor.code, told in doctor.out) == (8, True)


def test_a_store_of_another_kind_is_not_replaced_by_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL.")
    monkeypatch.setenv("MEMCLI_STORE", "mysql://ann:secret-word@example.com/team")
    assert wrong(run, [(line, 2, "MEMCLI_STORE") for line in ("list", "remember x", "init", "recall x")]) == ""
    assert "secret-word" not in run("list").err


def test_a_path_of_many_segments_in_a_file(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    file = tmp_path / SPACE
    file.write_text(file.read_text().replace("db/choice", "/".join("a" * 5000)))
    for line in ("list --tree", "list --tree --json", "list", "recall postgresql --backend patricia"):
        result = run(*line.split())
        assert (result.code, result.err) == (0, ""), line
    assert run("check", "store").code == 6


def test_an_id_never_names_a_file_elsewhere(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice", "--id", "mine")
    file = tmp_path / SPACE
    sound = file.read_text()
    for name in ("/etc/passwd", "../x", "a//b", ".hidden", "a b", "-x", "a\\b", "", "x" * 200, "a..b", "ä"):
        assert run("remember", "x", f"--id={name}").code == 2
        assert run("remember", "--object", json.dumps({"raw": "x", "id": name})).code == 2
        file.write_text(sound.replace('"mine"', json.dumps(name)))
        for line in ("list", "edit db/choice --set kind=fact", "recall postgresql", "check store"):
            assert run(*line.split()).code == 6, line
        run("check", "store", "--repair")
        assert run("check", "store").code == 0


def test_unknown_fields_of_an_object_are_refused(run: Run, tmp_path: Path) -> None:
    for name, hint in (("tagz", "'tags'"), ("text", "'raw'"), ("importence", "'importance'"), ("qqq", "fields: ")):
        line = json.dumps({"raw": "A text.", name: 1})
        refused = run("remember", "--object", line)
        assert (refused.code, f"no field '{name}'" in refused.err, hint in refused.err) == (2, True, True)
        refused = run("remember", "--batch", "-", stdin=f'{{"raw": "x"}}\n{line}\n')
        assert (refused.code, "line 2: " in refused.err) == (2, True)
    assert not (tmp_path / SPACE).exists()
    known = {"raw": "A text.", "path_hint": "a/b", "project": "p", "x_own": 1}
    assert run("remember", "--object", json.dumps(known)).code == 0


ERRORS = (MemcliError, *MemcliError.__subclasses__())
DOCUMENTED = {int(n) for n in re.findall(r"\| (\d+) \| [^|]+? (?=\|)", (ROOT / "docs" / "commands.md").read_text())}
"""The exit codes of the documents."""


def failing(error: BaseException, json: bool = False) -> int:
    def work() -> int:
        raise error

    try:
        return work()
    except BaseException as error:
        return reported(error, json)


def test_every_error_exits_with_its_code_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ERRORS:
        assert failing(kind("what was wrong", "what to do")) == kind.exit_code
        assert capsys.readouterr() == ("", "memcli: what was wrong (what to do)\n")
    assert {0, 130, *(kind.exit_code for kind in ERRORS)} == DOCUMENTED


@pytest.mark.parametrize("json", [False, True])
def test_an_error_does_not_repeat_a_secret(json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    value = secret("github_token")[1]
    assert failing(UsageError(f"{value!r} is no name for a space", f"not {value}"), json) == UsageError.exit_code
    out, err = capsys.readouterr()
    assert value not in out + err
    assert "[REDACTED:github_token]' is no name for a space" in err


def test_a_bug_is_one_line_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(ZeroDivisionError("by zero")) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "internal error: ZeroDivisionError: by zero" in err


def test_an_interruption_exits_with_130() -> None:
    assert failing(KeyboardInterrupt()) == 130


def steps(bar: ProgressBar, clock: list[float]) -> None:
    for done in range(0, 6000, 100):
        bar(done, 6000)
        clock[0] += 1
    bar(6000, 6000)


@pytest.mark.parametrize(
    ("quiet", "has_lines", "told"),
    [
        (False, True, ["1,000", "2,000", "3,000", "4,000", "5,000"]), (True, True, []), (False, False, []),
    ],
)  # fmt: skip
def test_where_there_is_no_terminal_a_line_comes_now_and_then(
    capsys: pytest.CaptureFixture[str], quiet: bool, has_lines: bool, told: list[str]
) -> None:
    clock = [0.0]
    bar = ProgressBar("embedding", quiet, lambda: clock[0])
    bar.has_lines = has_lines
    steps(bar, clock)
    assert capsys.readouterr().err.splitlines() == [f"memcli: embedding {n} of 6,000" for n in told]


def test_index_embed_asks_for_the_lines(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.cli.output._LINE_AFTER_SECONDS", 0.0)
    batch = "\n".join(json.dumps({"raw": f"Text number {n}."}) for n in range(200))
    assert run("remember", "--batch", "-", stdin=batch).code == 0
    assert "memcli: embedding " in run("store", "index", "embed").err
    assert "embedding" not in run("store", "index", "embed", "-q").err
