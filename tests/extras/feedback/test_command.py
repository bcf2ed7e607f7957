"""`memcli feedback`: by id, path and number; kept on this machine, shown by `get`, and in no tracked file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.usage import HELPFUL, JUDGEMENTS, Use
from memcli.store.layout import Layout
from memcli.store.notes import LocalUsage
from memcli.store.state import State
from tests.cli.conftest import wrong
from tests.conftest import Run
from tests.local_state import local_bytes

KEY = "AKIA" + "IOSFODNN7EXAMPLF"


@pytest.fixture(autouse=True)
def a_running_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")


@pytest.fixture
def ids(run: Run) -> list[str]:
    texts = ("We chose PostgreSQL as the database.", "The database is backed up each night.")
    return [run("remember", text, "--path", f"db/{n}", "--json").json["id"] for n, text in enumerate(texts)]


def judged(folder: Path) -> list[Use]:
    uses = LocalUsage(State(Layout(str(folder / ".memory")))).read()
    return [use for use in uses if use.act in JUDGEMENTS]


def test_numbers_are_those_of_the_last_answer(run: Run, ids: list[str], tmp_path: Path) -> None:
    sections = run("recall", "which database did we choose?", "--format", "json").json["sections"]
    shown = [section["id"] for section in sections]
    assert set(shown) == set(ids)
    told = run("feedback", "2", "1", "2", "--helpful", "--json").json
    assert [one["id"] for one in told["memories"]] == [shown[1], shown[0]]
    assert [(use.act, use.ids) for use in judged(tmp_path)] == [(HELPFUL, (shown[1],)), (HELPFUL, (shown[0],))]


def test_numbers_are_those_of_the_own_session(run: Run, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_SESSION", "ses_a")
    run("recall", "backed up each night", "--limit", "1")
    monkeypatch.setenv("MEMCLI_SESSION", "ses_b")
    run("recall", "chose PostgreSQL", "--limit", "1")
    assert ids[0] in run("feedback", "1", "--helpful").out
    monkeypatch.setenv("MEMCLI_SESSION", "ses_a")
    assert ids[1] in run("feedback", "1", "--helpful").out


@pytest.mark.parametrize("option", ["--helpful", "--unhelpful", "--rejected"])
def test_ids_and_paths_are_judged_and_no_tracked_file_changes(
    option: str, run: Run, ids: list[str], tmp_path: Path
) -> None:
    file = tmp_path / ".memory/spaces/main.json"
    before = file.read_bytes()
    found = run("feedback", ids[0], "db/1", option)
    assert (found.code, found.out) == (0, f"{option[2:]} {ids[0]} db/0\n{option[2:]} {ids[1]} db/1\n")
    assert file.read_bytes() == before
    assert f"feedback not applied yet: 1 {option[2:]}" in run("get", "db/1").out
    assert run("get", "db/0", "--json").json["usage"]["pending"] == {option[2:]: 1}


def test_a_reason_is_kept_without_secrets(run: Run, ids: list[str], tmp_path: Path) -> None:
    run("feedback", ids[0], "--unhelpful", "--reason", f"the key is\n{KEY}")
    assert judged(tmp_path)[0].reason.startswith("the key is [REDACTED")
    assert KEY.encode() not in local_bytes(tmp_path)


@pytest.mark.usefixtures("ids")
def test_what_cannot_be_judged_notes_nothing(run: Run, tmp_path: Path) -> None:
    table = [
        ("1 --helpful", 3, "no answer of recall"), ("db/0", 2, "one of --helpful"),
        ("db/0 --helpful --rejected", 2, "one of --helpful"), ("nowhere --helpful", 3, "no memory 'nowhere'"),
    ]  # fmt: skip
    assert wrong(run, table, "feedback") == ""
    assert judged(tmp_path) == []


def test_a_number_that_the_answer_has_not_or_that_is_gone(run: Run, ids: list[str]) -> None:
    run("recall", "chose PostgreSQL", "--limit", "1")
    assert "no memory 9" in run("feedback", "9", "--helpful").err
    run("forget", "--purge", "--yes", ids[0])
    assert run("feedback", "1", "--helpful").code == 3


def test_of_the_user_wide_store_it_goes_there(run: Run, ids: list[str], tmp_path: Path) -> None:
    run("remember", "I prefer tabs in every editor.", "--scope", "global", "--path", "me/tabs")
    run("recall", "do I prefer tabs in an editor?", "--limit", "1")
    assert "me/tabs" in run("feedback", "1", "--helpful").out
    assert "me/tabs" in run("feedback", "me/tabs", "--rejected").out
    assert judged(tmp_path) == []
