"""`memcli check secrets`: where the secrets are, without saying them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import git
from tests.conftest import NOW, Run, memory, open_at, rewrite
from tests.safety.secrets_corpus import secret

TOKEN = secret("github_token", 900)[1]
OTHER = secret("stripe_key", 900)[1]


def write(folder: Path, raw: str, name: str = "a") -> None:
    """Puts a memory into the store past redaction, as a text editor would."""
    rewrite(open_at(folder).store, lambda space: space.put([memory(name, raw=raw)], NOW))


@pytest.fixture
def repository(run: Run, tmp_path: Path) -> Path:
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    run("init")
    return tmp_path


def test_a_secret_in_a_memory_is_named_by_place(run: Run, repository: Path) -> None:
    write(repository, f"with {TOKEN}")
    told = run("check", "secrets")
    assert told.code == 6
    assert told.out.startswith(".memory/spaces/main.json: mem_a notes/a: raw: github_token ")
    assert TOKEN not in told.out + told.err
    assert "memcli edit" in told.err
    (found,) = run("check", "secrets", "--json").json["found"]
    mark = found.pop("mark")
    assert found == {
        "file": ".memory/spaces/main.json", "id": "mem_a", "path": "notes/a", "field": "raw", "kind": "github_token",
    }  # fmt: skip
    run("edit", "mem_a", "--set", f"raw=still {TOKEN}")
    assert run("check", "secrets").code == 0
    assert re.fullmatch(r"[0-9a-f]{8}", mark)


def test_an_address_in_a_path_is_not_printed(run: Run, repository: Path) -> None:
    path = "mail/bob.smith@acme-corp.com/x"
    rewrite(open_at(repository).store, lambda space: space.put([memory("a", raw="Mail.", path=path)], NOW))
    told = run("check", "secrets")
    assert (told.code, "acme" in told.out + told.err, "mem_a mail/redacted-email-" in told.out) == (6, False, True)


def test_a_mark_can_be_allowed(run: Run, repository: Path) -> None:
    write(repository, f"with {TOKEN}")
    mark = run("check", "secrets", "--json").json["found"][0]["mark"]
    run("space", "policy", "main", "--set", f'pii_redaction={{"allow": ["{mark}"]}}')
    assert run("check", "secrets").code == 0
    assert TOKEN in run("recall", "--kind", "fact", "--include-raw").out


def test_files_as_a_hook_names_them(run: Run, repository: Path) -> None:
    write(repository, f"with {TOKEN}")
    (repository / "app.py").write_text(f"# ann.lee@corp.net\n\nkey = '{OTHER}'\n")
    (repository / "image.png").write_bytes(b"\x89PNG\0\xff" + bytes(range(256)))
    (repository / "empty").touch()
    os.mkfifo(repository / "pipe")
    told = run("check", "secrets", ".memory/spaces/main.json", "app.py", "image.png", "empty", "pipe", "/tmp")
    assert told.code == 6
    lines = told.out.splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [
        ".memory/spaces/main.json: mem_a notes/a: raw: github_token",
        "app.py:3: stripe_key",
    ]
    told = run("check", "secrets", ".")
    assert (told.code, told.out) == (0, "no secrets in 0 files\n")
    assert told.err.startswith("memcli: only files are scanned")
    assert run("check", "secrets", "missing.py").code == 3


def test_a_clean_store_and_files_without_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(f"key = '{OTHER}'\n")
    assert run("check", "secrets", "app.py").out == "app.py:1: stripe_key\n"
    assert run("check", "secrets").code == 3
    run("remember", f"with {TOKEN}", "--path", "a")
    told = run("check", "secrets")
    assert (told.code, told.out) == (0, "no secrets in 1 file\n")
    assert run("check", "secrets", "--json").json == {"files": 1, "found": []}


def test_staged(run: Run, repository: Path) -> None:
    write(repository, "plain")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "one")
    write(repository, f"with {TOKEN}")
    assert run("check", "secrets", "--staged").out == "no secrets in 0 files\n"
    git(repository, "add", "-A")
    write(repository, "plain again")
    told = run("check", "secrets", "--staged")
    assert told.code == 6
    assert told.out.startswith(".memory/spaces/main.json: mem_a notes/a: raw: github_token ")


def test_history(run: Run, repository: Path) -> None:
    assert run("check", "secrets", "--history").out == "no secrets in 0 files\n"
    for raw in ("plain", f"with {TOKEN}", "plain again"):
        write(repository, raw)
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", raw[:5])
    git(repository, "switch", "-q", "-c", "side", "HEAD~2")
    write(repository, f"with {OTHER}", "b")
    git(repository, "commit", "-q", "-a", "-m", "side")
    git(repository, "switch", "-q", "main")
    assert run("check", "secrets").code == 0
    told = run("check", "secrets", "--history")
    assert told.code == 6
    assert TOKEN not in told.out
    kinds = sorted(line.split(": ")[-1].split()[0] for line in told.out.splitlines())
    assert kinds == ["github_token", "stripe_key"]
    assert all(line.split(":")[1] == ".memory/spaces/main.json" for line in told.out.splitlines())
    assert len(run("check", "secrets", "--history", "--json").json["found"][0]["commit"]) == 40
    assert "history" in told.err
