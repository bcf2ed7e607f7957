"""Testing recall on a store: what is printed counts, places are told, and the plain word search stands beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.extras.check.cases import CaseOutcome, run_cases
from memcli.extras.check.expectations import Case, Measures
from memcli.model.recall import Query
from memcli.render.as_prompt import entry, render
from tests.conftest import NOW, memory, open_at, rewrite


@pytest.fixture
def stored(workspace: Workspace) -> Workspace:
    memories = [
        memory("port", raw="PostgreSQL listens on port 5432.", path="db/port"),
        memory("pool", raw="The PostgreSQL pool has twenty connections on each port.", path="db/pool"),
        memory("bread", raw="Bread needs yeast and patience.", path="kitchen/bread", kind="log"),
        memory("pin", raw="Reviews take two people.", path="team/review", pinned=True),
    ]
    rewrite(workspace.store, lambda space: space.put(memories, NOW))
    other = memory("team", raw="The team of PostgreSQL meets on Monday.", path="team/meeting")
    rewrite(workspace.store, lambda space: space.put([other], NOW), space="team")
    return workspace


def check(workspace: Workspace, *cases: dict[str, object]) -> tuple[list[CaseOutcome], Measures, Measures]:
    made = [Case(file="f.toml", line=n, **{"topic": "postgresql port", **case}) for n, case in enumerate(cases, 1)]  # type: ignore[arg-type]
    return run_cases(workspace, made, render, entry)


def outcome(workspace: Workspace, **case: object) -> CaseOutcome:
    return check(workspace, case)[0][0]


def test_what_is_missing_has_the_place_where_more_room_has_it(stored: Workspace) -> None:
    assert outcome(stored, top=1, must_include=("db/pool", "db/none")).missing == (("db/pool", 2), ("db/none", None))
    least = next(
        n for n in range(60, 400, 5) if outcome(stored, budget=n, must_include=("db/port",)).verdict.has_passed
    )
    assert outcome(stored, budget=least, must_include=("db/pool",)).missing == (("db/pool", 2),)


def test_the_options_of_recall(stored: Workspace) -> None:
    assert outcome(stored, topic="bread yeast", kind=("log",), must_include=("mem_bread",)).verdict.has_passed
    assert outcome(stored, topic="bread yeast", kind=("fact",), empty=True).verdict.has_passed
    assert outcome(stored, under="kitchen", must_not_include=("db/*",)).verdict.has_passed
    assert outcome(stored, space="team", must_include=("team/meeting",), must_not_include=("db/*",)).verdict.has_passed
    assert outcome(stored, at="2000-01-01T00:00:00Z", must_include=("db/port",)).reason == "all_filtered"
    assert outcome(stored, space="nowhere", must_include=("db/port",)).reason == "empty_space"


def test_pins_and_the_order_of_cases(stored: Workspace) -> None:
    cases = [{"must_include": ("db/port",), "space": space} for space in ("team", "", "team", "main")]
    outcomes, *_ = check(stored, *cases)
    assert [(o.case.line, o.verdict.has_passed) for o in outcomes] == [
        (1, False), (2, True), (3, False), (4, True),
    ]  # fmt: skip
    assert outcome(stored, topic="zxqv wplk", empty=True).verdict.has_passed
    assert not outcome(stored, topic="zxqv wplk", must_include=("team/review",)).verdict.has_passed


def test_it_agrees_with_what_recall_prints(stored: Workspace) -> None:
    bundle = next(iter(recall(stored, [Query(topic="postgresql port", now=NOW, limit=2)])))
    for number, section in enumerate(bundle.sections, 1):
        assert entry(number, section, bundle) in render(bundle)
        assert outcome(stored, must_include=(section.memory.id,)).verdict.places == (number,)


def test_the_plain_word_search_stands_beside_it(stored: Workspace) -> None:
    _, found, words = check(
        stored, {"must_include": ("db/port",)}, {"topic": "which bread for the zxqv?", "empty": True}
    )
    assert (found.cases, words.cases, found.targeted, words.targeted) == (2, 2, 1, 1)
    assert (words.answered, words.passed) == (1, 1)  # it never says that nothing is relevant


def test_a_topic_that_cannot_be_asked_is_named(stored: Workspace) -> None:
    with pytest.raises(UsageError, match=r"f\.toml:2: a budget of 1 tokens is too small"):
        check(stored, {"empty": True}, {"budget": 1, "empty": True})


def test_the_user_wide_store_is_not_asked(stored: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "global"))
    wide = open_at(tmp_path / "global")
    rewrite(wide.store, lambda space: space.put([memory("own", raw="My PostgreSQL port is 5433.", path="own")], NOW))
    assert outcome(open_at(tmp_path), must_not_include=("own",), must_include=("db/port",)).verdict.has_passed


def test_neither_secrets_nor_instructions_of_a_file_are_repeated(stored: Workspace) -> None:
    key = "AKIA" + "7QZ3MLW5XKTB2VPD"
    case = {"topic": f"is {key} a key?", "must_include": (f"/{key}/", "/ignore all previous instructions/")}
    found = outcome(stored, **case)
    shown = json.dumps(found.to_json())
    assert key not in shown
    assert "previous" not in shown
    assert len(found.missing) == 2
