"""The exit code of every failure, bugs and interruptions included."""

from __future__ import annotations

import re

import pytest

from memcli.cli.output import guarded
from memcli.errors import MemcliError, UsageError
from tests.conftest import ROOT
from tests.safety.secrets_corpus import secret

ERRORS = (MemcliError, *MemcliError.__subclasses__())
DOCUMENTED = {int(n) for n in re.findall(r"\| (\d+) \| [^|]+? (?=\|)", (ROOT / "README.md").read_text())}
"""The exit codes of the README."""


def failing(error: BaseException, json: bool = False) -> int:
    def work() -> int:
        raise error

    return guarded(work, json=json)


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
