"""The samples are real: they run with the real model, and what they print and leave behind is known to the byte."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memcli.extras.helper.starting import end_helper
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


NEVER_ASKED = ("ci_checks", "context_window", "recall_tests")
"""The samples without a command that a helper answers."""
_BY_HELPER = """
import os, sys, time
from memcli import client
from memcli.extras.helper import starting
args, root = sys.argv[1:], client.find_store()
if args and root is not None and client.may_ask(args, {**os.environ, client.VARIABLE: client.REQUIRE}):
    if starting.running(root) is None:
        starting.launch(root, "", ())
    while starting.running(root) is None:
        time.sleep(0.05)
    os.environ[client.VARIABLE] = client.REQUIRE
    with open(os.environ["ANSWERED"], "a") as file:
        file.write("x")
os.execv(sys.executable, [sys.executable, "-P", "-m", "memcli", *args])
"""
"""Runs memcli, with a helper that must answer what one may answer."""


def play(sample: Path, folder: Path, surroundings: dict[str, str], program: str = "-m memcli") -> dict[str, str]:
    """Runs a sample in a new repository under `folder`; what it printed, and the files of its store."""
    work = folder / "some where" / "repository"
    tools = folder / "bin"
    here = folder / "a clone of somebody"
    for made in (tools, here / ".git"):
        made.mkdir(parents=True)
    shim = tools / "memcli"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P {program} "$@"\n')
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
    assert found == expected_of(sample)


def expected_of(sample: Path) -> dict[str, str]:
    folder = ROOT / "golden" / sample.stem
    return {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.mark.skipif(shutil.which("jq") is None, reason="the samples use jq, as users do")
@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the helper is tested on Linux")
@pytest.mark.parametrize(
    "sample",
    [pytest.param(one, marks=() if one.stem == "decision_log" else pytest.mark.slow) for one in SAMPLES],
    ids=lambda one: one.stem,
)
def test_a_helper_answers_the_same(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, answered = tmp_path / "by_helper.py", tmp_path / "answered"
    script.write_text(_BY_HELPER)
    answered.touch()
    with TemporaryDirectory(prefix="m") as short:  # the path of a socket has at most 107 bytes
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        environ = {**SURROUNDINGS[0], "XDG_RUNTIME_DIR": short, "ANSWERED": str(answered)}
        try:
            found = play(sample, tmp_path / "played", environ, str(script))
        finally:
            for root in tmp_path.rglob(".memory"):
                end_helper(str(root))
    assert found == expected_of(sample)
    assert answered.read_text() or sample.stem in NEVER_ASKED
