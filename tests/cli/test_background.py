"""Vectors that are made behind a command: by one process, whoever asks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any

import pytest

from memcli.cli import background
from memcli.cli.background import run_alone
from memcli.cli.calls import Calls
from memcli.cli.verb import find_verb
from memcli.embed import EMBEDDERS
from memcli.embed.hashed import HashedEmbedder
from memcli.errors import LockedError
from memcli.ports import Embedder
from memcli.store.atomic import make_folder
from memcli.store.layout import Layout, make_root
from memcli.store.lock import locked
from tests.cli.conftest import commit, git, until
from tests.conftest import Run, slow_but


def is_done(run: Run) -> bool:
    found: dict[str, Any] = run("store", "index", "--json").json
    return 0 < found.get("chunks", 0) == found["vectors"]


@pytest.fixture
def lively(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree in which the clock goes and background work is allowed."""
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")
    monkeypatch.delenv("MEMCLI_BACKGROUND")
    (tmp_path / "guide.md").write_text(
        "".join(f"# Part {n}\n\nThe engine of part {n} is cooled.\n\n" for n in range(30))
    )
    return tmp_path


def memcli(folder: Path, *args: str) -> None:
    subprocess.run([sys.executable, "-m", "memcli", *args], cwd=folder, check=True, capture_output=True)


def test_ingest_has_the_vectors_made(lively: Path, run: Run) -> None:
    memcli(lively, "ingest", "guide.md")
    until(lambda: is_done(run))


@pytest.mark.slow
def test_a_commit_has_them_made_too(lively: Path, run: Run) -> None:
    (lively / ".git").rmdir()
    git(lively, "init", "-q", "-b", "main")
    assert run("init").code == 0
    assert run("hook", "install").code == 0
    commit(lively, "a.py", "engine = 1\n", "Cool the engine")
    until(lambda: is_done(run))


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="priorities of POSIX")
@pytest.mark.parametrize(
    "line", slow_but([["store", "maintain"]], [["store", "index", "embed"], ["store", "maintain"]])
)
def test_a_process_of_its_own_works_at_the_lowest_priority(line: list[str], lively: Path, run: Run) -> None:
    assert run("remember", "We chose PostgreSQL.").code == 0
    layout, before = Layout(str(lively / ".memory")), os.getpriority(os.PRIO_PROCESS, 0)
    with locked(layout.turn("now"), "the work", 0):
        command = [sys.executable, "-m", "memcli", *line, "--background"]
        process = subprocess.Popen(command, cwd=lively, start_new_session=True)
        until(lambda: is_locked(layout.turn("next")))
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        group = Path(f"/proc/{process.pid}/autogroup")
        assert not group.exists() or group.read_text().rstrip().endswith("nice 19")
    assert process.wait() == 0
    assert run(*line, "--background").code == 0
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_process_of_its_own_ends_with_its_store(lively: Path, run: Run) -> None:
    assert run("init").code == 0
    layout = Layout(str(lively / ".memory"))
    with locked(layout.turn("now"), "the work", 0):
        command = [sys.executable, "-m", "memcli", "store", "index", "embed", "--background"]
        with subprocess.Popen(command, cwd=lively, start_new_session=True) as process:
            until(lambda: is_locked(layout.turn("next")))
            os.rename(layout.root, lively / "away")
            assert process.wait(30) == 0


def test_one_works_one_waits_and_no_more(tmp_path: Path) -> None:
    layout, done = store(tmp_path), list[str]()
    run_alone(layout.root, lambda _: done.append("first"))
    with locked(layout.turn("now"), "the work", 0):
        waiting = waiting_to(layout, lambda: done.append("second"))
        run_alone(layout.root, lambda _: done.append("third"))  # as one waits
        assert done == ["first"]
    waiting.join()
    run_alone(layout.root, lambda _: done.append("fourth"))
    assert done == ["first", "second", "fourth"]


def store(folder: Path) -> Layout:
    layout = Layout(str(folder / ".memory"))
    make_root(layout.root)
    make_folder(layout.local(""))
    return layout


def waiting_to(layout: Layout, work: Callable[[], object]) -> Thread:
    """A thread that waits for its turn; begun again if it met the lock in the moment in which `is_locked` held it."""
    threads: list[Thread] = []

    def waits() -> bool:
        if not threads or not threads[-1].is_alive():
            threads.append(Thread(target=run_alone, args=(layout.root, lambda _: work())))
            threads[-1].start()
        return is_locked(layout.turn("next"))

    until(waits)
    return threads[-1]


def is_locked(path: str) -> bool:
    try:
        with locked(path, "it", 0):
            return False
    except LockedError:
        return True


@pytest.mark.parametrize("is_replaced", [False, True])
def test_who_waited_for_a_store_that_is_gone_does_nothing(
    tmp_path: Path, is_replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.cli.background._LOOK_SECONDS", 600)  # it would end this process
    layout, done = store(tmp_path), list[str]()
    with locked(layout.turn("now"), "the work", 0):
        waiting = waiting_to(layout, lambda: done.append("done"))
        os.rename(layout.root, tmp_path / "away")  # its inode stays taken, so that no other store gets it
        if is_replaced:
            store(tmp_path)
    waiting.join()
    assert done == []
    assert os.path.exists(layout.root) is is_replaced


@pytest.mark.parametrize("is_replaced", [False, True])
def test_work_ends_with_its_store_and_does_not_bring_it_back(
    lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    monkeypatch.setattr(background, "start", lambda *_: None)
    assert run("ingest", "guide.md").code == 0
    batches: list[int] = []

    class Removing(HashedEmbedder):
        def embed(self, texts: Any, *given: Any, **more: Any) -> list[bytes]:
            batches.append(len(texts))
            if len(batches) == 1:
                os.rename(lively / ".memory", lively / "away")
                if is_replaced:
                    store(lively)
            return super().embed(texts, *given, **more)

    monkeypatch.setattr("memcli.index.meaning._EMBED_BATCH", 4)
    monkeypatch.setattr("memcli.embed.hashed.HashedEmbedder", Removing)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    done = run("store", "index", "embed", "--background")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(batches) == 1
    left = sorted(str(path.relative_to(lively / ".memory")) for path in (lively / ".memory").rglob("*"))
    assert left == (["local", "spaces"] if is_replaced else [])


def test_what_is_told_meanwhile_does_not_wait_behind_the_history(
    lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start", lambda *_: None)
    assert run("ingest", "guide.md").code == 0
    batches: list[list[str]] = []

    class Slow(HashedEmbedder):
        def embed(self, texts: Any, *given: Any, **more: Any) -> list[bytes]:
            batches.append(list(texts))
            if len(batches) == 2:
                assert run("remember", "Call Mara before the release.", "--path", "release/call").code == 0
            return super().embed(texts, *given, **more)

    monkeypatch.setattr("memcli.index.meaning._EMBED_BATCH", 4)
    monkeypatch.setattr("memcli.embed.hashed.HashedEmbedder", Slow)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    assert run("store", "index", "embed", "--quiet").code == 0
    assert [n for n, batch in enumerate(batches) if any("Mara" in text for text in batch)] == [2]
    assert is_done(run)


def test_the_vectors_of_a_small_ingest_are_there_at_once(
    lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(background, "start", lambda *told: begun.append(told))
    assert run("ingest", "guide.md").code == 0
    assert len(begun) == 1
    assert not is_done(run)
    assert run("store", "index", "embed", "--quiet").code == 0
    (lively / "note.md").write_text("# Note\n\nThe valve is open.\n")
    assert run("ingest", "note.md").code == 0
    assert len(begun) == 1
    assert is_done(run)


def test_no_vectors_are_made_where_they_are_not_wanted(lively: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    monkeypatch.setattr(background, "start", lambda *told: begun.append(told))
    for name, value in (("FREEZE_CLOCK", "2026-01-01"), ("BACKGROUND", "off"), ("EMBEDDER", "off")):
        with monkeypatch.context() as patch:
            patch.setenv(f"MEMCLI_{name}", value)
            assert run("ingest", "guide.md").code == 0
    (lively / "guide.md").write_text("# Yet another\n\nThe engine is old.\n")
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    (lively / ".memory/config.toml").write_text('embedder = "off"\n')
    run("ingest", "guide.md")
    assert begun == []
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    (lively / "guide.md").write_text("# Another\n\nThe engine is new.\n")
    run("ingest", "guide.md")
    assert is_done(run)


LOADING = "the embedding model is still loading"


@pytest.mark.parametrize(
    ("config", "waits"), [("", True), ('embedder = "hashed"\n', False), ('embedder = "off"\n', False)]
)
def test_only_the_model_that_the_store_wants_is_waited_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, waits: bool
) -> None:
    run("remember", "We chose PostgreSQL for the orders.")
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    (tmp_path / ".memory/config.toml").write_text(config)
    calls = Calls({}, lambda _: None, loads_later=True)
    assert (LOADING in calls.text(find_verb("recall"), {"topic": "which database?"})) is waits
    calls.close()


def test_a_question_waits_for_the_model_that_is_being_loaded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "We chose PostgreSQL for the orders.")
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    may_load = Event()

    def model() -> Embedder | None:
        may_load.wait()
        return EMBEDDERS["hashed"]()

    monkeypatch.setattr("memcli.cli.calls.EMBEDDERS", {**EMBEDDERS, "onnx": model})
    calls = Calls({}, lambda _: None, loads_later=True)
    calls.load()
    with monkeypatch.context() as patched:
        patched.setattr("memcli.cli.calls._MODEL_SECONDS", 0.0)
        answer = calls.text(find_verb("recall"), {"topic": "which database?"})
    assert LOADING in answer
    assert "ask again" in answer
    Timer(0.05, may_load.set).start()
    answer = calls.text(find_verb("recall"), {"topic": "which database?"})
    assert LOADING not in answer
    assert "Degraded" not in answer
    calls.close()
