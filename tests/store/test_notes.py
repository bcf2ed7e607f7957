"""Answers of language models, and marks that say how long ago something was so."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.store import state
from memcli.store.layout import Layout
from memcli.store.notes import LocalAnswers, Mark
from memcli.store.state import State, set_value
from tests.conftest import NOW


@pytest.fixture
def kept(tmp_path: Path) -> LocalAnswers:
    return LocalAnswers(State(Layout(str(tmp_path))))


def test_an_answer_is_kept_for_its_user_alone(kept: LocalAnswers, tmp_path: Path) -> None:
    assert kept.get("a") is None
    kept.keep("a", {"text": "é"}, kind="text", since=kept.erasures())
    assert kept.get("a") == {"text": "é"}
    assert (tmp_path / "local/state.db").stat().st_mode & 0o777 == 0o600


def test_texts_are_erased_and_verdicts_stay(kept: LocalAnswers, tmp_path: Path) -> None:
    kept.erase_texts()
    kept.keep("a", {"text": "secret"}, kind="text", since=kept.erasures())
    kept.keep("b", {"numbers": [1]}, kind="verdict", since=kept.erasures())
    kept.keep("q", {"name": "secret"}, kind="question", since=kept.erasures())
    kept.erase_texts()
    assert (kept.get("a"), kept.get("b")) == (None, {"numbers": [1]})
    assert b"secret" not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


@pytest.mark.parametrize("kind", ["text", "question"])
def test_what_was_asked_before_an_erasure_is_not_kept_after_it(kept: LocalAnswers, tmp_path: Path, kind: str) -> None:
    for since in (kept.erasures(), kept.erasures()):
        (kept.erase_texts if kind == "text" else kept.erase_questions)()
        kept.keep("a", {"text": "secret"}, kind=kind, since=since)
    assert kept.get("a") is None
    assert b"secret" not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
    kept.keep("b", {"numbers": [1]}, kind="verdict", since=0)
    assert kept.get("b") == {"numbers": [1]}


def test_the_oldest_make_room(kept: LocalAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    expired = tuple(replace_expired(table) for table in state.TABLES)
    monkeypatch.setattr(state, "TABLES", expired)
    for n in range(5):
        kept.keep(str(n), {"n": n}, kind="verdict", since=kept.erasures())
    assert [kept.get(str(n)) for n in range(5)] == [None, None, {"n": 2}, {"n": 3}, {"n": 4}]


def replace_expired(table: state.StateTable) -> state.StateTable:
    return table._replace(expired=table.expired.replace("8192", "3"))


def test_what_cannot_be_written_is_done_without(kept: LocalAnswers, tmp_path: Path) -> None:
    (tmp_path / "local").write_text("a file")
    kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
    assert kept.get("a") is None


def test_answers_about_questions_go_alone_or_with_texts(kept: LocalAnswers) -> None:
    kept.erase_questions()
    for erase in (kept.erase_questions, kept.erase_texts):
        kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
        kept.keep("q", {"name": "x"}, kind="question", since=kept.erasures())
        erase()
        assert kept.get("q") is None
        assert (kept.get("a") is None) == (erase == kept.erase_texts)


def test_a_mark_is_young_for_some_time(tmp_path: Path) -> None:
    mark = Mark(State(Layout(str(tmp_path))), "x")
    assert not mark.is_younger(60, NOW)
    mark.set(NOW)
    assert mark.is_younger(60, "2026-01-31T09:30:59Z")
    assert not mark.is_younger(60, "2026-01-31T09:31:00Z")
    assert not mark.is_younger(60, "2026-01-31T09:29:59Z"), "the clock was set back"


def test_a_mark_that_is_damaged_or_cannot_be_written_is_none(tmp_path: Path) -> None:
    state = State(Layout(str(tmp_path)))
    with state.change() as connection:
        set_value(connection, "mark.x", "yesterday")
    assert not Mark(state, "x").is_younger(60, NOW)
    nowhere = Mark(State(Layout(str(tmp_path / "no" / ".memory"))), "x")
    nowhere.set(NOW)
    assert not nowhere.is_younger(60, NOW)
