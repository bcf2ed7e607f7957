from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from memcli.errors import LockedError
from memcli.store.lock import Holder, held, holder_of

WHEN = "2026-01-31T09:30:00Z"


def test_who_holds_it_is_told(tmp_path: Path):
    lock = str(tmp_path / "x.lock")
    assert holder_of(lock, "it") is None
    assert not os.path.exists(lock)
    with held(lock, "it", WHEN):
        assert holder_of(lock, "it") == Holder(os.getpid(), WHEN)
        with pytest.raises(LockedError) as caught, held(lock, "it", WHEN):
            pass
    assert caught.value.message == f"it is held by process {os.getpid()}, since {WHEN}"
    assert holder_of(lock, "it") is None
    with held(lock, "it", WHEN):
        pass


def test_who_gave_up_waiting_never_gets_the_lock(tmp_path: Path):
    """A turn in the kernel's queue outlives the wait, and would look like a holder."""
    lock = str(tmp_path / "x.lock")
    with held(lock, "it", WHEN):
        before = threading.active_count()
        with pytest.raises(LockedError), held(lock, "it", WHEN):
            pass
        assert threading.active_count() == before


def test_an_error_inside_is_not_taken_for_the_lock(tmp_path: Path):
    with pytest.raises(LockedError, match="another lock"), held(str(tmp_path / "x.lock"), "it", WHEN):
        raise LockedError("another lock", "")
    assert holder_of(str(tmp_path / "x.lock"), "it") is None


def test_a_note_that_makes_no_sense(tmp_path: Path):
    lock = tmp_path / "x.lock"
    with held(str(lock), "it", WHEN):
        lock.write_text("who knows")
        assert holder_of(str(lock), "it") == Holder(0, "")
        with pytest.raises(LockedError, match=r"it is held$"), held(str(lock), "it", WHEN):
            pass
