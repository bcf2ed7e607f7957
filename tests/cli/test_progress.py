"""Progress on standard error."""

from __future__ import annotations

import json

import pytest

from memcli.cli.output import ProgressBar
from tests.conftest import Run


def steps(bar: ProgressBar, clock: list[float]) -> None:
    for done in range(0, 6000, 100):
        bar(done, 6000)
        clock[0] += 1
    bar(6000, 6000)


@pytest.mark.parametrize(
    ("quiet", "has_lines", "told"),
    [
        (False, True, ["1,000", "2,000", "3,000", "4,000", "5,000"]),
        (True, True, []),
        (False, False, []),
    ],
)
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
