"""Answers of language models in the cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.store import answers
from memcli.store.answers import FileAnswers
from memcli.store.layout import Layout


@pytest.fixture
def kept(tmp_path: Path) -> FileAnswers:
    (tmp_path / "cache").mkdir()
    return FileAnswers(Layout(str(tmp_path)))


def test_an_answer_is_kept_for_its_user_alone(kept: FileAnswers, tmp_path: Path) -> None:
    assert kept.get("a") is None
    kept.keep("a", {"text": "é"}, kind="text", since=kept.erasures())
    assert kept.get("a") == {"text": "é"}
    file = tmp_path / "cache/answers/texts/a.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"{torn")
    assert kept.get("a") is None


def test_texts_are_erased_and_verdicts_stay(kept: FileAnswers, tmp_path: Path) -> None:
    kept.erase_texts()
    kept.keep("a", {"text": "secret"}, kind="text", since=kept.erasures())
    kept.keep("b", {"numbers": [1]}, kind="verdict", since=kept.erasures())
    kept.keep("q", {"name": "secret"}, kind="question", since=kept.erasures())
    (tmp_path / "cache/answers/texts/.c.json.tmp1").write_text("secret")  # of a writer that was killed
    kept.erase_texts()
    assert (kept.get("a"), kept.get("b")) == (None, {"numbers": [1]})
    assert b"secret" not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


@pytest.mark.parametrize("kind", ["text", "question"])
def test_what_was_asked_before_an_erasure_is_not_kept_after_it(kept: FileAnswers, tmp_path: Path, kind: str) -> None:
    for since in (kept.erasures(), kept.erasures()):
        (kept.erase_texts if kind == "text" else kept.erase_questions)()
        kept.keep("a", {"text": "secret"}, kind=kind, since=since)
    assert kept.get("a") is None
    assert b"secret" not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
    kept.keep("b", {"numbers": [1]}, kind="verdict", since=0)
    assert kept.get("b") == {"numbers": [1]}


def test_the_oldest_half_makes_room(kept: FileAnswers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_MOST", 4)
    for n in range(5):
        kept.keep(str(n), {"n": n}, kind="verdict", since=kept.erasures())
        os.utime(tmp_path / f"cache/answers/verdicts/{n}.json", ns=(n, n))
    assert [kept.get(str(n)) for n in range(5)] == [None, None, {"n": 2}, {"n": 3}, {"n": 4}]


def test_a_link_leads_nowhere(kept: FileAnswers, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious.json").write_text("{}")
    (tmp_path / "cache/answers").mkdir()
    (tmp_path / "cache/answers/texts").symlink_to(elsewhere)
    kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
    kept.erase_texts()
    assert kept.get("precious") is None
    assert os.listdir(elsewhere) == ["precious.json"]


def test_what_cannot_be_written_is_done_without(kept: FileAnswers, tmp_path: Path) -> None:
    (tmp_path / "cache/answers").write_text("a file")
    kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
    assert kept.get("a") is None


def test_answers_about_questions_go_alone_or_with_texts(kept: FileAnswers) -> None:
    kept.erase_questions()
    for erase in (kept.erase_questions, kept.erase_texts):
        kept.keep("a", {"text": "x"}, kind="text", since=kept.erasures())
        kept.keep("q", {"name": "x"}, kind="question", since=kept.erasures())
        erase()
        assert kept.get("q") is None
        assert (kept.get("a") is None) == (erase == kept.erase_texts)
