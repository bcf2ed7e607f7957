"""The samples are real: they run with the real model, and what they print and leave behind is known to the byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SAMPLES = sorted((ROOT / "samples").glob("*.sh"))
SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "4711", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu"},
]
QUICK = ("agent_claude", "agent_before_commit", "ci_checks", "decision_log", "git_hooks", "release_checklist")
"""The samples that every run plays."""
PLAYED = [
    pytest.param(one, SURROUNDINGS[n % 2], marks=() if one.stem in QUICK else pytest.mark.slow)
    for n, one in enumerate(SAMPLES)
]
"""Every sample in one of the surroundings, by turns: what depended on them would differ from the golden files in half."""


def play(sample: Path, folder: Path, surroundings: dict[str, str]) -> dict[str, str]:
    """Runs a sample in a new repository under `folder`; what it printed, and the files of its store."""
    work = folder / "some where" / "repository"
    tools = folder / "bin"
    here = folder / "a clone of somebody"
    for made in (tools, here / ".git"):
        made.mkdir(parents=True)
    shim = tools / "memcli"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m memcli "$@"\n')
    shim.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if k in ("HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")}
    own = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    environ = {**kept, **own, **surroundings}
    done = subprocess.run(["bash", str(sample), str(work)], cwd=here, env=environ, capture_output=True, check=False)
    assert os.listdir(here) == [".git"]
    found = {"stdout.txt": done.stdout.decode(), "stderr.txt": done.stderr.decode(), "exit.txt": f"{done.returncode}\n"}
    for name, top in (("memory", work / ".memory"), ("private", work / ".git" / "memcli" / ".memory")):
        for file in sorted(top.rglob("*.json")):
            if top / "cache" in file.parents:
                continue  # it says of sessions which state of their files it was made of
            if file.name in ("trust.json", "place.json"):
                continue  # they name inodes, and hashes by a random key
            found[f"{name}/{file.relative_to(top)}"] = file.read_text()
    assert str(folder) not in "".join(found.values())
    return found


@pytest.mark.skipif(shutil.which("jq") is None, reason="the samples use jq, as users do")
@pytest.mark.parametrize(
    ("sample", "surroundings"), PLAYED, ids=lambda p: p.stem if isinstance(p, Path) else p["LC_ALL"]
)
def test_sample(sample: Path, surroundings: dict[str, str], tmp_path: Path, update_golden: bool) -> None:
    found = play(sample, tmp_path, surroundings)
    folder = ROOT / "golden" / sample.stem
    if update_golden:
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in found.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    expected = {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}
    assert found == expected
