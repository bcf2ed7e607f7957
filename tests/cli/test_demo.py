"""The guided tour."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run


def test_the_tour_shows_its_steps_and_leaves_nothing_behind(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    done = run("demo")
    assert done.code == 0
    for step in ("$ memcli init", "$ memcli remember ", "$ memcli recall ", "We chose PostgreSQL as our database"):
        assert step in done.out
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / ".memory").exists()


def test_the_tour_uses_no_server(run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    monkeypatch.setenv("MEMCLI_STORE", "postgresql://127.0.0.1:1/none")
    done = run("demo")
    assert (
        done.code,
        "$ memcli status" in done.out,
        "cannot connect" in done.err + capfd.readouterr().err,
    ) == (
        0,
        True,
        False,
    )
