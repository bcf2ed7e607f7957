"""`remember --context`: what was said about a memory is kept with it."""

from __future__ import annotations

import json

import pytest

from memcli.cli.options import fill_bare
from memcli.cli.verb import find_verb
from tests.conftest import Run

SAID = (
    ("user", "Lunch is at noon today."),
    ("assistant", "PostgreSQL has row-level security, which MySQL lacks."),
    ("user", "Then PostgreSQL it is; our tenants need row-level security. My key is AKIA" + "Q3EGTX7ZP5RNB2WM."),
)
TEXT = "We chose PostgreSQL because tenants need row-level security."


def talk(run: Run) -> str:
    name = run("session", "start").out.strip()
    for role, text in SAID:
        run("session", "add", name, text, "--role", role)
    return name


def remembered(run: Run, *options: str, stdin: str | None = None) -> tuple[dict, list[dict]]:
    result = run("remember", TEXT, "--json", *options, stdin=stdin)
    assert result.code == 0, result.err
    told = result.json
    return told, run("get", told["id"], "--context", "--json").json[0]


def test_the_current_session_is_kept_most_relevant_first(run: Run) -> None:
    name = talk(run)
    told, context = remembered(run, "--context")
    assert {(one["source"], one["role"]) for one in context} == {
        (f"{name}#{n}", role) for n, (role, _) in enumerate(SAID, 1)
    }
    assert context[-1]["source"] == f"{name}#1"
    similar = [one["similarity"] for one in context]
    assert similar == sorted(similar, reverse=True)
    assert all(0 <= value <= 1 for value in similar)
    assert 0 < told["context_tokens"] <= 1000
    assert "AKIA" not in json.dumps(context)
    shown = run("get", told["id"], "--context").out
    assert "row-level security, which MySQL lacks." in shown
    assert f"{name}#2" in shown


def test_it_is_chosen_by_meaning(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    name = run("session", "start").out.strip()
    for text in ("The cafeteria serves soup.", "Cars need petrol.", "The dog sleeps."):
        run("session", "add", name, text, "--role", "user")
    result = run("remember", "Automobiles burn fuel", "--context", "8", "--json")
    (found,) = run("get", result.json["id"], "--context", "--json").json
    assert [one["text"] for one in found] == ["Cars need petrol."]


def test_each_line_of_a_batch_keeps_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    name = talk(run)
    lines = [{"raw": "Meals are eaten at twelve.", "path": "a"}, {"raw": TEXT, "path": "b"}]
    batch = "".join(json.dumps(line) + "\n" for line in lines)
    told = run("remember", "--batch", "-", "--context", "--json", stdin=batch).json
    assert all(one["context_tokens"] > 0 for one in told["memories"])
    first, second = (run("get", path, "--context", "--json").json[0] for path in ("a", "b"))
    assert first[0]["source"] == f"{name}#1"
    assert second[0]["source"] == f"{name}#3"


def test_without_an_embedder_words_choose(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = talk(run)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    told, context = remembered(run, "--context")
    assert context[0]["source"] == f"{name}#3"
    assert context[-1]["similarity"] == 0
    assert told["context_tokens"] > 0


def test_a_number_limits_its_tokens(run: Run) -> None:
    name = talk(run)
    told, context = remembered(run, "--context", "16")
    assert {one["source"] for one in context} == {f"{name}#2"}
    assert 8 < told["context_tokens"] <= 16


def test_a_pipe_is_kept_instead(run: Run) -> None:
    talk(run)
    _, context = remembered(run, "--context", stdin="We need row-level security for tenants.\n\nThe weather is fine.\n")
    assert [one["source"] for one in context] == ["stdin"]


def test_the_number_may_be_left_out_anywhere(run: Run) -> None:
    talk(run)
    assert run("remember", "--context", TEXT).code == 0
    assert run("remember", "--context=50", TEXT).code == 0
    assert run("remember", "--context", "0", TEXT).code == 2
    assert fill_bare(["--", "--context"], find_verb("remember").options.FIELDS) == ["--", "--context"]
