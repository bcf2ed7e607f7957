"""What is packaged, and what describes it, is whole."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from memcli import __version__
from memcli.cli.verb import read_line
from tests.conftest import ROOT
from tools.release import fill, section

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
YAML = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / "action.yml", ROOT / "CITATION.cff"]
CALL = re.compile(r'(?:^\s*|\$\()(?:memcli|"\$memcli") ([^"\n|;)]*(?:"\$BASE")?[^"\n|;)]*)', re.MULTILINE)


def test_all_has_every_extra_of_the_program() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = set(re.findall(r"[a-z]+", extras["all"][0].partition("[")[2]))
    assert named == extras.keys() - {"all", "dev", "docs"}


def test_what_the_wheel_shares_exists() -> None:
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert [name for name in shared if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_a_description_is_sound_and_its_commands_are_ours(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text()), dict)
    calls = [found.replace('"$BASE"', "base").split() for found in CALL.findall(path.read_text())]
    assert [call for call in calls if read_line(call) is None] == []
    assert path.name != "action.yml" or len(calls) == 3


def test_the_version_stands_in_one_place_and_is_cited() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_a_release_fills_all_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/memcli")
    monkeypatch.setattr("tools.release.section", lambda _text, _version: "- What is new.\n")
    dist, folder = tmp_path / "dist", tmp_path / "release"
    dist.mkdir()
    (dist / f"memcli-{__version__}.tar.gz").write_bytes(b"an sdist")
    fill(dist, folder)
    texts = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}
    assert texts.keys() == {
        "SHA256SUMS", "debian/changelog", "debian/control", "debian/copyright", "debian/rules", "debian/source/format",
        "homebrew.rb", "notes.md", "server.json",
    }  # fmt: skip
    assert [name for name, text in texts.items() if re.search("@[A-Z0-9]+@", text)] == []
    assert json.loads(texts["server.json"])["name"] == "io.github.somebody/memcli"
    assert os.access(folder / "debian" / "rules", os.X_OK)


def test_the_section_of_a_version_is_found_and_a_missing_one_said() -> None:
    assert (
        section("# C\n\n## Unreleased\n\n- a\n\n## 0.2.0 - 2026-12-01\n\n- b\n\n## 0.1.0\n\n- c\n", "0.2.0") == "- b\n"
    )
    with pytest.raises(SystemExit, match=r"no section 0\.3\.0"):
        section("## 0.2.0\n", "0.3.0")


def test_windows_gets_one_clear_line() -> None:
    script = "import sys; sys.platform = 'win32'; sys.argv = ['memcli', 'list']; import memcli.__main__ as m; m.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "memcli: Windows is not supported; install memcli in WSL (`wsl --install`)\n"
