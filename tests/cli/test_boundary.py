"""The exit code of every failure, bugs and interruptions included."""

from __future__ import annotations

import re

import pytest

from memcli.cli.output import guarded
from memcli.errors import MemcliError, UsageError
from tests.conftest import ROOT
from tests.safety.secrets_corpus import secret

CODES = re.compile(r"\| (\d+) \| ([^|]+?) (?=\|)")


def documented() -> dict[int, str]:
    """The exit codes of the README and what they mean."""
    return {int(code): meaning for code, meaning in CODES.findall((ROOT / "README.md").read_text())}


def failing(error: BaseException) -> int:
    def work() -> int:
        raise error

    return guarded(work, json=False)


@pytest.mark.parametrize("kind", [MemcliError, *MemcliError.__subclasses__()])
def test_every_error_exits_with_its_code_and_one_line(
    kind: type[MemcliError], capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(kind("what was wrong", "what to do")) == kind.exit_code
    assert kind.exit_code in documented()
    assert capsys.readouterr() == ("", "memcli: what was wrong (what to do)\n")


@pytest.mark.parametrize("json", [False, True])
def test_an_error_does_not_repeat_a_secret(json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    value = secret("github_token")[1]

    def work() -> int:
        raise UsageError(f"{value!r} is no name for a space", f"not {value}")

    assert guarded(work, json=json) == UsageError.exit_code
    out, err = capsys.readouterr()
    assert value not in out + err
    assert "[REDACTED:github_token]' is no name for a space" in err


def test_a_bug_is_one_line_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMCLI_DEBUG", raising=False)
    assert failing(ZeroDivisionError("by zero")) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "internal error: ZeroDivisionError: by zero" in err


def test_an_interruption_exits_with_130() -> None:
    assert failing(KeyboardInterrupt()) == 130
    assert documented()[130] == "interrupted"


def test_no_code_is_documented_that_no_error_has() -> None:
    assert set(documented()) == {0, 130, *(kind.exit_code for kind in (MemcliError, *MemcliError.__subclasses__()))}
