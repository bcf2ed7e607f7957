"""`memcli check recall`: where tests come from, what is printed, and how the command ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Run

PASSES = '[[case]]\ntopic = "which postgresql port?"\nmust_include = ["db/port"]\n'
FAILS = '[[case]]\ntopic = "which postgresql port?"\nmust_include = ["db/oracle"]\nmust_not_include = ["/5432/"]\n'
EMPTY = '[[case]]\ntopic = "zxqv wplk"\nempty = true\n'


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    run("remember", "PostgreSQL listens on port 5432.", "-p", "db/port")
    made = tmp_path / ".memory" / "tests"
    made.mkdir()
    return made


def test_all_pass(run: Run, folder: Path) -> None:
    (folder / "db.toml").write_text(PASSES + EMPTY)
    result = run("check", "recall")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "2 tests: 2 passed, 0 failed\n"
        "             tests  passed  answered  recall@10  MRR\n"
        "recall       2      2       1 of 1    1.000      1.000\n"
        "plain words  2      2       1 of 1    1.000      1.000\n"
    )
    assert run("check", "recall").out == result.out


def test_a_failure_is_one_line_and_6(run: Run, folder: Path) -> None:
    (folder / "db.toml").write_text(PASSES)
    (folder / "a.toml").write_text(f"[defaults]\ntop = 3\n\n{FAILS}")
    result = run("check", "recall")
    assert (result.code, result.out.splitlines()[:2]) == (
        6,
        [
            ".memory/tests/a.toml:4: 'which postgresql port?': missing db/oracle (not in the first 100); unwanted /5432/ (at 1)",
            "2 tests: 1 passed, 1 failed",
        ],
    )
    assert "recall@k" in result.out
    assert "recall@1 " in run("check", "recall", "--top", "1").out
    assert [run("check", "recall", "--fail-under", share).code for share in ("0.5", "0.51", "0", "1")] == [0, 6, 0, 6]


@pytest.mark.skipif(os.name == "nt", reason="no such names on Windows")
def test_a_name_of_a_file_cannot_imitate_a_line(run: Run, folder: Path) -> None:
    (folder / "a\n9 tests: 9 passed\x1b[2J.toml").write_text(FAILS)
    result = run("check", "recall")
    assert (result.code, len(result.out.splitlines())) == (6, 5)
    assert "\x1b" not in result.out


def test_json(run: Run, folder: Path) -> None:
    (folder / "db.toml").write_text(PASSES + FAILS)
    result = run("check", "recall", "--json")
    data = result.json
    assert (result.code, data["recall"]) == (
        6,
        {"cases": 2, "passed": 1, "asked": 2, "answered": 1, "recall_at_k": 0.5, "mrr": 0.5},
    )
    assert data["words"].keys() == data["recall"].keys()
    assert [(one["file"], one["line"], one["passed"], one["place"]) for one in data["tests"]] == [
        (".memory/tests/db.toml", 1, True, 1),
        (".memory/tests/db.toml", 4, False, None),
    ]
    assert data["tests"][1]["missing"] == [{"what": "db/oracle", "place": None}]
    assert data["tests"][1]["unwanted"] == [{"what": "/5432/", "place": 1}]


def test_files_and_question_sets_that_are_named(run: Run, folder: Path) -> None:
    (folder / "db.toml").write_text(FAILS)
    Path("own.toml").write_text(PASSES)
    Path("q.jsonl").write_text(
        '{"q": "which postgresql port?", "type": "what", "answers": ["54(?=32)"], "sources": []}\n'
        '{"q": "zxqv wplk", "type": "none", "answers": []}\n'
    )
    assert run("check", "recall", "own.toml").code == 0
    data = run("check", "recall", "--questions", "q.jsonl", "--budget", "400", "--json").json
    assert [(one["type"], one["passed"]) for one in data["tests"]] == [("what", True), ("none", True)]
    both = run("check", "recall", "own.toml", "--questions", "q.jsonl", "--json").json
    assert [one["file"] for one in both["tests"]] == ["own.toml", "q.jsonl", "q.jsonl"]


def test_there_are_no_tests(run: Run, folder: Path) -> None:
    (folder / "README.md").write_text("How we test.")
    (folder / ".swap.toml").write_text("not TOML")
    result = run("check", "recall")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("memcli: no tests in .memory/tests (write a file with [[case]]")
    folder.joinpath(".swap.toml").unlink()
    folder.joinpath("README.md").unlink()
    folder.rmdir()
    assert run("check", "recall").code == 3
    Path("own.toml").write_text("# none yet\n")
    assert run("check", "recall", "own.toml").err.startswith("memcli: no tests (")


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_no_link_is_followed_out_of_the_store(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.toml").write_text(PASSES)
    (folder / "a.toml").symlink_to(tmp_path / "outside" / "a.toml")
    assert run("check", "recall").code == 8
    (folder / "a.toml").unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path / "outside")
    result = run("check", "recall")
    assert (result.code, result.err.count("\n")) == (8, 1)
