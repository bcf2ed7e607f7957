"""What a clone or an archive brings into the folders of this machine is put aside before it is read."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from memcli.git.index_file import find_index
from memcli.store.layout import Layout
from memcli.store.place import PrivatePlace
from memcli.store.trust import signer
from tests.conftest import Run, slow_but
from tests.store.conftest import at_once, commit, git

PLANTED = {
    "local/journal/main/1.request": b'{"now": "2026-01-01T00:00:00Z", "candidates": [], "supersedes": null}\n',
    "local/redaction.key": b"k" * 32,
    "local/trust.json": b'{"format": "memcli/trust", "folder": 1, "unreviewed": []}\n',
    "local/place.json": b'{"format": "memcli/place", "folder": 1, "store": "x", "seal": ""}\n',
    "audit/main.jsonl": b"{}\n",
    "cache/main.index": b"not a database",
}


def plant(store: Path) -> None:
    for name, data in PLANTED.items():
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_bytes(data)


@pytest.fixture
def origin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository of a stranger, who has another home."""
    with monkeypatch.context() as patch:
        patch.setenv("HOME", str(tmp_path.parent / f"{tmp_path.name}-home"))
        (tmp_path / ".git").rmdir()
        git(tmp_path, "init", "-q", "-b", "main")
        run("remember", "We chose PostgreSQL.", "--path", "db/choice")
        commit(tmp_path, "first")
    return tmp_path


def clone(origin: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = origin.parent / f"{origin.name}-clone"
    git(origin.parent, "clone", "-q", str(origin), str(target))
    monkeypatch.chdir(target)
    return target / ".memory"


def plants_left(store: Path) -> list[str]:
    return [name for name, data in PLANTED.items() if (store / name).is_file() and (store / name).read_bytes() == data]


def put_aside(store: Path) -> list[bytes]:
    return [path.read_bytes() for path in (store / "local" / "quarantine").rglob("*") if path.is_file()]


def test_what_a_clone_brings_is_put_aside_and_reported(origin: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(origin / ".memory")
    commit(origin, "planted", "-f")
    store = clone(origin, monkeypatch)
    first = run("recall", "postgresql", "--backend", "basic")
    assert first.code == 0
    assert "came from another machine" in first.err
    assert plants_left(store) == []
    second = run("list")
    assert (second.code, second.err) == (0, "")
    assert "git tracks" in run("doctor").out
    assert "tracked by git" in run("check", "store").out
    assert not json.loads(run("trust", "--status", "--json").out)["accepted"]
    signer(Layout(str(store)), {})(b"secret")
    own = Path(Layout(str(store)).private_folder) / "redaction.key"
    key = own.read_bytes()
    assert key != PLANTED["local/redaction.key"]
    git(store.parent, "status")
    run("list")
    assert own.read_bytes() == key


def test_what_init_makes_in_a_clone_is_not_called_foreign(
    origin: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clone(origin, monkeypatch)
    assert run("init", "--git").code == 0
    told = run("list")
    assert (told.code, told.err) == (0, "")
    assert PrivatePlace(Layout(str(tmp_path / "gone" / ".memory"))).claim() == []


def test_what_a_pull_brings_later_is_put_aside(origin: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    store = clone(origin, monkeypatch)
    run("recall", "postgresql", "--backend", "basic")
    run("trust")
    (store / "cache" / "main.index").unlink(missing_ok=True)
    for name, data in PLANTED.items():
        if name not in ("local/place.json", "local/trust.json"):
            (origin / ".memory" / name).parent.mkdir(parents=True, exist_ok=True)
            (origin / ".memory" / name).write_bytes(data)
    git(origin, "add", "-f", *(f".memory/{name}" for name in plants_left(origin / ".memory")))
    git(origin, "commit", "-qm", "planted")
    git(store.parent, "pull", "-q", "--ff-only")
    assert plants_left(store) != []
    assert "came from another machine" in run("list").err
    assert plants_left(store) == []
    assert json.loads(run("trust", "--status", "--json").out)["accepted"]
    git(store.parent, "reset", "-q", "--hard")
    assert plants_left(store) != []
    run("list")
    assert plants_left(store) == []


def test_an_own_file_that_a_commit_tracks_is_not_called_foreign(
    origin: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = clone(origin, monkeypatch)
    run("list")
    (store / "local" / "notes").write_text("mine")
    git(store.parent, "add", "-f", ".memory/local/notes")
    told = run("list").err
    assert "are tracked by git or came from another machine" in told
    assert "local/notes moved to quarantine; `git rm -r --cached .memory/local` untracks them" in told
    git(store.parent, "rm", "-rq", "--cached", ".memory/local")
    assert run("list").err == ""


def test_an_archive_is_put_aside_whole(run: Run, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / ".git")
    store = tmp_path / ".memory"
    (store / "spaces").mkdir(parents=True)
    plant(store)
    for name in PLANTED:
        os.utime(store / name, (1_700_000_000, 1_700_000_000))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (store / "audit" / "main.jsonl").unlink()
    os.link(victim, store / "audit" / "main.jsonl")
    result = run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    assert result.code == 0
    assert plants_left(store) == []
    assert victim.read_text() == "mine"
    assert run("store", "audit", "--verify").code == 0
    aside = set(put_aside(store))
    assert aside >= {data for n, data in PLANTED.items() if n.startswith("local/")}
    assert PLANTED["cache/main.index"] not in aside  # it can be rebuilt, and holds words


@pytest.mark.parametrize("kind", slow_but(("fifo",), ["fifo", "zero", "folder"]))
@pytest.mark.parametrize("name", ["local/redaction.key", "local/trust.json", "local/state.db", "cache/main.index"])
def test_nothing_waits_for_a_strange_file(run: Run, tmp_path: Path, kind: str, name: str) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    path = tmp_path / ".memory" / name
    path.unlink(missing_ok=True)
    {"fifo": os.mkfifo, "zero": lambda at: at.symlink_to("/dev/zero"), "folder": os.mkdir}[kind](path)
    for arguments in (["recall", "postgresql"], ["list"], ["gc"], ["remember", "mail a@example.com"], ["doctor"]):
        assert "internal" not in run(*arguments).err


def test_others_can_read_nothing_there(run: Run, tmp_path: Path) -> None:
    old, copied = tmp_path / ".memory", tmp_path / "copy" / ".memory"
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    (old / "local" / "old.log").write_text("x")
    for path in (old / "local", old / "local" / "old.log", old / "cache"):
        path.chmod(0o777)
    shutil.copytree(old, copied)
    for line in (
        ("remember", "mail a@example.com", "--propose"), ("recall", "postgresql"),
        ("space", "policy", "main", "--set", "allow_delete=true"), ("forget", "db/choice", "--purge", "--yes"),
    ):  # fmt: skip
        run(*line, "--root", str(copied.parent))
    own = [path for name in ("local", "cache") for path in (copied / name, *(copied / name).rglob("*"))]
    assert [str(path) for path in own if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []


def test_an_emptied_gitignore_exposes_nothing(origin: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (origin / ".memory" / ".gitignore").write_text("")
    git(origin, "commit", "-qam", "emptied")
    store = clone(origin, monkeypatch)
    run("recall", "postgresql")
    assert _status(store) == ""
    doctor = run("doctor")
    assert (doctor.code, "local/" in doctor.out) == (8, True)
    run("remember", "A private note.")
    assert _status(store) == " M .memory/.gitignore\n M .memory/spaces/main.json\n"
    assert run("doctor").code == 0


def _status(folder: Path) -> str:
    return git(folder, "status", "--porcelain", "-uall")


def test_a_hard_link_in_a_cache_is_not_written_through(run: Run, tmp_path: Path) -> None:
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    run("recall", "postgresql")
    store = tmp_path / ".memory"
    names = ["local/audit/main.jsonl", "local/main.lock", "cache/main.index"]
    before = {}
    for name in names:
        os.link(store / name, tmp_path / name.replace("/", "-"))
        before[name] = (store / name).read_bytes()
    for arguments in (["remember", "More."], ["recall", "postgresql"]):
        assert run(*arguments).code == 0
    assert {name: (tmp_path / name.replace("/", "-")).read_bytes() for name in names} == before
    assert run("store", "audit", "--verify").code == 0


def _claim(root: str) -> None:
    Path(root).parent.joinpath(f"claimed-{os.getpid()}").write_text(str(len(PrivatePlace(Layout(root)).claim())))


def test_two_processes_claim_a_place_once(tmp_path: Path) -> None:
    store = tmp_path / ".memory"
    (store / "spaces").mkdir(parents=True)
    plant(store)
    at_once(_claim, [(str(store),)] * 4)
    assert sorted(path.read_text() for path in tmp_path.glob("claimed-*")) == ["0", "0", "0", "3"]


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_the_index_of_git_is_read(tmp_path: Path, version: str, form: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    git(tmp_path, "config", "index.version", version)
    names = [".memory/spaces/main.json", ".memory/local/a", ".memory/Local/B", ".memory/cache/x/" + "y" * 100, "z"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", "-f", ".")
    index = find_index(str(tmp_path))
    assert index is not None
    found = index.below([".memory/local", ".memory/cache"])
    assert [entry.path for entry in found] == sorted(names[1:4])
    assert all(entry.is_file(os.lstat(tmp_path / entry.path)) for entry in found)
    (tmp_path / names[1]).write_text("changed")
    os.utime(tmp_path / names[1], ns=(1, 1))
    assert [e.path for e in index.below([".memory/local"]) if not e.is_file(os.lstat(tmp_path / e.path))] == [names[1]]


def test_a_store_of_a_version_without_seals_is_read_and_its_private_state_put_aside(run: Run, tmp_path: Path) -> None:
    """Nothing tells it from an archive of a stranger. What versions with seals kept there moves: see `test_private.py`."""
    assert run("remember", "We chose PostgreSQL.", "--path", "db/choice").code == 0
    store = tmp_path / ".memory"
    (store / "local" / "place.json").unlink()
    own = {"local/serve-token": b"{}", "local/trust.json": PLANTED["local/trust.json"], "audit/main.jsonl": b"{}\n"}
    for name, data in own.items():
        (store / name).parent.mkdir(exist_ok=True)
        (store / name).write_bytes(data)
    told = run("list", "--json")
    assert [one["path"] for one in json.loads(told.out)] == ["db/choice"]
    assert "cache/ deleted; local/, audit/ moved to quarantine" in told.err
    assert {*own.values()} <= {*put_aside(store)}
    assert not json.loads(run("trust", "--status", "--json").out)["accepted"]
    assert (run("list").err, run("check", "store").code) == ("", 0)
