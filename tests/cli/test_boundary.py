"""The exit code of every failure, bugs and interruptions included."""

from __future__ import annotations

import json
import re

import pytest

from memcli.cli.output import ProgressBar, guarded
from memcli.errors import MemcliError, UsageError
from tests.conftest import ROOT, Run
from tests.safety.secrets_corpus import secret

ERRORS = (MemcliError, *MemcliError.__subclasses__())
DOCUMENTED = {int(n) for n in re.findall(r"\| (\d+) \| [^|]+? (?=\|)", (ROOT / "docs" / "commands.md").read_text())}
"""The exit codes of the documents."""


def failing(error: BaseException, json: bool = False) -> int:
    def work() -> int:
        raise error

    return guarded(json, work)


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
