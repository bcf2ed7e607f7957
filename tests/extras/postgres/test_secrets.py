"""A password of a server is never shown, stored or logged, and a clone names no server before it is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memcli.errors import UsageError
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.opening import close_servers
from memcli.settings import has_password
from memcli.store.layout import Layout
from memcli.store.trust import FileTrust
from tests.conftest import Run
from tests.extras.postgres.conftest import as_user, sql
from tests.servers import new_schema

WORD = "zq9-very-secret"


@pytest.fixture
def url(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A URL with a password that the server takes."""
    with new_schema(postgres) as schema:
        monkeypatch.setenv("MEMCLI_STORE_SCHEMA", schema)
        role = f"owner_{schema}"
        sql(postgres, f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{WORD}'")
        yield as_user(postgres, role, WORD)
        close_servers()
        sql(postgres, f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")


def files_with(root: Path, word: str) -> list[str]:
    files = (Path(folder) / name for folder, _, names in os.walk(root) for name in names)
    return [str(file) for file in files if word.encode() in file.read_bytes()]


def test_no_command_shows_or_keeps_the_password(
    run: Run, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE", url)
    shown = [
        run(*line)
        for line in (
            ["init"], ["remember", "We chose PostgreSQL."], ["recall", "what did we choose", "--json"], ["doctor"],
            ["doctor", "--json"], ["store", "audit"], ["status", "--stats"], ["space", "list"], ["list", "--json"], ["check", "store"], ["trust", "--status"],
        )
    ]  # fmt: skip
    assert [result.code for result in shown] == [0] * len(shown)
    assert not any(WORD in result.out + result.err for result in shown)
    assert files_with(tmp_path, WORD) == []
    with psycopg.connect(url) as connection:
        rows = connection.execute(f"SELECT line FROM {os.environ['MEMCLI_STORE_SCHEMA']}.audit".encode()).fetchall()
        assert rows
        assert not any(WORD.encode() in line for (line,) in rows)


BROKEN = (
    f"postgresql://ann:{WORD}@127.0.0.1:1/x", f"postgresql://ann:{WORD}@[::1/x", f"postgresql://ann:{WORD}@h/x?nonsense=1",
    f"postgresql://h/x?password={WORD}&sslmode=never", f"postgresql://ann:{WORD}@127.0.0.1:1/x?schema=A-B", f"mysql://ann:{WORD}@h/x",
)  # fmt: skip


@pytest.mark.parametrize("debug", ["", "1"])
def test_no_error_shows_the_password(run: Run, monkeypatch: pytest.MonkeyPatch, debug: str) -> None:
    run("init")
    if debug:
        monkeypatch.setenv("MEMCLI_DEBUG", debug)
    for broken in BROKEN:
        monkeypatch.setenv("MEMCLI_STORE", broken)
        for line in (["list"], ["remember", "x"], ["recall", "x", "--json"], ["doctor"]):
            result = run(*line)
            assert (broken, line, WORD in result.out + result.err) == (broken, line, False)
            assert result.code in (2, 8)
            assert debug or line == ["doctor"] or result.err.count("\n") == 1


def test_an_address_does_not_show_it() -> None:
    address = address_of(f"postgresql://ann:{WORD}@h/x", None)
    assert WORD not in repr(address)
    assert address.cleaned(f"no {WORD} here") == "no *** here"
    with pytest.raises(UsageError) as caught:
        address_of(f"postgresql://ann:{WORD}@h/x?nonsense=1", None)
    assert WORD not in f"{caught.value.message}{caught.value.hint}"


def test_a_password_in_a_url_is_seen() -> None:
    urls = {
        "postgresql://ann:word@h/x": True, "postgresql://ann:w@rd@h/x": True, "postgresql://ann:@h/x": True,
        "postgresql://h/x?password=word": True, "postgresql://h/x?a=b&PASS%57ord=word": True,
        "postgresql://h/x?sslpassword=word": True, "postgresql://ann%3Aword@h/x": True, "postgresql:///?password=x": True,
        "postgresql://ann@h:5432/x?sslmode=require": False, "postgresql:///x?service=team": False, "": False,
    }  # fmt: skip
    assert {url: has_password(url) for url in urls} == urls


def test_a_password_in_the_config_is_refused(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / ".memory" / "config.toml").write_text(f'store = "postgresql://ann:{WORD}@h/x"\n')
    for line in (["list"], ["doctor"], ["remember", "x"], ["trust", "--status"]):
        result = run(*line)
        assert result.code in (2, 8)
        assert "contains a password" in result.out + result.err
        assert WORD not in result.out + result.err


def test_a_clone_names_no_server_before_it_is_trusted(run: Run, tmp_path: Path, postgres: str, url: str) -> None:
    run("init")
    named = postgres.replace("postgres:@", "postgres@")
    (tmp_path / ".memory" / "config.toml").write_text(f'store = "{named}"\n')
    FileTrust(Layout(str(tmp_path / ".memory"))).revoke()
    stored = run("remember", "A text for this machine.", "--path", "a")
    assert stored.code == 0
    assert "cloned: ignoring store until you run `memcli trust`" in stored.err
    assert (tmp_path / ".memory" / "spaces" / "main.json").exists()
    assert run("trust", "--yes").code == 0
    assert run("list").out == ""
    assert run("remember", "A text for the team.", "--path", "b").code == 0
    assert "b" in run("list").out
    close_servers()


def test_what_is_read_from_the_repository_stays_here(
    run: Run, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_STORE", url)
    run("remember", "We chose PostgreSQL.", "--path", "db")
    (tmp_path / "guide.md").write_text("# Guide\n\nTo release, tag the commit and push the tag.\n")
    assert run("ingest", "guide.md").code == 0
    assert [file.name for file in (tmp_path / ".memory" / "spaces").iterdir()] == ["repo.json"]
    assert "guide.md" in run("list", "-s", "repo").out
    refused = run("space", "policy", "main", "--set", "visibility=private")
    assert (refused.code, "is on a server, and cannot be private" in refused.err) == (5, True)
