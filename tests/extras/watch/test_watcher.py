"""The watcher on real folders. Tests wait for conditions, never for a time."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from memcli.errors import NotFoundError
from memcli.extras.watch.scan import Scanner, ScanScope, WatchState
from memcli.extras.watch.watcher import Watcher
from memcli.model.changes import Batch
from tests.conftest import slow_but
from tests.ingest.conftest import Repo

PATIENCE = 60.0


@dataclass
class Watched:
    """A watcher at work in a thread, and all it has told."""

    root: Path
    watcher: Watcher
    stop: threading.Event
    batches: list[Batch] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        try:
            for batch in self.watcher.batches():
                if not batch.is_idle:
                    self.batches.append(batch)
        except BaseException as error:
            self.errors.append(error)

    files = property(lambda self: [file for batch in self.batches for file in batch.files])
    removed = property(lambda self: [file for batch in self.batches for file in batch.removed])
    commits = property(lambda self: [batch.commits for batch in self.batches if batch.commits])

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert not self.errors, self.errors
            assert time.monotonic() < deadline, (self.batches, "never came true")
            time.sleep(0.02)

    def settled(self) -> None:
        """Waits for news of a file of our own, before which all that happened earlier has been looked at."""
        name = f"settled-{len(self.batches)}-{time.monotonic_ns()}.txt"
        (self.root / name).write_text("x")
        self.until(lambda: name in self.files)


Start = Callable[..., Watched]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[tuple[Watched, threading.Thread]] = []

    def begin(root: Path, **options: object) -> Watched:
        stop = threading.Event()
        _, state = once(root, None, **options)
        watcher = Watcher(str(root), state=state, stop=stop, quiet=0.05, **options)
        watched = Watched(root, watcher, stop)
        thread = threading.Thread(target=watched.run)
        running.append((watched, thread))
        thread.start()
        watched.settled()
        return watched

    yield begin
    for watched, thread in running:
        watched.stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not watched.errors, watched.errors


def once(root: Path, state: WatchState | None, **options: object) -> tuple[Batch | None, WatchState]:
    watcher = Watcher(str(root), state=state, once=True, **options)
    batches = list(watcher.batches())
    assert len(batches) <= 1
    return (batches[0] if batches else None), watcher.state


def assert_in_step(watched: Watched) -> None:
    """What has been told is, or soon is, exactly what a full scan sees."""
    root = os.path.realpath(watched.root)
    scanner = Scanner(root, ScanScope(root, (), ()))

    def is_in_step() -> bool:
        found = scanner.scan(watched.watcher.state.files, frozenset(), threading.Event())
        return found is not None and not found.changed and not found.removed

    watched.until(is_in_step)


def test_once_catches_up_from_a_state(repo: Repo):
    first = repo.commit("one", {"a.txt": "a", "b.txt": "b", "d/c.txt": "c"})
    told, state = once(repo.root, None)
    assert told is None
    assert state.head == first
    assert once(repo.root, state) == (None, state)

    (repo.root / "b.txt").unlink()
    second = repo.commit("two", {"a.txt": "changed", "new.txt": "n"})
    os.utime(repo.root / "d" / "c.txt", (1, 1))
    saved = WatchState.from_json(state.to_json())
    told, state = once(repo.root, saved)
    assert told == Batch(("a.txt", "new.txt"), ("b.txt",), f"{first}..{second}", left=first)
    assert once(repo.root, state)[0] is None


def test_an_empty_state_makes_all_files_news_but_no_commits(repo: Repo, tmp_path: Path):
    _, state = once(repo.root, None)
    assert state.head == ""
    first = repo.commit("one", {"b.txt": "b", "a.txt": "a", ".gitignore": "*.log\n", "x.log": "x"})
    files = (".gitignore", "a.txt", "b.txt")
    assert once(repo.root, state)[0] == Batch(files, commits=first), "the first commit of all"
    assert once(repo.root, WatchState())[0] == Batch(files)
    warnings: list[str] = []
    found, state = once(repo.root, WatchState("1" * 40), warn=warnings.append)
    assert (found, state.head) == (Batch(files, left="1" * 40), first)
    assert "1111111111 no longer exists" in warnings[0]
    stop = threading.Event()
    stop.set()
    assert list(Watcher(str(repo.root), state=WatchState(), stop=stop).batches()) == []
    (tmp_path / "tree").mkdir()
    watcher = Watcher(str(tmp_path / "tree"), with_git=False, once=True)
    (tmp_path / "tree").rmdir()
    with pytest.raises(NotFoundError):
        list(watcher.batches())


def test_a_checkout_of_an_older_commit_brings_no_commits(repo: Repo):
    first = repo.commit("one", {"a.txt": "1"})
    second = repo.commit("two", {"a.txt": "2"})
    _, state = once(repo.root, None)
    repo.git("checkout", "-q", first)
    told, state = once(repo.root, state)
    assert told == Batch(("a.txt",), left=second)
    repo.git("checkout", "-q", "main")
    told, _ = once(repo.root, state)
    assert told == Batch(("a.txt",), commits=f"{first}..{second}", left=first)


def test_narrowed_to_paths_and_globs(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    for name in ("docs/a.md", "docs/a.txt", "docs/draft/x.md", "src/a.md"):
        repo.write(name, "x")
    monkeypatch.chdir(repo.root)
    found, _ = once(repo.root, WatchState(), paths=["docs"], globs=["*.md", "!draft/"])
    assert found == Batch(("docs/a.md", "docs/draft/x.md"))
    _, state = once(repo.root, None)
    found, state = once(repo.root, state, paths=[str(repo.root / "docs")])
    assert (found, "src/a.md" in state.files) == (None, True), "a narrower watch does not take the rest for gone"


def test_what_cannot_be_read_is_not_gone(repo: Repo):
    if os.geteuid() == 0:
        pytest.skip("root can read everything")
    repo.commit("one", {"d/a.txt": "a"})
    _, state = once(repo.root, None)
    (repo.root / "d").chmod(0)
    try:
        assert once(repo.root, state)[0] is None
    finally:
        (repo.root / "d").chmod(0o755)


def save(way: str, file: Path, text: str) -> None:
    """As tools do that write a new file, as vim does with a backup, and in place, once the file is gone."""
    if way == "rename":
        new = file.with_name(f"{file.name}.tmp")
        new.write_text(text)
        new.replace(file)
        return
    if way == "backup":
        (file.parent / "4913").write_text("")
        (file.parent / "4913").unlink()
        file.rename(f"{file}~")
    elif way == "deletion":
        file.unlink()
    file.write_text(text)
    Path(f"{file}~").unlink(missing_ok=True)


def test_the_ways_that_editors_save(repo: Repo, start: Start):
    ways = ("rename", "backup", "deletion", "in place")
    repo.commit("one", {f"sub/{way}.txt": "a" for way in ways} | {"sub/gone.txt": "b"})
    watched = start(repo.root)
    for way in ways:
        for n in range(5):
            save(way, repo.root / "sub" / f"{way}.txt", f"text {n}")
    (repo.root / "sub" / "gone.txt").unlink()
    watched.settled()
    watched.until(lambda: "sub/gone.txt" in watched.removed)
    expected = {f"sub/{way}.txt" for way in ways}
    assert {file for file in watched.files if not file.startswith("settled")} == expected
    assert {watched.watcher.state.files[file].size for file in expected} == {len("text 4")}
    assert_in_step(watched)


def test_ignored_files_and_noise_are_no_news(repo: Repo, start: Start):
    repo.commit("one", {".gitignore": "build/\n*.log\n", "a.txt": "a"})
    watched = start(repo.root)
    for name in ("build/deep/x.txt", "x.log", ".env", ".memory/spaces/main.json", ".memory/lock", "a.txt.swp",
                 "node_modules/m/index.js", "yarn.lock", "other/.git/HEAD", "other/code.py"):  # fmt: skip
        repo.write(name, "x")
    os.utime(repo.root / "a.txt", (1, 1))
    (repo.root / "a.txt").write_text("a")
    (repo.root / "a.txt").chmod(0o600)
    (repo.root / "link.txt").symlink_to("a.txt")
    os.mkfifo(repo.root / "fifo")
    watched.settled()
    watched.settled()
    assert all(file.startswith("settled") for file in watched.files)


def test_rules_that_change_on_the_way(repo: Repo, start: Start):
    repo.commit("one", {"sub/.gitignore": "*.log\n", "sub/a.log": "x", "sub/b.txt": "x"})
    watched = start(repo.root)
    repo.write("sub/.gitignore", "*.txt\n")
    watched.until(lambda: "sub/a.log" in watched.files and "sub/b.txt" in watched.removed)
    assert_in_step(watched)


def test_folders_that_come_move_and_go(repo: Repo, start: Start):
    repo.commit("one", {"a/b/c.txt": "c", "a/d.txt": "d"})
    watched = start(repo.root)
    repo.write("new/deep/er/x.txt", "x")
    watched.until(lambda: "new/deep/er/x.txt" in watched.files)
    (repo.root / "a").rename(repo.root / "moved")
    watched.until(lambda: {"moved/b/c.txt", "moved/d.txt"} <= set(watched.files))
    olds = {"a/b/c.txt", "a/d.txt"}
    watched.until(lambda: olds == {old for batch in watched.batches for old, _ in batch.moved} | set(watched.removed))
    (repo.root / "moved" / "b" / "c.txt").write_text("changed where it is now")
    watched.until(lambda: watched.files.count("moved/b/c.txt") == 2)
    shutil.rmtree(repo.root / "new")
    watched.until(lambda: "new/deep/er/x.txt" in watched.removed)
    assert_in_step(watched)


def test_a_file_that_moves_between_folders(repo: Repo, start: Start):
    """The folders are watched apart from each other, since `.git` is left out."""
    moves = (("a.txt", "docs/b.txt"), ("docs/b.txt", "c.txt"), ("src/a.txt", "docs/d.txt"))
    repo.commit("one", {"a.txt": "moved", "docs/x.txt": "x", "src/x.txt": "x", "src/a.txt": "another"})
    watched = start(repo.root)
    for old, new in moves:
        (repo.root / old).rename(repo.root / new)
        watched.until(lambda name=new: name in watched.files)
        watched.settled()
    assert [batch.moved for batch in watched.batches if batch.moved] == [(move,) for move in moves]
    assert watched.removed == []
    assert_in_step(watched)


def test_commits_as_they_happen(repo: Repo, start: Start):
    first = repo.commit("one", {"a.txt": "1"})
    watched = start(repo.root)
    second = repo.commit("two", {"a.txt": "2"})
    watched.until(lambda: watched.commits == [f"{first}..{second}"])
    repo.git("pack-refs", "--all")
    third = repo.commit("three", {"a.txt": "3"})
    watched.until(lambda: watched.commits[1:] == [f"{second}..{third}"])
    repo.git("checkout", "-q", "-b", "side", first)
    fourth = repo.commit("four", {"b.txt": "4"})
    watched.until(
        lambda: watched.commits[2:] == [f"{third}..{fourth}"] or watched.commits[2:] == [f"{first}..{fourth}"]
    )
    repo.git("rebase", "-q", "main")
    watched.until(lambda: watched.watcher.state.head == repo.git("rev-parse", "HEAD"))
    assert watched.commits[-1].endswith(repo.git("rev-parse", "HEAD"))


def test_a_linked_work_tree(repo: Repo, start: Start, tmp_path: Path):
    first = repo.commit("one", {"a.txt": "1"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    linked = Repo(tmp_path / "linked", hour=9)
    watched = start(linked.root)
    second = linked.commit("two", {"a.txt": "2"})
    watched.until(lambda: watched.commits == [f"{first}..{second}"])


@pytest.mark.parametrize("count", slow_but([300], [300, 10_000]))
def test_a_burst(repo: Repo, start: Start, count: int):
    repo.commit("one", {"a.txt": "a"})
    watched = start(repo.root)
    for n in range(count):
        repo.write(f"d{n % 37}/e{n % 11}/f{n}.txt", f"{n}")
    watched.until(
        lambda: sum(not name.startswith(("settled", "a.txt")) for name in watched.watcher.state.files) == count
    )
    for n in range(0, count, 2):
        (repo.root / f"d{n % 37}/e{n % 11}/f{n}.txt").unlink()
    watched.until(lambda: len(watched.removed) == count - count // 2)
    watched.settled()
    assert_in_step(watched)


def test_when_the_system_allows_no_watches(repo: Repo, start: Start, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(BaseObserver, "schedule", refuse)
    warnings: list[str] = []
    watched = start(repo.root, warn=warnings.append)
    repo.write("a.txt", "a")
    watched.until(lambda: "a.txt" in watched.files)
    assert [text for text in warnings if "inotify" in text] == warnings
    assert len(warnings) == 1


def test_moves(repo: Repo):
    repo.commit("one", {"a/x.txt": "x", "a/y.txt": "same", "b/z.txt": "same", "c.txt": "c", "d.txt": "d", "e.txt": ""})
    _, state = once(repo.root, None)
    repo.git("mv", "a", "moved")
    repo.git("mv", "b/z.txt", "0.txt")
    (repo.root / "c.txt").replace(repo.root / "d.txt")
    (repo.root / "e.txt").replace(repo.root / "f.txt")
    told, _ = once(repo.root, state)
    assert told == Batch(
        files=("0.txt", "d.txt", "f.txt", "moved/x.txt", "moved/y.txt"),
        removed=("c.txt", "e.txt"),
        moved=(("a/y.txt", "0.txt"), ("a/x.txt", "moved/x.txt"), ("b/z.txt", "moved/y.txt")),
    )


def test_much_news_comes_in_parts(repo: Repo):
    repo.commit("one", {f"a/{n}.txt": f"{n}" for n in range(2_100)} | {"gone.txt": "x"})
    _, state = once(repo.root, None)
    assert once(repo.root, state)[0] is None
    repo.git("mv", "a", "b")
    (repo.root / "gone.txt").unlink()
    head = repo.commit("two")
    batches = list(Watcher(str(repo.root), state=state, once=True).batches())
    assert [len(batch.files) for batch in batches] == [1_000, 1_000, 100]
    assert [len(batch.moved) for batch in batches] == [2_100, 0, 0]
    assert [batch.removed for batch in batches] == [("gone.txt",), (), ()]
    assert [bool(batch.commits) for batch in batches] == [False, False, True]
    assert batches[2].commits.endswith(head)


def test_stopped_between_parts_the_rest_is_told_later(repo: Repo):
    for n in range(1_500):
        repo.write(f"{n}.txt", f"{n}")
    stop = threading.Event()
    watcher = Watcher(str(repo.root), state=WatchState(), stop=stop, once=True)
    batches = watcher.batches()
    first = next(batches)
    stop.set()
    assert list(batches) == []
    told, _ = once(repo.root, watcher.state)
    assert len(first.files) == 1_000
    assert sorted((*first.files, *told.files)) == sorted(f"{n}.txt" for n in range(1_500))


def test_told_to_check_again_it_tells_all_files(repo: Repo, start: Start):
    repo.commit("one", {"a.txt": "a", "b.txt": "b"})
    _, state = once(repo.root, None)
    (repo.root / "c.txt").write_text("c")
    watcher = Watcher(str(repo.root), state=state)
    batches = watcher.batches()
    assert next(batches).files == ("c.txt",)
    watcher.recheck()
    assert next(batch for batch in batches if not batch.is_idle).files == ("a.txt", "b.txt", "c.txt")
    batches.close()


def test_files_in_doubt_are_told_again_or_gone(repo: Repo):
    for name in ("a.txt", "b.txt", "c.txt"):
        repo.write(name, name)
    _, state = once(repo.root, None)
    (repo.root / "b.txt").unlink()
    told, _ = once(repo.root, state.doubting(["a.txt", "b.txt", "never.txt"]))
    assert told == Batch(("a.txt",), ("b.txt", "never.txt"))


def test_on_a_file_system_that_does_not_tell(repo: Repo, start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memcli.extras.watch.watcher.silent_kind", lambda _: "nfs4")
    warnings: list[str] = []
    watched = start(repo.root, warn=warnings.append)
    repo.write("a.txt", "a")
    watched.until(lambda: "a.txt" in watched.files)
    assert len([text for text in warnings if "nfs4" in text]) == 1


def test_a_queue_that_overflowed(repo: Repo, start: Start, monkeypatch: pytest.MonkeyPatch):
    repo.commit("one", {"a.txt": "a"})
    watched = start(repo.root)
    monkeypatch.setattr("memcli.extras.watch.events.EventInbox.dispatch", lambda *_: None)
    (repo.root / "unheard.txt").write_text("x")
    monkeypatch.undo()
    (repo.root / "heard.txt").write_text("x")
    watched.until(lambda: {"heard.txt", "unheard.txt"} <= set(watched.files))


def test_leaving_the_loop_ends_the_threads(repo: Repo):
    repo.commit("one", {"a.txt": "a"})
    before = threading.active_count()
    batches = Watcher(str(repo.root), state=WatchState()).batches()
    next(batches)
    batches.close()
    assert threading.active_count() == before
