"""`--next-turn`: a prompt is told what was prepared for the one before it, and waits for no search."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.extras.agents import running as agent_hook
from memcli.extras.agents.hook import MOST_PIPED
from memcli.extras.agents.install import plan_install, states
from memcli.extras.agents.table import AGENTS, parts_of
from tests.conftest import Result, Run
from tests.extras.agents.conftest import entries, payload
from tests.extras.agents.test_install import install, site
from tests.local_state import rows

FIRST = "which database do we use for orders?"
ON = "explain the database of the orders"
Prompt = Callable[..., Result]


@pytest.fixture
def prompt(run: Run, project: Path) -> Prompt:
    """Calls the hook for a prompt; with `prepares` as the background process does."""

    def call(text: str, *, prepares: bool = False, session: str = "s1", **changes: Any) -> Result:
        data = json.dumps(payload("claude", "prompt", project, prompt=text, session_id=session, **changes)).encode()
        words = ["--detached"] if prepares else []
        done = run("hook", "run", "prompt", "--agent", "claude", "--next-turn", *words, stdin=data)
        assert (done.code, done.err) == (0, "")
        return done

    return call


def outcomes(project: Path) -> list[str]:
    return [entry["outcome"] for entry in entries(project, "agents.log")]


def test_a_prompt_is_told_what_was_prepared_for_the_one_before(prompt: Prompt, project: Path) -> None:
    assert prompt(FIRST).out == ""
    assert prompt(FIRST, prepares=True).out == ""
    told = prompt(ON).out
    assert "Related to the previous prompt:" in told
    assert "orders/database" in told
    assert outcomes(project) == ["nothing prepared", "injected"]


def test_nothing_is_told_twice(prompt: Prompt, project: Path) -> None:
    for text in (FIRST, ON, "and which extensions does it use?"):
        prompt(text)
        prompt(text, prepares=True)
    assert outcomes(project) == ["nothing prepared", "injected", "shown before"]


def test_after_a_change_of_topic_nothing_is_told(prompt: Prompt, project: Path) -> None:
    prompt(FIRST)
    prompt(FIRST, prepares=True)
    assert prompt("write a limerick about the stormy sea").out == ""
    assert prompt("explain which database our orders use").out == ""
    assert [entry.get("topic") for entry in entries(project, "agents.log")] == [None, "changed", "changed"]


def test_what_comes_too_late_is_for_nobody(prompt: Prompt) -> None:
    prompt(FIRST)
    prompt(ON)
    prompt(FIRST, prepares=True)
    assert prompt("and how is the database of the orders called?").out == ""


def test_another_session_is_told_nothing(prompt: Prompt) -> None:
    prompt(FIRST)
    prompt(FIRST, prepares=True)
    assert prompt(ON, session="s2").out == ""


def test_it_is_read_when_it_is_told(prompt: Prompt, run: Run) -> None:
    prompt(FIRST)
    prompt(FIRST, prepares=True)
    run("remember", "Orders live in PostgreSQL 18: we need JSONB.", "--kind", "decision", "--path", "orders/database")
    assert "PostgreSQL 18" in prompt(ON).out


def test_what_was_forgotten_meanwhile_is_not_told(prompt: Prompt, run: Run) -> None:
    prompt(FIRST)
    prompt(FIRST, prepares=True)
    assert run("forget", "orders/database").code == 0
    assert prompt(ON).out == ""


def test_what_is_prepared_is_ids_for_the_owner_alone(prompt: Prompt, project: Path) -> None:
    prompt(FIRST)
    prompt(FIRST, prepares=True)
    file = project / ".memory/local/state.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    ((_, _, record),) = rows(project, "agent_session")
    data = json.loads(record)
    assert [name.split("_")[0] for name in data["prepared"]] == ["main/mem"]
    assert "PostgreSQL" not in record
    assert "database" not in record


def test_while_memory_is_off_nothing_is_prepared(prompt: Prompt, run: Run, project: Path) -> None:
    prompt(FIRST)
    run("off")
    prompt(FIRST, prepares=True)
    run("on")
    assert prompt(ON).out == ""


@pytest.mark.parametrize("is_frozen", [True, False])
def test_the_next_is_prepared_in_the_background(
    is_frozen: bool, prompt: Prompt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[list[str], str]] = []
    monkeypatch.setattr(agent_hook, "start", lambda words, piped="": begun.append((words, piped)))
    monkeypatch.setattr(agent_hook, "_run_within", lambda _, work: (work(lambda _: None), ""))
    monkeypatch.delenv("MEMCLI_HOOK_FOREGROUND")
    if not is_frozen:
        monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")
    prompt(FIRST)
    assert len(begun) == (0 if is_frozen else 1)
    for words, piped in begun:
        assert words[:6] == ["hook", "run", "prompt", "--agent", "claude", "--next-turn"]
        assert json.loads(piped) == {"session_id": "s1", "cwd": str(project), "prompt": FIRST}


def test_of_a_long_prompt_the_beginning_is_enough(prompt: Prompt) -> None:
    long = f"{FIRST} {'and so on ' * 5_000}"
    prompt(long)
    prompt(long[:MOST_PIPED], prepares=True)
    assert "orders/database" in prompt("why?").out


def test_prompts_of_machines_and_bad_input_are_left_alone(prompt: Prompt, run: Run, project: Path) -> None:
    prompt(FIRST, source="loop_wakeup")
    for data in (b"", b"{", b"[1]"):
        for words in ([], ["--detached"]):
            done = run("hook", "run", "prompt", "--agent", "claude", "--next-turn", *words, stdin=data)
            assert (done.code, done.out, done.err) == (0, "", "")
    assert outcomes(project) == ["no prompt of a person", "ignored", "ignored", "ignored"]


def test_it_is_for_agents_alone(run: Run) -> None:
    done = run("hook", "run", "post-commit", "--next-turn")
    assert (done.code, "--next-turn needs --agent" in done.err) == (2, True)


HASTY = [name for name in AGENTS if parts_of(name, "project", next_turn=True) != parts_of(name, "project")]


def test_agents_with_a_hook_for_prompts_can_have_it(run: Run) -> None:
    assert HASTY == ["claude", "codex", "cursor", "copilot", "gemini", "opencode", "cline"]
    done = run("agent", "install", "windsurf", "--next-turn")
    assert (done.code, "no hook of windsurf is told the prompts" in done.err) == (2, True)


@pytest.mark.parametrize("name", HASTY)
def test_it_is_installed_and_taken_back(name: str, run: Run, tmp_path: Path) -> None:
    run("init")
    run("agent", "install", name)
    plain = {file: file.read_text() for file in tmp_path.rglob("*") if file.is_file() and ".memory" not in file.parts}
    assert run("agent", "install", name, "--next-turn").code == 0
    changed = [file for file, text in plain.items() if file.read_text() != text]
    assert [file.read_text().count("--next-turn") for file in changed] == [
        2 if name == "copilot" else 1
    ]  # for each shell
    assert run("agent", "install", name, "--next-turn").out == f"{name}: nothing to change\n"
    parts = json.loads(run("agent", "check", name, "--json").out)["parts"]
    assert {part["state"] for part in parts} <= {"active", "untrusted", "pending"}
    assert run("agent", "install", name).code == 0
    assert {file: file.read_text() for file in plain} == plain
    run("agent", "install", name, "--next-turn")
    assert run("agent", "uninstall", name).code == 0
    assert [file for file in plain if file.exists() and "memcli" in file.read_text()] == []


def test_in_another_clone_it_can_be_chosen_and_given_up_too(tmp_path: Path) -> None:
    """Without the notes of the installation."""
    place = site(tmp_path)
    install(place, "claude")
    for next_turn in (True, False):
        Path(place.notes).unlink(missing_ok=True)
        (change,) = plan_install(place, "claude", next_turn=next_turn).changes
        assert ("--next-turn" in (change.after or "")) == next_turn
        Path(change.path).write_text(change.after or "")
        assert {state for _, _, state in states(place, "claude")} == {"active"}
