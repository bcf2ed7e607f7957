"""Answers of language models, marks that say how long ago something was so, logs, and the key of redaction."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from memcli.record import replace
from memcli.store import state
from memcli.store.layout import Layout, make_root
from memcli.store.log import HookLog, Log
from memcli.store.notes import LocalAnswers, is_recent, set_mark
from memcli.store.state import State, set_value
from memcli.store.trust import VARIABLE, signer
from tests.conftest import NOW


@pytest.fixture
def kept(tmp_path: Path) -> LocalAnswers:
    return LocalAnswers(State(Layout(str(tmp_path))))


def on_disk(tmp_path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_texts_are_erased_with_answers_about_questions_and_verdicts_stay(kept: LocalAnswers, tmp_path: Path) -> None:
    for only_questions in (True, False):
        kept.erase(only_questions=only_questions)
        for name, kind, value in (("a", "text", "secret"), ("b", "verdict", "plain"), ("q", "question", "secret")):
            kept.keep(name, {"text": value}, kind=kind, since=kept.erasures())
        kept.erase(only_questions=only_questions)
        assert (kept.get("q"), kept.get("b")) == (None, {"text": "plain"})
        assert (kept.get("a") is None) == (not only_questions)
    assert b"secret" not in on_disk(tmp_path)


@pytest.mark.parametrize("kind", ["text", "question"])
def test_what_was_asked_before_an_erasure_is_not_kept_after_it(kept: LocalAnswers, tmp_path: Path, kind: str) -> None:
    for since in (kept.erasures(), kept.erasures()):
        kept.erase(only_questions=kind == "question")
        kept.keep("a", {"text": "secret"}, kind=kind, since=since)
    assert kept.get("a") is None
    assert b"secret" not in on_disk(tmp_path)
    kept.keep("b", {"numbers": [1]}, kind="verdict", since=0)
    assert kept.get("b") == {"numbers": [1]}


def test_the_oldest_make_room(kept: LocalAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuple(replace(table, expired=table.expired.replace("8192", "3")) for table in state.TABLES)
    monkeypatch.setattr(state, "TABLES", small)
    for n in range(5):
        kept.keep(str(n), {"n": n}, kind="verdict", since=kept.erasures())
    assert [kept.get(str(n)) for n in range(5)] == [None, None, {"n": 2}, {"n": 3}, {"n": 4}]


def test_what_cannot_be_written_is_done_without(kept: LocalAnswers, tmp_path: Path) -> None:
    (tmp_path / "local").write_text("a file")
    kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
    assert kept.get("a") is None


def test_a_mark_is_young_for_some_time_and_none_when_it_is_damaged(tmp_path: Path) -> None:
    state = State(Layout(str(tmp_path)))
    assert not is_recent(state, "x", 60, NOW)
    set_mark(state, "x", NOW)
    ages = [
        "2026-01-31T09:30:59Z",
        "2026-01-31T09:31:00Z",
        "2026-01-31T09:29:59Z",
    ]  # at the last, the clock was set back
    assert [is_recent(state, "x", 60, now) for now in ages] == [True, False, False]
    with state.change() as connection:
        set_value(connection, "mark.x", "yesterday")
    nowhere = State(Layout(str(tmp_path / "no" / ".memory")))
    set_mark(nowhere, "x", NOW)
    assert [is_recent(one, "x", 60, NOW) for one in (state, nowhere)] == [False, False]


def test_a_full_log_makes_room_and_the_last_of_a_kind_is_found_in_either_file(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "x.log"), max_bytes=60)
    assert log.last("start") is None
    log.add({"event": "start", "n": 1})
    for n in range(3):
        log.add({"event": "batch", "n": n})
    assert {path.name: path.stat().st_size < 110 for path in tmp_path.iterdir()} == {"x.log": True, "x.log.1": True}
    assert log.last("start") == {"event": "start", "n": 1}
    assert log.last("batch") == log.last() == {"event": "batch", "n": 2}


def test_hooks_write_to_a_log_that_makes_room(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    log = HookLog(layout, "main")
    assert log.last() == {}
    log.add({"n": 1})
    file = Path(layout.local("hooks.log"))
    file.write_bytes(file.read_bytes() + b"x" * 1_000_000)
    log.add({"n": 2})
    assert file.with_name("hooks.log.1").exists()
    assert log.last() == json.loads(file.read_text()) == {"n": 2}
    file.write_bytes(b'{"n": ')
    assert log.last() == {"n": 1}, "a line that a crash tore is passed over"


def test_damage_of_a_log_is_passed_over_and_one_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(b'{"event": "batch", "n": 1}\n\xff\n[]\n{"event": "bat')
    assert Log(str(tmp_path / "x.log")).last("batch") == {"event": "batch", "n": 1}
    (tmp_path / "y.log").mkdir()
    for name in ("y.log", "no/x.log"):
        Log(str(tmp_path / name)).add({"event": "batch"})
    assert Log(str(tmp_path / "y.log")).last("batch") is None


def mark_of(root: str, key: str = "") -> str:
    return signer(Layout(root), {VARIABLE: key} if key else {})(b"secret")


def test_a_key_is_made_once_however_many_ask_and_is_another_in_another_store(tmp_path: Path) -> None:
    one, other = (str(tmp_path / name / ".memory") for name in "ab")
    for root in (one, other):
        make_root(root)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        marks = pool.map(mark_of, [one] * 8)
    assert len({*marks}) == 1
    assert mark_of(other) not in marks


def test_one_key_gives_the_same_marks_in_every_store(tmp_path: Path) -> None:
    here, there = (str(tmp_path / name / ".memory") for name in ("here", "there"))
    for root in (here, there):
        make_root(root)
    ours, theirs = "a key that a team has in common", "a key of somebody else"
    assert mark_of(here, ours) == mark_of(there, ours) == "961df4b9" != mark_of(here, theirs)
    assert not list(tmp_path.rglob("redaction.key"))
