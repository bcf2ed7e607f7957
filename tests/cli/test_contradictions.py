"""What `remember` and `edit` say of memories that contradict or repeat others, and what they ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.cli import submit
from tests.app.test_contradictions import NEW, OLD, SAME
from tests.conftest import Run


def remember(run: Run, text: str, *options: str) -> dict[str, Any]:
    result = run("remember", text, "--json", *options)
    assert result.code == 0, result.err
    answer: dict[str, Any] = result.json
    return answer


def objects() -> dict[str, dict[str, Any]]:
    found = json.loads(Path(".memory/spaces/main.json").read_text())["objects"]
    return {memory["id"]: memory for memory in found}


def test_the_answer_names_the_other_and_why(run: Run) -> None:
    old = remember(run, OLD)
    assert (old["contradicts"], old["duplicates"]) == ([], [])
    new = remember(run, NEW)
    assert (new["contradicts"], new["duplicates"]) == (
        [{"id": old["id"], "path": old["path"], "reason": "60 s here, 30 s there"}], [],
    )  # fmt: skip
    edited = run("edit", new["id"], "--text", NEW.replace("60", "90"), "--json").json
    assert "contradicts" not in edited  # it is linked already
    run("edit", new["id"], "--text", "Something else entirely.")
    assert [one["id"] for one in run("edit", new["id"], "--text", NEW, "--json").json["contradicts"]] == [old["id"]]
    assert run("edit", new["id"], "--text", NEW.replace("60", "90")).out.count("\n") == 1
    remember(run, NEW, "--keep-both", "--path", "a/b")
    assert remember(run, NEW, "--path", "a/b")["contradicts"] == []
    answer = remember(run, NEW, "--path", "a/b", "--supersedes", old["id"])
    assert old["id"] not in [one["id"] for one in answer["contradicts"]]
    merged = remember(run, "Upstream calls of the API gateway time out after 60 seconds.", "--merge")
    assert merged["status"] == "deduplicated"
    proposed = remember(run, NEW.replace("60", "70"), "--propose")
    assert proposed["contradicts"]
    assert run("inbox", "--json").json[0]["contradicts"] == proposed["contradicts"]


def test_text_offers_the_ways_on(run: Run) -> None:
    run("init")
    old = remember(run, OLD)
    lines = run("remember", NEW).out.splitlines()
    assert lines[0].startswith("created mem_")
    assert lines[1] == f"contradicts {old['id']} {old['path']} (60 s here, 30 s there)"
    assert f"--supersedes {old['id']}" in lines[2]
    assert "--keep-both" in lines[2]
    assert "--merge" in run("remember", SAME).out


SLEEP = "Gateways sleep between uploads to save the battery."
LOW = "Uploads of gateways stop while the battery is low."


def test_what_is_on_the_same_matter_is_named_with_what_to_do(run: Run) -> None:
    run("init")
    old = remember(run, SLEEP)
    remember(run, "Fonts are licensed until March.")
    assert old["related"] == []
    lines = run("remember", LOW).out.splitlines()
    assert lines[1:] == [
        f"related: {old['id']} {old['path']}",
        "  if the new memory replaces one of them, store it again with --supersedes ID",
    ]
    (found,) = remember(run, LOW)["related"]
    assert (found["id"], found["path"], 0.5 < found["score"] < 1) == (old["id"], old["path"], True)
    answer = remember(run, LOW, "--supersedes", old["id"])
    assert (answer["related"], objects()[old["id"]]["superseded_by"]) == ([], answer["id"])


def test_at_most_three_are_related_nearest_first(run: Run) -> None:
    run("init")
    for n, word in enumerate(("the", "some", "this", "the small", "their")):
        remember(run, SLEEP.replace("the", word), "--path", f"a/n{n}", "--no-check")
    found = remember(run, LOW)["related"]
    assert len(found) == 3
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)


def test_maintenance_lists_what_nobody_linked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    run("init")
    old, new = remember(run, SLEEP)["id"], remember(run, LOW)["id"]

    def listed() -> list[str]:
        (space,) = run("store", "maintain", "--dry-run", "--json").json["spaces"]
        return [step["action"] for step in space["steps"]]

    assert listed() == ["related"]
    run("link", new, old)
    assert listed() == []


@pytest.mark.parametrize(("answer", "code", "count"), [("s\n", 0, 2), ("k\n", 0, 2), ("c\n", 5, 1), ("", 5, 1)])
def test_a_person_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, count: int) -> None:
    run("init")
    old = remember(run, OLD)["id"]
    monkeypatch.setattr(submit, "can_ask", lambda: True)
    result = run("remember", NEW, stdin=answer)
    assert (result.code, len(objects())) == (code, count)
    assert f"contradicts {old}" in result.err
    assert bool(objects()[old].get("superseded_by")) == (answer == "s\n")


def test_meaning_finds_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    run("init")
    remember(run, "GPU nodes are scaled to zero at night because of cost.", "--embed")
    answer = remember(run, "We scale GPU machines to zero overnight to save money.", "--embed")
    assert [one["reason"] for one in answer["duplicates"]] == ["the same claim in other words"]


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
