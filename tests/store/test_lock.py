"""Whoever waits for a lock waits in the kernel: the lock is taken when it is free, and nobody looks for it meanwhile."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.errors import LockedError, StoreError
from memcli.store.lock import held, holder_of, locked
from tests.conftest import NOW


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A line for each time that a lock was tried."""
    made: list[int] = []
    real = fcntl.flock

    def noted(fd: int, operation: int) -> None:
        if operation & fcntl.LOCK_NB:
            made.append(fd)
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", noted)
    return made


class Holder(threading.Thread):
    """Another one that holds a lock until it is released."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._held, self.release = threading.Event(), threading.Event()
        self.start()
        self._held.wait()

    def run(self) -> None:
        with locked(self._path, "it"):
            self._held.set()
            self.release.wait()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    made = Holder(str(tmp_path / "x.lock"))
    yield made
    made.release.set()
    made.join()


def test_who_waits_does_not_poll(tmp_path: Path, holder: Holder, tries: list[int]) -> None:
    with pytest.raises(LockedError, match=r"waited 0\.5 s"), locked(str(tmp_path / "x.lock"), "it", wait=0.5):
        pass
    assert len(tries) == 2


def test_a_lock_is_taken_when_it_is_released(tmp_path: Path, holder: Holder, tries: list[int]) -> None:
    timer = threading.Timer(0.2, holder.release.set)
    timer.start()
    with locked(str(tmp_path / "x.lock"), "it", wait=float("inf")) as held:
        assert held is not None
        with pytest.raises(LockedError), locked(str(tmp_path / "x.lock"), "it", wait=0):
            pass
    assert len(tries) == 3  # two of them by the one that waited
    timer.join()


def test_many_wait_and_each_gets_it(tmp_path: Path, holder: Holder) -> None:
    inside, most, done = 0, 0, list[int]()

    def work(number: int) -> None:
        nonlocal inside, most
        with locked(str(tmp_path / "x.lock"), "it"):
            inside += 1
            most = max(most, inside)
            done.append(number)
            inside -= 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    holder.release.set()
    for thread in threads:
        thread.join()
    assert (sorted(done), most) == (list(range(20)), 1)


def test_a_wait_that_was_given_up_keeps_no_lock(tmp_path: Path, holder: Holder) -> None:
    path = str(tmp_path / "x.lock")
    for _ in range(5):
        with pytest.raises(LockedError), locked(path, "it", wait=0.01):
            pass
    before = len(os.listdir("/dev/fd"))
    holder.release.set()
    holder.join()
    with locked(path, "it"):
        pass
    for thread in threading.enumerate():
        if "_queue" in thread.name:
            thread.join()
    with locked(path, "it", wait=0):
        pass
    assert len(os.listdir("/dev/fd")) < before


def test_what_is_waited_for_may_come_in_another_way(tmp_path: Path, holder: Holder, tries: list[int]) -> None:
    answers = iter([False, False, True])
    with locked(str(tmp_path / "x.lock"), "it", unless=lambda: next(answers)) as held:
        assert held is None
    assert len(tries) == 3


def test_a_file_that_cannot_be_locked_ends_the_wait(
    tmp_path: Path, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def refuse(fd: int, how: int) -> None:
        if how == fcntl.LOCK_EX:
            monkeypatch.setattr(fcntl, "flock", refuse_all)
            raise OSError(37, "No locks available")
        real(fd, how)

    def refuse_all(fd: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="No locks available"), locked(str(tmp_path / "x.lock"), "it"):
        pass


def test_a_lock_file_that_was_replaced_is_not_the_one_that_is_held(tmp_path: Path) -> None:
    path = tmp_path / "main.lock"
    with locked(str(path), "the space") as held:
        assert held is not None
        assert held.is_at(str(path))
        path.unlink()
        assert not held.is_at(str(path))
        path.touch()
        assert not held.is_at(str(path))


def test_who_holds_it_is_told_and_who_gave_up_waiting_never_gets_it(tmp_path: Path) -> None:
    """A turn in the kernel's queue outlives the wait, and would look like a holder."""
    lock = str(tmp_path / "x.lock")
    assert holder_of(lock, "it") is None
    assert not os.path.exists(lock)
    with held(lock, "it", NOW):
        assert holder_of(lock, "it") == (os.getpid(), NOW)
        before = threading.active_count()
        with pytest.raises(LockedError) as caught, held(lock, "it", NOW):
            pass
        assert threading.active_count() == before
    assert caught.value.message == f"it is held by process {os.getpid()}, since {NOW}"
    assert holder_of(lock, "it") is None
    with held(lock, "it", NOW):
        pass


def test_an_error_inside_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    with pytest.raises(LockedError, match="another lock"), held(str(tmp_path / "x.lock"), "it", NOW):
        raise LockedError("another lock", "")
    assert holder_of(str(tmp_path / "x.lock"), "it") is None


def test_a_note_that_makes_no_sense(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    with held(str(lock), "it", NOW):
        lock.write_text("who knows")
        assert holder_of(str(lock), "it") == (0, "")
        with pytest.raises(LockedError, match=r"it is held$"), held(str(lock), "it", NOW):
            pass
