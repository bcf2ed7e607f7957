"""Private state lies where `git clean` and a lost work tree do not reach it, and comes together from wherever it waited."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.workspace import load_space
from memcli.codec.audit import Link, bare, entries, link_of, seal, verify
from memcli.store.folding import fold
from memcli.store.layout import Layout
from memcli.store.place import PrivatePlace
from memcli.store.private import private_folder, stores_of, stranded
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace
from tests.conftest import ROOT, memory, rewrite, slow_but
from tests.faults.scene import drop_rights
from tests.store.test_place import git

NOTE = "We cache pages for 60 seconds."


def memcli(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs memcli in a process of its own, which permissions bind even where root runs the tests."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    line = [sys.executable, "-P", "-m", "memcli", *arguments]
    return subprocess.run(
        line, cwd=folder, env=environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        preexec_fn=drop_rights if sys.platform == "linux" else None,
    )  # fmt: skip


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Shop\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def fill(folder: Path) -> str:
    """Puts something of each kind into the private state of a new store in `folder`; the id of a session."""
    make_store({"root": str(folder)}, {})
    assert memcli(folder, "remember", "We chose PostgreSQL.", "--path", "db/choice").returncode == 0
    assert memcli(folder, "remember", "We chose Rust.", "--path", "lang/choice", "--propose").returncode == 0
    assert memcli(folder, "remember", NOTE, "--path", "cache/pages").returncode == 0
    assert memcli(folder, "forget", "cache/pages", "--purge", "--yes").returncode == 0
    session = memcli(folder, "session", "start").stdout.strip()
    assert memcli(folder, "session", "add", session, "--role", "user", "We decided to use Redis.").returncode == 0
    assert memcli(folder, "session", "end", session).returncode == 0
    assert memcli(folder, "off").returncode == 0
    return session


def check(folder: Path, session: str) -> None:
    """All that `fill` put there is there."""
    told = {name: memcli(folder, *name.split()) for name in ("session list --json", "inbox --json", "restore --list")}
    assert [one["id"] for one in json.loads(told["session list --json"].stdout)] == [session]
    assert "We chose Rust." in told["inbox --json"].stdout
    assert "cache/pages" in told["restore --list"].stdout
    assert "memory is off" in told["restore --list"].stderr.lower()
    assert "We decided to use Redis." in memcli(folder, "recall", "redis").stdout
    assert memcli(folder, "trust", "--status").stdout.startswith(f"{folder}/.memory is trusted")
    assert memcli(folder, "store", "audit", "--verify").returncode == 0
    assert memcli(folder, "check", "store").returncode == 0


def test_it_survives_a_clean_and_a_lost_store(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    session = fill(folder)
    private = Path(private_folder(str(folder / ".memory")))
    assert private == folder / ".git" / "memcli" / ".memory"
    assert private.stat().st_mode & 0o777 == 0o700
    assert answer(folder, "status", "--short") == "?? .memory/"
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "memory")
    assert answer(folder, "ls-files").split() == [".memory/.gitignore", ".memory/spaces/main.json", "README.md"]
    git(folder, "clean", "-fdxq")
    check(folder, session)
    shutil.rmtree(folder / ".memory")
    git(folder, "restore", ".memory")
    check(folder, session)


def answer(folder: Path, *arguments: str) -> str:
    """What `git ARGUMENTS` prints."""
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def linked(tmp_path: Path) -> tuple[Path, Path]:
    first = repository(tmp_path / "shop")
    make_store({"root": str(first)}, {})
    memcli(first, "remember", "We chose Go.", "--path", "lang/old")
    git(first, "add", ".")
    git(first, "commit", "-qm", "memory")
    git(first, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    return first, tmp_path / "linked"


def bare_with_trees(tmp_path: Path) -> tuple[Path, Path]:
    first = repository(tmp_path / "shop")
    git(tmp_path, "clone", "-q", "--bare", str(first), str(tmp_path / "shop.git"))
    for name in ("one", "two"):
        git(tmp_path / "shop.git", "worktree", "add", "-q", str(tmp_path / name), "-b", name)
    return tmp_path / "one", tmp_path / "two"


@pytest.mark.parametrize("make", slow_but((linked,), [linked, bare_with_trees]))
def test_all_work_trees_of_a_repository_share_it(make: Callable[[Path], tuple[Path, Path]], tmp_path: Path) -> None:
    first, second = make(tmp_path)
    session = fill(first)
    git(first, "add", ".")
    git(first, "commit", "-qm", "memory of the first")
    git(second, "reset", "-q", "--hard", "HEAD")
    git(second, "merge", "-q", answer(first, "rev-parse", "HEAD"))
    assert private_folder(str(first / ".memory")) == os.path.realpath(private_folder(str(second / ".memory")))
    check(second, session)
    git(second, "clean", "-fdxq")
    shutil.rmtree(second)
    check(first, session)


@pytest.mark.slow
def test_a_submodule_has_its_own(tmp_path: Path) -> None:
    inner, outer = repository(tmp_path / "inner"), repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    session = fill(outer / "lib")
    assert private_folder(str(outer / "lib" / ".memory")) == str(
        outer / ".git" / "modules" / "lib" / "memcli" / ".memory"
    )
    git(outer / "lib", "clean", "-fdxq", "-e", ".memory")
    check(outer / "lib", session)
    assert not (outer / ".git" / "memcli").exists()


@pytest.mark.slow
def test_it_moves_where_git_begins_after_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    session = fill(folder)
    assert private_folder(str(folder / ".memory")) == str(folder / ".memory" / "local")
    check(folder, session)
    git(folder, "init", "-q", "-b", "main")
    check(folder, session)
    left = {path.name for path in (folder / ".memory" / "local").iterdir()}
    assert left.isdisjoint({"audit", "sessions", "spaces", "inbox", "trash", "trust.json", "off", "waiting"})


@pytest.mark.slow
def test_it_moves_with_its_repository(tmp_path: Path) -> None:
    session = fill(repository(tmp_path / "shop"))
    (tmp_path / "shop").rename(tmp_path / "market")
    check(tmp_path / "market", session)
    shutil.copytree(tmp_path / "market", tmp_path / "copy")
    check(tmp_path / "copy", session)


@pytest.mark.slow
def test_a_clone_and_an_archive_bring_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "shop")
    own = os.environ["HOME"]
    monkeypatch.setenv("HOME", str(tmp_path / "stranger"))
    fill(folder)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "memory")
    monkeypatch.setenv("HOME", own)
    git(tmp_path, "clone", "-q", str(folder), str(tmp_path / "clone"))
    assert memcli(tmp_path / "clone", "session", "list", "--json").stdout == "[]\n"
    assert "trusted" not in memcli(tmp_path / "clone", "trust", "--status").stdout.split("\n")[0].replace(
        "not trusted", ""
    )
    shutil.copytree(folder, tmp_path / "unpacked")
    told = memcli(tmp_path / "unpacked", "session", "list", "--json")
    assert told.stdout == "[]\n"
    assert "came from another machine" in told.stderr
    assert memcli(tmp_path / "unpacked", "recall", "redis", "--fail-empty").returncode == 3


@pytest.mark.slow
def test_a_git_file_that_names_a_strange_repository_is_not_followed(tmp_path: Path) -> None:
    fill(repository(tmp_path / "shop"))
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    (unpacked / ".git").write_text(f"gitdir: {tmp_path / 'shop' / '.git'}\n")
    assert private_folder(str(unpacked / ".memory")) == str(unpacked / ".memory" / "local")
    (unpacked / ".git").unlink()
    (unpacked / ".git").symlink_to(tmp_path / "shop" / ".git")
    assert private_folder(str(unpacked / ".memory")) == str(unpacked / ".memory" / "local")


@pytest.mark.slow
def test_two_stores_of_a_repository_keep_apart(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    fill(folder)
    (folder / "pkg").mkdir()
    make_store({"root": str(folder / "pkg")}, {})
    assert memcli(folder / "pkg", "session", "list", "--json").stdout == "[]\n"
    assert memcli(folder / "pkg", "inbox", "--json").stdout.strip() == "[]"
    assert stores_of(str(folder)) == [str(folder / ".memory"), str(folder / "pkg" / ".memory")]


def test_private_state_without_a_store_is_named(tmp_path: Path) -> None:
    folder, second = linked(tmp_path)
    private = folder / ".git" / "memcli" / ".memory"
    (folder / "sub").mkdir()
    git(folder, "mv", ".memory", "sub/")
    shutil.rmtree(folder / ".memory", ignore_errors=True)
    assert stranded(str(folder)) == {}  # the linked work tree has the store there still
    git(folder, "worktree", "remove", "--force", str(second))
    assert stranded(str(folder)) == {str(private): str(folder / ".memory")}
    told = memcli(folder / "sub", "doctor", "--json")
    (check,) = (one for one in json.loads(told.stdout) if str(private) in one["found"])
    assert (told.returncode, check["ok"], "export --private" in check["fix"]) == (8, False, True)
    git(folder, "mv", "sub/.memory", ".")
    assert stranded(str(folder)) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="root cannot be bound by permissions elsewhere")
def test_what_cannot_be_written_waits_and_is_folded_in(tmp_path: Path) -> None:
    """The sandboxes of some agents let nobody write below `.git`."""
    folder = repository(tmp_path / "shop")
    session = fill(folder)
    assert memcli(folder, "on").returncode == 0
    assert memcli(folder, "session", "resume", session).returncode == 0
    private = folder / ".git" / "memcli"
    before = _bytes(private)
    _close(folder / ".git")
    try:
        assert "We decided to use Redis." in memcli(folder, "recall", "redis").stdout
        for line in (
            ("forget", "db/choice"),
            ("remember", "We chose uv.", "--path", "tools/uv", "--propose"),
            ("session", "add", session, "--role", "user", "And we log to stderr."),
            ("remember", "We use make.", "--path", "tools/make"),
            ("forget", "tools/make", "--purge", "--yes"),
        ):
            told = memcli(folder, *line)
            assert told.returncode == 0, told.stderr
        assert "We chose uv." in memcli(folder, "inbox", "--json").stdout
        assert _bytes(private) == before
        doctor = memcli(folder, "doctor")
        assert doctor.returncode != 0
        assert "cannot be written" in doctor.stdout
        assert "changes wait in .memory/local" in doctor.stdout
    finally:
        _open(folder / ".git")
    assert "And we log to stderr." in memcli(folder, "session", "show", session).stdout
    proposed = memcli(folder, "inbox", "--json").stdout
    assert "We chose uv." in proposed
    assert "We chose Rust." in proposed
    listed = memcli(folder, "restore", "--list").stdout
    assert "tools/make" in listed
    assert "cache/pages" in listed
    assert memcli(folder, "store", "audit", "--verify").returncode == 0
    assert "db/choice" in memcli(folder, "store", "audit").stdout
    assert not (folder / ".memory" / "local" / "waiting").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="root cannot be bound by permissions elsewhere")
@pytest.mark.parametrize("kind", slow_but((), ["clone", "used", "no repository", "with a copy"]))
def test_what_cannot_be_written_anywhere_is_read(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    if kind != "no repository":
        repository(folder)
    session = fill(folder)
    assert memcli(folder, "on").returncode == 0
    if kind == "clone":
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "memory")
        git(tmp_path, "clone", "-q", str(folder), str(tmp_path / "clone"))
        folder = tmp_path / "clone"
    if kind == "with a copy":
        _close(folder / ".git")
        assert memcli(folder, "remember", "We chose uv.", "--path", "tools/uv", "--propose").returncode == 0
    before = _bytes(folder)
    _close(folder)
    try:
        for line in (
            ("list",), ("recall", "postgresql"), ("get", "db/choice"), ("status", "--stats"), ("guard",), ("check", "code"),
            ("export", "--out", "/dev/stdout"), ("inbox",), ("check", "store"), ("session", "list"), ("restore", "--list"), ("store", "audit", "--verify"),
            ("trust", "--status"),
        ):  # fmt: skip
            told = memcli(folder, *line)
            code = 3 if (kind, line) == ("no repository", ("guard",)) else 0  # without git there are no changes
            assert (told.returncode, len(told.stderr.splitlines()) < 2) == (code, True), (line, told.stderr)
        assert "We chose PostgreSQL." in memcli(folder, "recall", "postgresql").stdout
        doctor = memcli(folder, "doctor")
        assert (doctor.returncode, "FAIL  store" in doctor.stdout) == (8, True)
        assert "changes wait" not in doctor.stdout
        if kind != "clone":
            assert [one["id"] for one in json.loads(memcli(folder, "session", "list", "--json").stdout)] == [session]
            assert "We chose Rust." in memcli(folder, "inbox", "--json").stdout
        assert ("We chose uv." in memcli(folder, "inbox", "--json").stdout) == (kind == "with a copy")
        for line in (
            ("remember", "We use tabs.", "--path", "tools/tabs"), ("remember", "We use tabs.", "--path", "tools/tabs", "--propose"),
            ("forget", "db/choice"), ("forget", "db/choice", "--purge", "--yes"), ("session", "start"), ("gc",),
        ):  # fmt: skip
            told = memcli(folder, *line)
            assert (told.returncode, len(told.stderr.splitlines())) == (8, 1), (line, told.stderr)
        assert _bytes(folder) == before
    finally:
        _open(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="root cannot be bound by permissions elsewhere")
def test_nothing_is_said_to_be_erased_that_cannot_be(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    session = fill(folder)
    before = _bytes(folder / ".git" / "memcli"), (folder / ".memory" / "spaces" / "main.json").read_bytes()
    _close(folder / ".git")
    try:
        for line in (
            ("forget", "db/choice", "--purge", "--now", "--yes"),
            ("forget", "cache/pages", "--purge", "--now", "--yes"),
            ("session", "delete", session, "--yes"),
        ):
            told = memcli(folder, *line)
            assert (told.returncode, "cannot be written" in told.stderr) == (8, True), line
            assert len(told.stderr.strip().splitlines()) <= 3
        assert (
            _bytes(folder / ".git" / "memcli"),
            (folder / ".memory" / "spaces" / "main.json").read_bytes(),
        ) == before
        assert memcli(folder, "remember", "We use tabs.", "--path", "tools/tabs").returncode == 0
        assert memcli(folder, "forget", "tools/tabs", "--purge", "--now", "--yes").returncode == 0
        assert not [path for path in folder.rglob("*") if path.is_file() and b"We use tabs." in path.read_bytes()]
        assert memcli(folder, "forget", "db/choice", "--purge", "--yes").returncode == 0
        late = memcli(folder, "gc", "--freeze-clock", "2036-01-01T00:00:00Z", "--trust-clock")
        assert (late.returncode, "erased" in late.stdout) == (0, False)
    finally:
        _open(folder / ".git")
    assert memcli(folder, "session", "delete", session, "--yes").returncode == 0
    assert memcli(folder, "forget", "cache/pages", "--purge", "--now", "--yes").returncode == 0
    assert not [path for path in folder.rglob("*") if path.is_file() and NOTE.encode() in path.read_bytes()]


@pytest.mark.skipif(sys.platform != "linux", reason="root cannot be bound by permissions elsewhere")
@pytest.mark.parametrize(
    "how", slow_but(("closed",), ["closed", "closed store", "not searchable", "file", "store file"])
)
def test_a_folder_that_cannot_be_used_does_not_pass_for_empty(tmp_path: Path, how: str) -> None:
    folder = repository(tmp_path / "shop")
    fill(folder)
    top = folder / ".git" / "memcli"
    broken = top / ".memory" if "store" in how or how == "not searchable" else top
    if "file" in how:
        shutil.rmtree(broken)
        broken.write_text("")
    else:
        broken.chmod(0o400 if how == "not searchable" else 0)
    try:
        for line in (("session", "list"), ("trust", "--status"), ("recall", "redis"), ("inbox",)):
            told = memcli(folder, *line)
            assert (told.returncode, told.stdout) == (8, ""), line
            assert told.stderr.startswith(f"memcli: cannot read the private state in {top}/.memory: ")
        doctor = memcli(folder, "doctor")
        assert (doctor.returncode, "cannot read the private state" in doctor.stdout) == (8, True)
        assert "Traceback" not in doctor.stderr
    finally:
        broken.chmod(0o700)


def _close(top: Path) -> None:
    for path in (top, *top.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)


def _open(top: Path) -> None:
    top.chmod(0o700)
    for path in sorted(top.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _bytes(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


@pytest.mark.slow
def test_what_earlier_versions_kept_elsewhere_moves(folder: Path) -> None:
    session = fill(folder)
    store, private = folder / ".memory", folder / ".git" / "memcli" / ".memory"
    for name in ("audit", "sessions"):
        shutil.move(private / name, store / name)
    for file in [*(store / "sessions").glob("main.*")]:
        (store / "local" / "sessions").mkdir(exist_ok=True)
        shutil.move(file, store / "local" / "sessions" / file.name)
    shutil.move(private / "spaces" / "journal.json", store / "spaces" / "journal.json")
    for name in ("inbox", "trash", "trust.json", "off"):
        shutil.move(private / name, store / "local" / name)
    shutil.rmtree(folder / ".git" / "memcli")
    with (store / ".gitignore").open("a") as file:
        file.write("sessions/*/*\n")
    check(folder, session)
    assert sorted(path.name for path in (store / "spaces").iterdir()) == ["main.json"]


def test_tracked_files_are_nobodys_private_state(folder: Path) -> None:
    make_store({"root": str(folder)}, {})
    journal = folder / ".memory" / "spaces" / "journal.json"
    journal.write_text("{}")
    git(folder, "add", "-f", str(journal))
    git(folder, "commit", "-qm", "a journal")
    PrivatePlace(Layout(str(folder / ".memory"))).claim()
    assert journal.exists()
    assert not (folder / ".git" / "memcli" / ".memory" / "spaces").exists()
    for line in (("check", "store"), ("space", "list"), ("recall", "journal")):
        told = memcli(folder, *line)
        assert (told.returncode, "No such file" in told.stderr) == (0, False)


def test_what_both_sides_changed_is_joined(folder: Path) -> None:
    make_store({"root": str(folder)}, {})
    memcli(folder, "remember", "We chose PostgreSQL.", "--path", "db/choice")
    workspace = open_workspace({"root": str(folder)}, os.environ)
    rewrite(workspace.store, lambda space: space.put([memory("a")], "2026-01-01T00:00:00Z"), "journal")
    root, private = str(folder / ".memory"), Path(private_folder(str(folder / ".memory")))
    local = folder / ".memory" / "local"
    for name in ("audit", "spaces"):
        shutil.copytree(private / name, local / name)
        shutil.copytree(private / name, local / "waiting" / name)
    data = json.loads((local / "spaces" / "journal.json").read_bytes())
    data["objects"][0]["raw"] = "Changed there."
    (local / "spaces" / "journal.json").write_text(json.dumps(data))
    log = (local / "audit" / "main.jsonl").read_bytes()
    entry = {**bare(next(entries(log))), "command": "there"}
    (local / "audit" / "main.jsonl").write_bytes(log + seal(entry, link_of(log, is_whole=True) or Link()) + b"\n")
    rewrite(workspace.store, lambda space: space.put([memory("b")], "2026-01-02T00:00:00Z"), "journal")
    workspace.audit.append("main", [{**bare(next(entries(log))), "command": "here"}])
    fold(root, str(private))
    objects = {one.id: one.raw for one in load_space(workspace.store, "journal").objects}
    assert objects == {"mem_a": "Changed there.", "mem_b": "The text of b."}
    after = (private / "audit" / "main.jsonl").read_bytes()
    assert [one["command"] for one in entries(after)][1:] == ["here", "there"]
    assert verify(after).broken == 0
    assert not (local / "waiting").exists()


LINES = "sessions/talk.jsonl"
TEXTS = st.sampled_from([None, b"", b"one\n", b"one\ntwo\n", b"three\n"])


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_a_fold_loses_no_line_and_is_done_once(
    base: bytes | None, ours: bytes | None, theirs: bytes | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fold")
    root, private = folder / ".memory", folder / "private"
    files = {private: ours, root / "local": theirs, root / "local" / "waiting": base}
    for top, data in files.items():
        top.mkdir(parents=True, exist_ok=True)
        if data is not None:
            (top / LINES).parent.mkdir(exist_ok=True)
            (top / LINES).write_bytes(data)
    if base is None:
        shutil.rmtree(root / "local" / "waiting")
    fold(str(root), str(private))
    after = _bytes(private).get(str(private / LINES))
    fold(str(root), str(private))
    assert after == _bytes(private).get(str(private / LINES))
    if theirs is None or theirs == base:
        was_deleted = base is not None and theirs is None and ours == base
        assert after == (None if was_deleted else ours)
    elif ours in (None, base):
        assert after == theirs
    else:
        new = theirs.removeprefix(base or b"").splitlines()
        assert after is not None
        assert set((ours or b"").splitlines()) | set(new) <= set(after.splitlines())
    assert not (root / "local" / LINES).exists()
