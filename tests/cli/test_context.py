"""`remember --context`: what was said about a memory is kept with it."""

from __future__ import annotations

import json
import sys

from memcli.cli import main as cli_main
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
    told = json.loads(result.out)
    return told, json.loads(run("get", told["id"], "--context", "--json").out)[0]


def test_the_current_session_is_kept_as_far_as_it_is_relevant(run: Run) -> None:
    name = talk(run)
    told, context = remembered(run, "--context")
    assert [one["source"] for one in context] == [f"{name}#2", f"{name}#3"]
    assert [one["role"] for one in context] == ["assistant", "user"]
    assert all(0 < one["similarity"] <= 1 for one in context)
    assert 0 < told["context_tokens"] <= 1000
    assert "AKIA" not in json.dumps(context)
    shown = run("get", told["id"], "--context").out
    assert "row-level security, which MySQL lacks." in shown
    assert f"{name}#2" in shown


def test_a_number_limits_its_tokens(run: Run) -> None:
    talk(run)
    told, context = remembered(run, "--context", "16")
    assert len(context) == 1
    assert told["context_tokens"] <= 16


def test_a_pipe_is_kept_instead(run: Run) -> None:
    talk(run)
    _, context = remembered(run, "--context", stdin="We need row-level security for tenants.\n\nThe weather is fine.\n")
    assert [one["source"] for one in context] == ["stdin"]


def test_without_a_session_it_is_an_error(run: Run) -> None:
    result = run("remember", TEXT, "--context")
    assert result.code != 0
    assert "session" in result.err


def test_the_number_may_be_left_out_anywhere(run: Run) -> None:
    talk(run)
    assert run("remember", "--context", TEXT).code == 0
    assert run("remember", "--context=50", TEXT).code == 0
    assert run("remember", "--context", "0", TEXT).code == 2
    assert sys.modules[cli_main.__name__]._filled(["remember", "--", "--context"]) == ["remember", "--", "--context"]
