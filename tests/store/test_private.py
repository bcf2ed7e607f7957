"""Private state lies where `git clean` and a lost work tree do not reach it, and comes together from wherever it waited."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from tests.conftest import memory, rewrite, slow_but
from tests.faults.scene import warm_up
from tests.store.conftest import commit, git, memcli, repository

NOTE = "We cache pages for 60 seconds."
needs_rights = pytest.mark.skipif(sys.platform != "linux", reason="root cannot be bound by permissions elsewhere")


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    warm_up()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


def done(folder: Path, *lines: tuple[str, ...]) -> str:
    """Runs command lines that succeed; what the last one prints."""
    out = ""
    for line in lines:
        ended = memcli(folder, *line)
        assert ended.code == 0, (line, ended)
        out = ended.out
    return out


def fill(folder: Path) -> str:
    """Puts something of each kind into the private state of a new store in `folder`; the id of a session."""
    make_store({"root": str(folder)}, {})
    done(
        folder,
        ("remember", "We chose PostgreSQL.", "--path", "db/choice"),
        ("remember", "We chose Rust.", "--path", "lang/choice", "--propose"),
        ("remember", NOTE, "--path", "cache/pages"),
        ("forget", "cache/pages", "--purge", "--yes"),
    )
    session = done(folder, ("session", "start")).strip()
    said = ("session", "add", session, "--role", "user", "We decided to use Redis.")
    done(folder, said, ("session", "end", session), ("off",))
    return session


def check(folder: Path, session: str) -> None:
    """All that `fill` put there is there."""
    assert _ids(done(folder, ("session", "list", "--json"))) == [session]
    assert "We chose Rust." in done(folder, ("inbox", "--json"))
    deleted = memcli(folder, "restore", "--list")
    assert ("cache/pages" in deleted.out, "memory is off" in deleted.err.lower()) == (True, True)
    assert "We decided to use Redis." in done(folder, ("recall", "redis"))
    assert done(folder, ("trust", "--status")).startswith(f"{folder}/.memory is trusted")
    done(folder, ("store", "audit", "--verify"), ("check", "store"))


def _ids(listed: str) -> list[str]:
    return [one["id"] for one in json.loads(listed)]


def test_it_survives_a_clean_and_a_lost_store(folder: Path) -> None:
    session = fill(folder)
    private = Path(private_folder(str(folder / ".memory")))
    assert (private, private.stat().st_mode & 0o777) == (folder / ".git" / "memcli" / ".memory", 0o700)
    assert git(folder, "status", "--short") == "?? .memory/\n"
    commit(folder, "memory")
    assert git(folder, "ls-files").split() == [".memory/.gitignore", ".memory/spaces/main.json", "README.md"]
    git(folder, "clean", "-fdxq")
    check(folder, session)
    shutil.rmtree(folder / ".memory")
    git(folder, "restore", ".memory")
    check(folder, session)


def linked(tmp_path: Path) -> tuple[Path, Path]:
    first = repository(tmp_path / "shop")
    make_store({"root": str(first)}, {})
    done(first, ("remember", "We chose Go.", "--path", "lang/old"))
    commit(first, "memory")
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
    commit(first, "memory of the first")
    git(second, "reset", "-q", "--hard", "HEAD")
    git(second, "merge", "-q", git(first, "rev-parse", "HEAD").strip())
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
    private = outer / ".git" / "modules" / "lib" / "memcli" / ".memory"
    assert private_folder(str(outer / "lib" / ".memory")) == str(private)
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
def test_it_moves_with_its_repository(folder: Path, tmp_path: Path) -> None:
    session = fill(folder)
    folder.rename(tmp_path / "market")
    check(tmp_path / "market", session)
    shutil.copytree(tmp_path / "market", tmp_path / "copy")
    check(tmp_path / "copy", session)


@pytest.mark.slow
def test_a_clone_and_an_archive_bring_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("HOME", str(tmp_path / "stranger"))
        fill(folder)
        commit(folder, "memory")
    git(tmp_path, "clone", "-q", str(folder), str(tmp_path / "clone"))
    assert done(tmp_path / "clone", ("session", "list", "--json")) == "[]\n"
    status = done(tmp_path / "clone", ("trust", "--status")).split("\n")[0]
    assert "trusted" not in status.replace("not trusted", "")
    shutil.copytree(folder, tmp_path / "unpacked")
    listed = memcli(tmp_path / "unpacked", "session", "list", "--json")
    assert (listed.out, "came from another machine" in listed.err) == ("[]\n", True)
    assert memcli(tmp_path / "unpacked", "recall", "redis", "--fail-empty").code == 3


@pytest.mark.slow
def test_a_git_file_that_names_a_strange_repository_is_not_followed(folder: Path, tmp_path: Path) -> None:
    fill(folder)
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    link = unpacked / ".git"
    for make in (lambda: link.write_text(f"gitdir: {folder / '.git'}\n"), lambda: link.symlink_to(folder / ".git")):
        link.unlink(missing_ok=True)
        make()
        assert private_folder(str(unpacked / ".memory")) == str(unpacked / ".memory" / "local")


@pytest.mark.slow
def test_two_stores_of_a_repository_keep_apart(folder: Path) -> None:
    fill(folder)
    (folder / "pkg").mkdir()
    make_store({"root": str(folder / "pkg")}, {})
    for line in (("session", "list", "--json"), ("inbox", "--json")):
        assert done(folder / "pkg", line).strip() == "[]"
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
    doctor = memcli(folder / "sub", "doctor", "--json")
    (found,) = (one for one in json.loads(doctor.out) if str(private) in one["found"])
    assert (doctor.code, found["ok"], "export --private" in found["fix"]) == (8, False, True)
    git(folder, "mv", "sub/.memory", ".")
    assert stranded(str(folder)) == {}


@contextmanager
def closed(top: Path) -> Iterator[None]:
    """Within, nothing below `top` can be written; the sandboxes of some agents do that with `.git`."""
    for path in (top, *top.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        yield
    finally:
        top.chmod(0o700)
        for path in sorted(top.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)


def _bytes(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


@needs_rights
def test_what_cannot_be_written_waits_and_is_folded_in(folder: Path) -> None:
    session = fill(folder)
    done(folder, ("on",), ("session", "resume", session))
    private = folder / ".git" / "memcli"
    before = _bytes(private)
    with closed(folder / ".git"):
        assert "We decided to use Redis." in done(folder, ("recall", "redis"))
        done(
            folder,
            ("forget", "db/choice"),
            ("remember", "We chose uv.", "--path", "tools/uv", "--propose"),
            ("session", "add", session, "--role", "user", "And we log to stderr."),
            ("remember", "We use make.", "--path", "tools/make"),
            ("forget", "tools/make", "--purge", "--yes"),
        )
        assert "We chose uv." in done(folder, ("inbox", "--json"))
        assert _bytes(private) == before
        doctor = memcli(folder, "doctor")
        assert doctor.code != 0
        assert "cannot be written" in doctor.out
        assert "changes wait in .memory/local" in doctor.out
    assert "And we log to stderr." in done(folder, ("session", "show", session))
    proposed, deleted = done(folder, ("inbox", "--json")), done(folder, ("restore", "--list"))
    assert [text in proposed for text in ("We chose uv.", "We chose Rust.")] == [True, True]
    assert [path in deleted for path in ("tools/make", "cache/pages")] == [True, True]
    assert "db/choice" in done(folder, ("store", "audit", "--verify"), ("store", "audit"))
    assert not (folder / ".memory" / "local" / "waiting").exists()


READS = """list; recall postgresql; get db/choice; status --stats; guard; check code; export --out /dev/stdout; inbox; check store;
session list; restore --list; store audit --verify; trust --status"""
TABS = ("remember", "We use tabs.", "--path", "tools/tabs")
WRITES = (
    TABS, (*TABS, "--propose"), ("forget", "db/choice"), ("forget", "db/choice", "--purge", "--yes"), ("session", "start"), ("gc",),
)  # fmt: skip


@needs_rights
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clone", "used", "no repository", "with a copy"])
def test_what_cannot_be_written_anywhere_is_read(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    if kind != "no repository":
        repository(folder)
    session = fill(folder)
    done(folder, ("on",))
    if kind == "clone":
        commit(folder, "memory")
        git(tmp_path, "clone", "-q", str(folder), str(tmp_path / "clone"))
        folder = tmp_path / "clone"
    if kind == "with a copy":
        for path in ((folder / ".git"), *(folder / ".git").rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
        done(folder, ("remember", "We chose uv.", "--path", "tools/uv", "--propose"))
    before = _bytes(folder)
    with closed(folder):
        for line in (tuple(one.split()) for one in READS.split(";")):
            ended = memcli(folder, *line)
            code = 3 if (kind, line) == ("no repository", ("guard",)) else 0  # without git there are no changes
            assert (ended.code, len(ended.err.splitlines()) < 2) == (code, True), (line, ended.err)
        assert "We chose PostgreSQL." in done(folder, ("recall", "postgresql"))
        doctor = memcli(folder, "doctor")
        assert (doctor.code, "FAIL  store" in doctor.out, "changes wait" in doctor.out) == (8, True, False)
        proposed = done(folder, ("inbox", "--json"))
        if kind != "clone":
            assert _ids(done(folder, ("session", "list", "--json"))) == [session]
            assert "We chose Rust." in proposed
        assert ("We chose uv." in proposed) == (kind == "with a copy")
        for line in WRITES:
            ended = memcli(folder, *line)
            assert (ended.code, len(ended.err.splitlines())) == (8, 1), (line, ended.err)
        assert _bytes(folder) == before


@needs_rights
def test_nothing_is_said_to_be_erased_that_cannot_be(folder: Path) -> None:
    session = fill(folder)
    space = folder / ".memory" / "spaces" / "main.json"
    before = _bytes(folder / ".git" / "memcli"), space.read_bytes()
    purge = ("--purge", "--now", "--yes")
    with closed(folder / ".git"):
        for line in (
            ("forget", "db/choice", *purge), ("forget", "cache/pages", *purge), ("session", "delete", session, "--yes"),
        ):  # fmt: skip
            ended = memcli(folder, *line)
            assert (ended.code, "cannot be written" in ended.err) == (8, True), line
            assert len(ended.err.strip().splitlines()) <= 3
        assert (_bytes(folder / ".git" / "memcli"), space.read_bytes()) == before
        done(folder, TABS, ("forget", "tools/tabs", *purge))
        assert not _holding(folder, "We use tabs.")
        done(folder, ("forget", "db/choice", "--purge", "--yes"))
        assert "erased" not in done(folder, ("gc", "--freeze-clock", "2036-01-01T00:00:00Z", "--trust-clock"))
    done(folder, ("session", "delete", session, "--yes"), ("forget", "cache/pages", *purge))
    assert not _holding(folder, NOTE)


def _holding(top: Path, text: str) -> list[str]:
    return [path for path, data in _bytes(top).items() if text.encode() in data]


@needs_rights
@pytest.mark.parametrize(
    "how", slow_but(("closed",), ["closed", "closed store", "not searchable", "file", "store file"])
)
def test_a_folder_that_cannot_be_used_does_not_pass_for_empty(folder: Path, how: str) -> None:
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
            ended = memcli(folder, *line)
            assert (ended.code, ended.out) == (8, ""), line
            assert ended.err.startswith(f"memcli: cannot read the private state in {top}/.memory: ")
        doctor = memcli(folder, "doctor")
        assert (doctor.code, "cannot read the private state" in doctor.out) == (8, True)
        assert "Traceback" not in doctor.err
    finally:
        broken.chmod(0o700)


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
    commit(folder, "a journal", "-f")
    PrivatePlace(Layout(str(folder / ".memory"))).claim()
    assert journal.exists()
    assert not (folder / ".git" / "memcli" / ".memory" / "spaces").exists()
    for line in (("check", "store"), ("space", "list"), ("recall", "journal")):
        ended = memcli(folder, *line)
        assert (ended.code, "No such file" in ended.err) == (0, False)


def test_what_both_sides_changed_is_joined(folder: Path) -> None:
    make_store({"root": str(folder)}, {})
    done(folder, ("remember", "We chose PostgreSQL.", "--path", "db/choice"))
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
    for top, data in {private: ours, root / "local": theirs, root / "local" / "waiting": base}.items():
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
        assert set((ours or b"").splitlines()) | set(new) <= set((after or b"").splitlines())
    assert not (root / "local" / LINES).exists()
