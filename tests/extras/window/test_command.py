"""`memcli session context`: what it reads, prints and reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.app.conftest import Project
from tests.cli.conftest import wrong
from tests.conftest import Run, memory


@pytest.fixture
def told(run: Run, tmp_path: Path) -> Run:
    """A store with memories and a session."""
    project = Project(tmp_path)
    project.put(*(
        memory(f"r{n}", raw=f"Rule {n}: a job of the queue is retried {n} times.", path=f"queue/rule{n}") for n in range(12)
    ))  # fmt: skip
    project.say(
        *(("user" if n % 2 else "assistant", f"Step {n}: we look at the queue and its jobs.") for n in range(1, 34))
    )
    return run


def test_each_format_is_printed_within_the_total(told: Run) -> None:
    Path("system.md").write_text("Be brief and careful.\n", encoding="utf-8")
    begins = {"markdown": "Be brief", "json": "{", "openai": "[", "anthropic": "{"}
    for form, first in begins.items():
        line = ["jobs of the queue", "--total", "400", "--format", form, "--system", "system.md"]
        result = told("session", "context", *line)
        assert result.out.startswith(first), (form, result.err)
        assert "Be brief and careful." in result.out
        used = int(re.search(r"([\d,]+) of 400 tokens used|$", result.err)[1] or result.json["used"])
        assert 0 < used <= 400


def test_the_policy_says_how_a_session_is_folded(told: Run) -> None:
    def counted() -> tuple[int, int]:
        sections = told("session", "context", "jobs of the queue", "--json").json["sections"]
        counts = {one["name"]: len(one["items"]) for one in sections}
        return counts["chunks"], counts["messages"]

    assert counted() == (1, 23)
    sizes = ("--set", "recent_messages=5", "--set", "chunk_size=4")
    assert told("space", "policy", "main", *sizes).code == 0
    assert counted() == (7, 5)
    assert told("space", "policy", "main", "--set", "max_chunks=3").code == 0
    assert counted() == (3, 5)


def test_json_and_markdown_say_what_was_left_out(told: Run) -> None:
    line = ("session", "context", "how often is a job retried?", "--total", "500")
    result = told(*line, "--json")
    data = result.json
    assert data["left_out"]
    assert data["query"] == "how often is a job retried?"
    assert data["used"] <= data["available"] <= 500
    assert result.err == ""
    assert told(*line, "--format", "json").out == result.out
    result = told(*line)
    assert "Left out" not in result.out
    lines = result.err.splitlines()
    assert " of 500 tokens used; " in lines[0]
    assert lines[1].startswith("memcli: The window holds ")
    assert any(line.endswith("ranked behind what does not fit") for line in lines)
    assert told(*line, "-q").err == ""
    assert result.out.rstrip().endswith("Step 33: we look at the queue and its jobs.")


def test_the_query_is_read_from_a_pipe_or_the_session(told: Run) -> None:
    given = told("session", "context", "rule 7 of the queue", "--json").out
    assert told("session", "context", "--json", stdin="rule 7 of the queue\n").out == given
    assert told("session", "context", "-", "--json", stdin="rule 7 of the queue").out == given
    assert told("session", "context", "--json").json["query"] == "Step 33: we look at the queue and its jobs."


def test_the_session_is_the_current_one_a_named_one_or_none(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    other = told("session", "start", "--freeze-clock", "2026-02-01T00:00:00Z").out.strip()
    told("session", "add", other, "Another conversation.")

    def numbers(*options: str) -> list[int]:
        sections = told("session", "context", "queue", "--json", *options).json["sections"]
        return [item["number"] for section in sections if section["name"] == "messages" for item in section["items"]]

    first = next(one["id"] for one in told("session", "list", "--json").json if one["id"] != other)
    assert numbers() == [1]
    assert numbers("--session", first[:9]) == list(range(11, 34))
    assert numbers("--no-session") == []
    monkeypatch.setenv("MEMCLI_SESSION", first)
    assert numbers() == list(range(11, 34))
    monkeypatch.setenv("MEMCLI_SESSION", "ses_gone")
    assert told("session", "context", "queue").code == 3


def test_one_line_and_an_exit_code(told: Run) -> None:
    table = [
        ("x --total 5 --reserve-working 9", 2, "the reserves of 0 and 9 tokens exceed the total of 5"),
        ("x --total 0", 2, "--total must be between 1 and 10000000, not 0"), (["-"], 2, "the query is empty"),
        ("x --reserve-system -1", 2, "--reserve-system must be between 0 and"), ([" "], 2, "the query is empty"),
        ("x --format yaml", 2, "no format 'yaml' (choose one of markdown, json, openai, anthropic)"),
        ("x --session ses_1 --no-session", 2, "--session and --no-session exclude each other"),
        ("x --session ses_gone", 3, "no session 'ses_gone'"), ("x --insert no/such", 3, "no memory 'no/such'"),
        ("x --insert queue/rule1", 2, "has no context"), ("x --system gone.md", 3, "no file 'gone.md'"),
        ("- --system -", 2, "standard input cannot be both"), ("--no-session", 2, "no query"),
    ]  # fmt: skip
    assert wrong(told, table, "session", "context") == ""
