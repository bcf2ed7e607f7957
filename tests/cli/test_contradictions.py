"""What `remember` says of memories that contradict or repeat others, and what recall shows of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.app.check import check, scan
from memcli.app.remember import prepare
from memcli.app.remember import remember as store
from memcli.cli import submit
from memcli.model.findings import Resolution
from memcli.wiring.workspace import open_workspace
from tests.conftest import Run

OLD = "The API gateway times out upstream calls after 30 s."
NEW = "The API gateway times out upstream calls after 60 s."
SAME = "Upstream calls of the API gateway time out after 30 seconds."


def remember(run: Run, text: str, *options: str) -> dict[str, Any]:
    result = run("remember", text, "--json", *options)
    assert result.code == 0, result.err
    answer: dict[str, Any] = result.json
    return answer


def objects() -> dict[str, dict[str, Any]]:
    found = json.loads(Path(".memory/spaces/main.json").read_text())["objects"]
    return {memory["id"]: memory for memory in found}


def contradicted(name: str) -> list[str]:
    return [link["to"] for link in objects()[name].get("links", []) if link["relation"] == "contradicts"]


@pytest.fixture
def both(run: Run) -> tuple[str, str]:
    """The ids of two memories that contradict each other."""
    run("init")
    return remember(run, OLD)["id"], remember(run, NEW)["id"]


def test_the_answer_names_the_other_and_why(run: Run) -> None:
    run("init")
    old = remember(run, OLD)
    assert (old["contradicts"], old["duplicates"]) == ([], [])
    new = remember(run, NEW)
    assert new["contradicts"] == [{"id": old["id"], "path": old["path"], "reason": "60 s here, 30 s there"}]
    assert new["duplicates"] == []


def test_text_offers_the_ways_on(run: Run) -> None:
    run("init")
    old = remember(run, OLD)
    lines = run("remember", NEW).out.splitlines()
    assert lines[0].startswith("created mem_")
    assert lines[1] == f"contradicts {old['id']} {old['path']} (60 s here, 30 s there)"
    assert f"--supersedes {old['id']}" in lines[2]
    assert "--keep-both" in lines[2]
    assert "--merge" in run("remember", SAME).out


def test_supersedes_resolves_it_afterwards(run: Run, both: tuple[str, str]) -> None:
    old, new = both
    answer = remember(run, NEW, "--supersedes", old)
    assert (answer["id"], answer["contradicts"]) == (new, [])
    assert objects()[old]["superseded_by"] == new
    assert "contradicts" not in run("recall", "gateway timeout").out


def test_keep_both_is_not_asked_again(run: Run, both: tuple[str, str]) -> None:
    old, new = both
    assert [one["id"] for one in remember(run, NEW)["contradicts"]] == [old]
    remember(run, NEW, "--keep-both")
    assert remember(run, NEW)["contradicts"] == []
    assert contradicted(new) == [old]
    (found,) = scan(open_workspace({}, {"MEMCLI_EMBEDDER": "off"}))
    assert found.is_accepted


def test_merge_strengthens_the_first(run: Run) -> None:
    run("init")
    old = remember(run, OLD)
    answer = remember(run, SAME, "--merge", "--tag", "net")
    assert (answer["status"], answer["id"]) == ("deduplicated", old["id"])
    (memory,) = objects().values()
    assert memory["strength"] == 2
    assert "net" in memory["tags"]


def test_markers_say_that_the_newer_one_holds(run: Run) -> None:
    run("init")
    old = remember(run, OLD)
    (found,) = remember(run, "The API gateway now times out upstream calls after 60 s.")["contradicts"]
    assert (found["id"], found["newer_holds"]) == (old["id"], True)
    topic = "When does the API gateway time out upstream calls?"
    sections = run("recall", topic, "--format", "json").json["sections"]
    assert [one["contradicts"][0].get("outdated", False) for one in sections] == [True, False]


@pytest.mark.parametrize("form", ["prompt", "text", "md", "table"])
def test_no_side_is_shown_without_the_other(run: Run, both: tuple[str, str], form: str) -> None:
    old, new = both
    shown = run("recall", "gateway timeout", "--limit", "1", "--format", form).out.replace("\\", "")
    first, other = (old, new) if old in shown.split("contradicts")[0] else (new, old)
    assert f"contradicts [{other}]" in shown
    assert first in shown
    assert {old: OLD, new: NEW}[other] in shown


@pytest.mark.parametrize("budget", ["130", "200", "400"])
def test_a_budget_holds_with_contradictions(run: Run, both: tuple[str, str], budget: str) -> None:
    shown = run("recall", "gateway timeout", "--budget", budget)
    assert shown.code == 0
    assert shown.out.count("contradicts [") == shown.out.count("2026-01-31 · fact")


@pytest.mark.parametrize("change", ["edit", "remember"])
def test_a_text_that_no_longer_contradicts_drops_the_links(run: Run, both: tuple[str, str], change: str) -> None:
    old, new = both
    text = "The API gateway writes an access log in JSON."
    path = objects()[new]["path"]
    if change == "edit":
        assert run("edit", new, "--set", f"raw={text}").code == 0
    else:
        remember(run, text, "--path", path)
    assert objects()[new]["raw"] == text
    assert contradicted(new) == contradicted(old) == []


def test_a_text_that_is_edited_is_compared(run: Run) -> None:
    run("init")
    old = remember(run, OLD, "--path", "a/old")["id"]
    new = remember(run, "Something else entirely.", "--path", "a/new")["id"]
    answer = run("edit", "a/new", "--text", NEW, "--json").json
    assert [one["id"] for one in answer["contradicts"]] == [old]
    assert (contradicted(new), contradicted(old)) == ([old], [new])
    assert "contradicts" not in run("edit", "a/new", "--text", NEW, "--json").json
    told = run("edit", "a/new", "--text", NEW.replace("60", "90")).out
    assert told.count("\n") == 1  # it is linked already
    run("edit", "a/new", "--text", "Something else entirely.")
    assert contradicted(old) == []


def test_a_link_that_somebody_made_stays(run: Run) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    new = remember(run, "The lift is out of order.", "--link", f"contradicts:{old}")
    run("edit", new["id"], "--set", "raw=The lift works.")
    assert contradicted(new["id"]) == [old]


@pytest.mark.parametrize("how", [["forget"], ["forget", "--purge", "--yes"]])
def test_what_is_gone_contradicts_nothing(run: Run, both: tuple[str, str], how: list[str]) -> None:
    old, new = both
    assert run(*how, old).code == 0
    shown = run("recall", "gateway timeout").out
    assert new in shown
    assert "contradicts" not in shown
    assert run("check", "store").code == 0


def test_a_batch_is_compared_with_itself_and_the_space(run: Run) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    lines = [NEW, "Sessions are stored in Redis.", "We store sessions in PostgreSQL."]
    batch = "\n".join(json.dumps({"raw": line}) for line in lines)
    answer = run("remember", "--batch", "-", "--json", stdin=batch).json
    first, second, third = answer["memories"]
    assert [one["id"] for one in first["contradicts"]] == [old]
    assert [one["id"] for one in third["contradicts"]] == [second["id"]]
    assert contradicted(second["id"]) == [third["id"]]


def test_the_inbox_says_what_a_proposal_contradicts(run: Run) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    proposed = remember(run, NEW, "--propose")
    assert [one["id"] for one in proposed["contradicts"]] == [old]
    (listed,) = run("inbox", "--json").json
    assert [one["id"] for one in listed["contradicts"]] == [old]
    (accepted,) = run("inbox", "accept", "--all", "--json").json
    assert contradicted(accepted["id"]) == [old]


@pytest.mark.parametrize(("answer", "code", "count"), [("s\n", 0, 2), ("k\n", 0, 2), ("c\n", 5, 1), ("", 5, 1)])
def test_a_person_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, count: int) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    monkeypatch.setattr(submit, "can_ask", lambda: True)
    result = run("remember", NEW, stdin=answer)
    assert (result.code, len(objects())) == (code, count)
    assert f"contradicts {old}" in result.err
    assert bool(objects()[old].get("superseded_by")) == (answer == "s\n")


def test_other_spaces_are_named_and_not_linked(run: Run) -> None:
    run("init")
    remember(run, OLD, "--space", "journal")
    (found,) = remember(run, NEW)["contradicts"]
    assert found["space"] == "journal"
    assert all("links" not in memory for memory in objects().values())


def test_accounts_of_what_happened_are_not_compared(run: Run) -> None:
    run("init")
    remember(run, OLD, "--kind", "log")
    assert remember(run, NEW)["contradicts"] == []
    assert remember(run, "The API gateway times out upstream calls after 90 s.", "--kind", "diff")["contradicts"] == []


def test_meaning_finds_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    run("init")
    remember(run, "GPU nodes are scaled to zero at night because of cost.", "--embed")
    answer = remember(run, "We scale GPU machines to zero overnight to save money.", "--embed")
    assert [one["reason"] for one in answer["duplicates"]] == ["the same claim in other words"]


MODEL, OTHER_MODEL = "The default model is gpt-4o-mini.", "The default model is gpt-7."


@pytest.mark.parametrize("embed", [[], ["--embed"]])
@pytest.mark.parametrize("batch", [False, True])
def test_another_value_contradicts_and_is_not_merged(
    run: Run, monkeypatch: pytest.MonkeyPatch, embed: list[str], batch: bool
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    run("init")
    old = remember(run, MODEL, *embed)
    if batch:
        line = json.dumps({"raw": OTHER_MODEL})
        told = run("remember", "--batch", "-", "--merge", "--json", *embed, stdin=line).out
        (new,) = json.loads(told)["memories"]
    else:
        new = remember(run, OTHER_MODEL, "--merge", *embed)
    assert new["contradicts"] == [{"id": old["id"], "path": old["path"], "reason": "gpt-7 here, gpt-4o-mini there"}]
    assert (new["status"], new["duplicates"]) == ("created", [])
    assert [memory["raw"] for memory in objects().values()] == [MODEL, OTHER_MODEL]
    (found,) = scan(open_workspace({}, {"MEMCLI_EMBEDDER": "onnx"}), by_meaning=True)
    assert found.finding.kind == "contradicts"


@pytest.mark.parametrize(
    ("text", "options", "lacks"),
    [
        ("Upstream calls of the API gateway time out after 30 seconds in eu-west-1.", [], "eu-west-1"),
        (SAME, ["--trigger", "gateway", "--kind", "constraint"], "the triggers"),
        (SAME, ["--valid-until", "2030-01-01"], "the valid until"),
    ],
)
def test_a_merge_drops_nothing_that_only_the_new_one_has(run: Run, text: str, options: list[str], lacks: str) -> None:
    run("init")
    old = remember(run, OLD)
    answer = remember(run, text, "--merge", *options)
    assert answer["status"] == "created"
    assert [(one["id"], one["reason"]) for one in answer["duplicates"]] == [
        (old["id"], f"the same words, but it lacks {lacks}")
    ]
    assert len(objects()) == 2
    assert "--merge" not in run("remember", text, *options).out


def test_a_memory_that_changed_after_it_was_compared_takes_nothing_in(run: Run) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    workspace = open_workspace({}, {"MEMCLI_EMBEDDER": "off"})
    candidate = prepare(workspace, {"raw": SAME})
    resolution = Resolution(check(workspace, [candidate]), merges=True)
    assert run("edit", old, "--set", f"raw={NEW}").code == 0
    (outcome,) = store(workspace, [candidate], resolution=resolution).outcomes
    assert outcome.status == "created"
    assert {memory["raw"] for memory in objects().values()} == {NEW, SAME}


def test_scan_lists_a_whole_space(run: Run, both: tuple[str, str]) -> None:
    remember(run, "The linter is ruff.")
    workspace = open_workspace({}, {"MEMCLI_EMBEDDER": "hashed"})
    (found,) = scan(workspace)
    assert {found.newer.id, found.older.id} == set(both)
    assert found.finding.kind == "contradicts"
    assert not found.is_accepted
    assert scan(workspace, "journal") == []
    assert [one.finding.kind for one in scan(workspace, by_meaning=True)] in (["contradicts"], [])


@pytest.mark.parametrize("place", ["", "auth/old"])
def test_what_supersedes_inherits_no_acceptance(run: Run, place: str) -> None:
    run("init")
    old = remember(run, OLD, "--path", "auth/old")["id"]
    other = remember(run, NEW, "--keep-both")["id"]
    newer = OLD.replace("30", "90")
    answer = remember(run, newer, "--supersedes", old, *(["--path", place] if place else []))
    assert [one["id"] for one in answer["contradicts"]] == [other]
    assert contradicted(answer["id"]) == [other]


@pytest.mark.parametrize(("space", "how"), [("notes", ["--all-spaces"]), ("journal", [])])
def test_no_side_is_shown_without_one_of_another_space(run: Run, space: str, how: list[str]) -> None:
    run("init")
    old = remember(run, OLD, "--space", space, "--path", "a/old")["id"]
    new = remember(run, NEW, "--path", "a/new")["id"]
    run("link", "a/new", f"{space}:a/old", "--relation", "contradicts")
    sections = run("recall", "gateway timeout", "--json", *how).json["sections"]
    assert {s["id"]: [o["id"] for o in s["contradicts"]] for s in sections} == {new: [old], old: [new]}
    alone = run("recall", "gateway timeout", "--json", "--space", "main").json["sections"]
    assert [s.get("contradicts") for s in alone] == [None]


def test_no_way_is_offered_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    remember(run, OLD, "--space", "journal", "--path", "a/old")
    told = run("remember", NEW).out
    assert "journal:a/old (60 s here" in told
    assert "--supersedes" not in told
    remember(run, "The database is PostgreSQL.")
    run("remember", "The database is MySQL.", "--propose")
    told = run("inbox", "accept", "--all").out
    assert "--relation supersedes" in told
    assert "--keep-both" not in told
    monkeypatch.setattr(submit, "can_ask", lambda: True)
    assert run("remember", OLD.replace("30", "90"), "--path", "a/b", stdin="s\nk\n").code == 0
