"""What the commits of a repository still hold of a text that was erased."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from memcli.git.revisions import commits_with
from memcli.store.atomic import has_any
from memcli.store.layout import Layout
from memcli.wiring.records import find_quotes
from tests.conftest import memory, open_at
from tests.ingest.conftest import Repo

TEXT = 'The "zebraquartz" valve — opens\tat noon.'
IN_JSON = TEXT.replace('"', '\\"').replace("\t", "\\t")
PLACE = ".memory/spaces/main.json"


def commit(repo: Repo, text: str, place: str = PLACE) -> str:
    """The commit of a file with this text, as it is named."""
    repo.write(place, text)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "a change")
    return str(repo.git("rev-parse", "HEAD"))[:10]


def search(repo: Repo, text: str = TEXT) -> tuple[list[str], list[str]]:
    """What is named, and the warnings."""
    root, warnings, empty = str(repo.root / ".memory"), list[str](), repo.root.parent / "empty"
    empty.mkdir()
    quotes = find_quotes(Layout(root, root), open_at(empty).store, [memory(raw=text)], warnings.append)
    return quotes, warnings


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The arguments and the environment of every process that is started."""
    seen: list[object] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, arguments: Any, **options: Any) -> None:
            seen.append((arguments, options["env"]))
            super().__init__(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return seen


def test_the_text_is_passed_to_no_process(repo: Repo, told: list[object]) -> None:
    text = "zebraquartz " * 20_000  # more than the system takes as an argument
    held = commit(repo, f'{{"raw": "{text}"}}')
    assert search(repo, text) == ([f"1 commit of this repository ({held})"], [])
    assert any("cat-file" in str(one) for one in told)
    assert "zebraquartz" not in str(told)


def test_both_forms_are_found_wherever_they_came_in(repo: Repo) -> None:
    commit(repo, TEXT, "outside.md")
    first = commit(repo, f'{{"raw": "{IN_JSON}"}}')
    repo.git("switch", "-q", "-c", "side")
    second = commit(repo, TEXT, ".memory/tests/a.toml")
    repo.git("switch", "-q", "-c", "left", "HEAD~1")
    third = commit(repo, f'{{"raw": "and {IN_JSON}"}}')
    repo.git("switch", "-q", "main")
    commit(repo, "{}")
    repo.git("merge", "-q", "-s", "ours", "side", "-m", "without it")
    repo.git("branch", "-D", "side")
    (found,), warnings = search(repo)
    assert (found.startswith("3 commits of this repository ("), warnings) == (True, [])
    assert {first, second, third} == set(found.partition("(")[2].rstrip(")").split(", "))


def test_a_store_below_a_link_is_searched(repo: Repo, tmp_path: Path) -> None:
    held = commit(repo, TEXT)
    link = tmp_path / "link"
    link.symlink_to(repo.root)
    found = commits_with(str(link / ".memory"), lambda blocks: has_any(blocks, [TEXT.encode()]))
    assert [one[:10] for one in found] == [held]


def test_what_git_lacks_is_named_beside_what_was_found(repo: Repo) -> None:
    held = commit(repo, TEXT)
    commit(repo, "gone")
    blob = str(repo.git("rev-parse", f"HEAD:{PLACE}"))
    (repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    quotes, (warning,) = search(repo)
    assert quotes == [f"1 commit of this repository ({held})"]
    assert "cannot search all commits of this repository for other copies of the text: 1 version" in warning


def test_a_text_across_two_blocks_is_found() -> None:
    for cut in range(len(TEXT.encode())):
        data = b"before " + TEXT.encode() + b" behind"
        blocks = [data[: 7 + cut], data[7 + cut : 9 + cut], b"", data[9 + cut :]]
        assert has_any(iter(blocks), [b"another text, and a longer one than that", TEXT.encode()])
    assert not has_any([b"before", b"behind"], [TEXT.encode()])
    assert not has_any([b"before"], [])
