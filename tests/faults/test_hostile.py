"""Hostile names in short (`python -m tests.faults.hostile` is the whole), and symbolic links in every place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.extras.doctor import diagnosis as doctor
from tests.conftest import ROOT, Run, slow_but
from tests.faults.names import NAMES

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks and links")

SECRET = b'{"format": "memcli/space", "version": 1, "space": "main", "objects": []}\n'
PLACES = (
    ".memory", "spaces", "spaces/main.json", "spaces/.main.json.tmp-", "local", "local/main.lock", "local/journal",
    "cache", "cache/main.index", "exports", "exports/main.json", "audit", "audit/main.jsonl", "config.toml", ".gitignore",
    "sessions", "local/place.json", "local/index.seen", "local/trust.json", "local/redaction.key", "local/main.acts",
    "local/quarantine", "local/state.db",
)  # fmt: skip
COMMANDS = (
    ("remember", "A second text.", "--path", "b/two"), ("recall", "postgresql", "--format", "json"), ("export",), ("gc",),
    ("edit", "db/engine", "--set", "kind=fact"), ("space", "list"), ("store", "index", "rebuild"), ("doctor",),
)  # fmt: skip


@pytest.mark.parametrize("every", slow_but(("40",), ["12", "40"]))
def test_no_name_reaches_outside(every: str) -> None:
    assert len(NAMES) >= 300
    line = [sys.executable, "-P", "-m", "tests.faults.hostile", "--every", every]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """`doctor` loads and verifies the model each time, which has nothing to do with the store."""
    unchecked = doctor.Check("model", ok=True, found="not looked at")
    monkeypatch.setattr(doctor, "_installation", lambda: [unchecked])
    monkeypatch.setattr(doctor, "_embedding", lambda *_: unchecked)


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("kind", slow_but(("file",), ["file", "folder", "nothing", "loop"]))
@pytest.mark.parametrize("place", PLACES)
def test_no_link_leads_outside(run: Run, tmp_path: Path, place: str, kind: str) -> None:
    """Refused or harmless: what the link leads to is neither read nor written, and nothing is made there."""
    assert run("remember", "We chose PostgreSQL.", "--path", "db/engine").code == 0
    run("recall", "postgresql")
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "target"
    if kind == "file":
        target.write_bytes(SECRET)
    elif kind == "folder":
        target.mkdir()
        (target / "main.json").write_bytes(SECRET)
    link = tmp_path / ".memory" / place if place != ".memory" else tmp_path / ".memory"
    if link.exists():
        link.rename(tmp_path / "moved")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(link.name if kind == "loop" else target)
    before = seen(outside)
    for command in COMMANDS:
        result = run(*command)
        assert result.code in (0, 2, 3, 6, 8), (command, result)
        assert "Traceback" not in result.err
        assert "internal error" not in result.err
        assert seen(outside) == before, command


def seen(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}
