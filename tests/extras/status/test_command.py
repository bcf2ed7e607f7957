"""`memcli status` and `memcli help`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from memcli.cli.main import FIRST
from memcli.cli.verb import all_verbs, names
from memcli.store.layout import Layout
from memcli.store.log import HookLog
from tests.cli.conftest import git, on_a_terminal
from tests.conftest import NOW, ROOT, Run


def lines(run: Run) -> dict[str, str]:
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in run("status").out.splitlines()}


def test_each_line_ends_with_the_command_that_helps(run: Run, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    run("init")
    assert lines(run) == {
        "store": f"{tmp_path}/.memory, trusted", "memories": "none: memcli remember TEXT", "inbox": "empty",
        "rules": "0 enforced", "hooks": "none: memcli hook install", "agents": "none: memcli agent install NAME",
    }  # fmt: skip
    (tmp_path / "pay.py").write_text("def pay():\n    return 1\n")
    rule = ("Never retry.", "--kind", "negative", "--enforce", "--trigger", "retry", "--anchor", "pay.py:1-2")
    run("remember", *rule)
    run("remember", "A guess.", "--propose")
    run("hook", "install")
    found = lines(run)
    assert found["store"] == f"{tmp_path}/.memory, trusted, 1 file not committed: memcli diff"
    assert (found["memories"], found["inbox"]) == ("1 in main", "1 wait: memcli inbox")
    assert found["rules"] == "1 enforced"
    assert found["hooks"].startswith("post-commit")
    HookLog(Layout(str(tmp_path / ".memory")), "main").add({"at": NOW})
    assert lines(run)["hooks"].endswith(", last run now")
    (tmp_path / "pay.py").write_text("def pay():\n    return 2\n")
    assert lines(run)["rules"] == "1 enforced, 1 stale: memcli check code"
    run("off")
    assert lines(run)["hooks"] == "off: memcli on"


def test_status_is_json_and_names_a_damaged_space(run: Run, tmp_path: Path) -> None:
    run("remember", "One.", "--path", "a")
    found = run("status", "--json").json
    assert found["memories"] == {"damaged": [], "spaces": {"main": 1}}
    assert found["store"] == {"root": f"{tmp_path}/.memory", "trusted": True, "uncommitted": []}
    assert "kinds" in run("status", "--stats", "--json").json
    run("space", "create", "other")
    (tmp_path / ".memory" / "spaces" / "other.json").write_text("{")
    assert "other is damaged: memcli check store" in lines(run)["memories"]


def test_help_is_short_whole_and_names_what_there_is(run: Run) -> None:
    text = run("help").out
    assert text == run("--help").out
    assert (len(text.splitlines()) <= 40, max(map(len, text.splitlines())) <= 80) == (True, True)
    first = [name for section in FIRST.values() for name in section]
    assert (len(first), len({*first}), {*first} <= {*names()}) == (14, 14, True)
    everyday, plumbing = (
        [line.split()[0] for line in run("help", which).out.splitlines() if line.startswith("  ")]
        for which in ("all", "plumbing")
    )
    assert sorted([*everyday, *plumbing]) == names()
    assert "merge-driver" in plumbing
    for verb in all_verbs():
        words = verb.name.split()
        first = [run(*line).out.splitlines()[0] for line in (["help", *words], [*words, "--help"])]
        assert first[0] == first[1] != ""
    assert run("help", "stats").err == "memcli: no command 'stats' (did you mean status or doctor?)\n"
    assert os.linesep not in run("help", "nothing").out


def test_the_tour_shows_its_steps_uses_no_server_and_leaves_nothing_behind(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    monkeypatch.setenv("MEMCLI_STORE", "postgresql://127.0.0.1:1/none")
    done = run("demo")
    assert (done.code, "cannot connect" in done.err) == (0, False)
    for step in (
        "$ memcli init", "$ memcli remember ", "$ memcli recall ", "$ memcli status",
        "We chose PostgreSQL as our database",
    ):  # fmt: skip
        assert step in done.out
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / ".memory").exists()


def test_the_tour_asks_nothing_in_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    code, shown = on_a_terminal(tmp_path, "demo", environ={"HOME": str(tmp_path)})
    assert (code, "[Y/n]" in shown, "$ memcli status" in shown) == (0, False, True)


@pytest.fixture
def sound(run: Run, tmp_path: Path) -> Path:
    """A store in a repository, without a fault."""
    git(tmp_path, "init", "-q")
    run("init")
    run("remember", "We chose PostgreSQL because of JSONB.", "--path", "db/choice", "--kind", "decision")
    return tmp_path


def states(run: Run) -> dict[str, str]:
    return {name: found["state"] for name, found in run("check", "--json").json.items()}


def test_a_sound_store_passes_and_what_it_lacks_is_skipped(run: Run, sound: Path) -> None:
    done = run("check")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()] == [
        ["passed", "code"], ["skipped", "recall"], ["passed", "secrets"], ["passed", "store"],
    ]  # fmt: skip
    assert states(run) == {"code": "passed", "recall": "skipped", "secrets": "passed", "store": "passed"}


def test_a_check_that_fails_says_what_it_says_alone(run: Run, sound: Path) -> None:
    file = sound / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace("because of JSONB", "since AKIA" + "Q3EGTX7ZP5RNB2WM"))
    alone = run("check", "store")
    assert alone.code == 6
    done = run("check")
    assert (done.code, states(run)["store"], states(run)["secrets"]) == (6, "failed", "failed")
    assert all(f"  {line}" in done.out.splitlines() for line in alone.out.splitlines())
    assert "Q3EGTX7ZP5RNB2WM" not in done.out


def test_recall_tests_that_cannot_be_read_fail(run: Run, sound: Path) -> None:
    tests = sound / ".memory" / "tests"
    tests.mkdir()
    (tests / "db.toml").write_text('[[case]]\ntopic = "postgresql"\nmust_include = ["db/choice"]\n')
    assert states(run)["recall"] == "passed"
    (tests / "db.toml").write_text('[[case]]\ntopik = "which database?"\n')
    done = run("check")
    assert (done.code, states(run)["recall"]) == (6, "failed")
    assert "topik" in done.out


def test_an_unknown_check_is_an_error(run: Run, sound: Path) -> None:
    done = run("check", "everything")
    assert (done.code, "everything" in done.err, "`memcli check --help`" in done.err) == (2, True, True)


def test_an_option_before_the_command_is_answered_with_its_place(run: Run) -> None:
    assert (
        run("--json", "list").err
        == "memcli: --json stands before the command (put it behind: `memcli COMMAND --json`)\n"
    )
