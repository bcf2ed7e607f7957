"""The memory of this repository: its rules refuse what they are about and nothing that looks like it, and its checks pass."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

MEMORIES = json.loads((ROOT / ".memory" / "spaces" / "main.json").read_text())["objects"]
LINES: Mapping[str, tuple[str, list[str], list[str]]] = {
    "never/import-click": ("memcli/cli/x.py", ["import click", "    from click import echo"], ["import clicks", "# import of a click"]),
    "never/clock-elsewhere": (
        "memcli/app/x.py",
        ["now = datetime.now(UTC)", "at = datetime.utcnow()", "started = time.time()"],
        ["now = workspace.clock()", "began = time.monotonic()", "at = datetime.fromisoformat(text)"],
    ),
    "never/chance": ("memcli/model/x.py", ["name = uuid4()", "import random"], ["import randomness", "uuid5(space, path)"]),
    "never/write-without-atomic": (
        "memcli/app/x.py",
        ['with open(path, "w") as file:', 'open(path, mode="ab")', "file.write_text(text)"],
        ["with open(path) as file:", 'open(path, "rb")', "output.write(text)"],
    ),
    "never/shell": ("memcli/git/x.py", ["run(line, shell=True)", "os.system(line)"], ["run(words, shell=False)", "systematic(line)"]),
    "never/run-git-elsewhere": (
        "memcli/app/x.py",
        ['subprocess.run(["git", "log"])', "Popen(('git', 'show'))"],
        ['subprocess.run(["less"])', 'repository.run("log")'],
    ),
    "never/unpickle": (
        "memcli/index/x.py",
        ["pickle.loads(data)", "yaml.load(text, Loader)"],
        ["yaml.safe_load(text)", "json.loads(data)"],
    ),
    "constraints/typer-version": ("pyproject.toml", ['  "typer>=0.29",', '  "typer>=0.30,<1",'], ['  "typer>=0.28,<0.29",']),
    "constraints/heavy-imports": (
        "memcli/app/x.py",
        ["import numpy", "from rich import print"],
        ["    import numpy", "from memcli.embed import numpy_less"],
    ),
}  # fmt: skip


def test_there_are_some_and_not_too_many() -> None:
    assert 30 <= len(MEMORIES) <= 60
    assert {memory["path"] for memory in MEMORIES if memory.get("enforce")} == LINES.keys()


def test_each_rule_refuses_what_it_is_about_and_no_look_alike(run: Run, tmp_path: Path) -> None:
    run("init")
    shutil.copytree(ROOT / ".memory" / "spaces", tmp_path / ".memory" / "spaces", dirs_exist_ok=True)
    run("trust")
    wrong = []
    for path, (file, violations, harmless) in LINES.items():
        for line in (*violations, *harmless):
            diff = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -0,0 +1 @@\n+{line}\n"
            done = run("guard", "--diff", "-", stdin=diff)
            expected = 5 if line in violations else 0
            if done.code != expected or (expected and path not in done.out):
                wrong.append((path, line, done))
    assert wrong == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_the_code_is_as_the_memories_say_and_questions_are_answered(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    monkeypatch.chdir(clone)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    done = run("check")
    assert done.code == 0, done
    assert [line.split()[0] for line in done.out.splitlines()] == ["passed"] * 4
