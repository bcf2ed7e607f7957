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
from memcli.extras.agents.install import carry_out, check, plan_install
from memcli.extras.agents.table import AGENTS, parts_of
from tests.conftest import Result, Run
from tests.extras.agents.conftest import entries, payload
from tests.extras.agents.test_install import install, site, tree, uninstall
from tests.local_state import rows

FIRST = "which database do we use for orders?"
ON = "explain the database of the orders"
Prompt = Callable[..., Result]


@pytest.fixture
def prompt(run: Run, project: Path) -> Prompt:
    """Calls the hook for a prompt; with `prepares` also as the background process does, or as this alone."""

    def call(text: str, *, prepares: bool | None = False, session: str = "s1", **changes: Any) -> Result:
        data = json.dumps(payload("claude", "prompt", project, prompt=text, session_id=session, **changes)).encode()
        command = ("hook", "run", "prompt", "--agent", "claude", "--next-turn")
        done = run(*command, stdin=data) if prepares is not None else run(*command, "--detached", stdin=data)
        if prepares:
            assert call(text, prepares=None, session=session, **changes).out == ""
        assert (done.code, done.err) == (0, "")
        return done

    return call


def outcomes(project: Path) -> list[str]:
    return [entry["outcome"] for entry in entries(project, "agents.log")]


def test_a_prompt_gets_once_what_was_prepared_for_the_one_before(prompt: Prompt, project: Path) -> None:
    assert prompt(FIRST, prepares=True).out == ""
    assert prompt(ON, session="s2").out == "", "another session"
    found = prompt(ON, prepares=True).out
    assert "Related to the previous prompt:" in found
    assert "orders/database" in found
    prompt("and which extensions does it use?")
    assert outcomes(project) == ["nothing prepared", "nothing prepared", "injected", "shown before"]


def test_after_a_change_of_topic_nothing_is_told(prompt: Prompt, project: Path) -> None:
    prompt(FIRST, prepares=True)
    assert prompt("write a limerick about the stormy sea").out == ""
    assert prompt("explain which database our orders use").out == ""
    assert [entry.get("topic") for entry in entries(project, "agents.log")] == [None, "changed", "changed"]


def test_what_comes_too_late_is_for_nobody(prompt: Prompt) -> None:
    prompt(FIRST)
    prompt(ON)
    prompt(FIRST, prepares=None)
    assert prompt("and how is the database of the orders called?").out == ""


def test_it_is_read_when_it_is_shown(prompt: Prompt, run: Run) -> None:
    for session in ("s1", "s2"):
        prompt(FIRST, prepares=True, session=session)
    new = "Orders live in PostgreSQL 18: we need JSONB."
    run("remember", new, "--kind", "decision", "--path", "orders/database")
    assert "PostgreSQL 18" in prompt(ON).out
    assert run("forget", "orders/database").code == 0
    assert prompt(ON, session="s2").out == ""


def test_what_is_prepared_is_ids_for_the_owner_alone(prompt: Prompt, project: Path) -> None:
    prompt(FIRST, prepares=True)
    assert stat.S_IMODE((project / ".memory/local/state.db").stat().st_mode) == 0o600
    ((_, _, record),) = rows(project, "agent_session")
    assert [name.split("_")[0] for name in json.loads(record)["prepared"]] == ["main/mem"]
    assert ("PostgreSQL" in record, "database" in record) == (False, False)


def test_while_memory_is_off_nothing_is_prepared(prompt: Prompt, run: Run, project: Path) -> None:
    run("off")
    prompt(FIRST, prepares=True)
    run("on")
    prompt(FIRST)
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
    prompt(long[:MOST_PIPED], prepares=None)
    assert "orders/database" in prompt("why?").out


def test_prompts_of_machines_and_bad_input_are_left_alone(prompt: Prompt, run: Run, project: Path) -> None:
    prompt(FIRST, source="loop_wakeup")
    for data in (b"", b"{", b"[1]"):
        for words in ([], ["--detached"]):
            done = run("hook", "run", "prompt", "--agent", "claude", "--next-turn", *words, stdin=data)
            assert (done.code, done.out, done.err) == (0, "", "")
    assert outcomes(project) == ["no prompt of a person", "ignored", "ignored", "ignored"]


HASTY = [name for name in AGENTS if parts_of(name, "project", next_turn=True) != parts_of(name, "project")]


def test_agents_with_a_hook_for_prompts_can_have_it(run: Run) -> None:
    assert HASTY == ["claude", "codex", "cursor", "copilot", "gemini", "opencode", "cline"]
    done = run("agent", "install", "windsurf", "--next-turn")
    assert (done.code, "no hook of windsurf is told the prompts" in done.err) == (2, True)
    done = run("hook", "run", "post-commit", "--next-turn")
    assert (done.code, "--next-turn needs --agent" in done.err) == (2, True)


def test_it_is_installed_and_taken_back(tmp_path: Path) -> None:
    """In another clone too, without the notes of the installation."""
    for name in HASTY:
        place = site(tmp_path / name)
        install(place, name)
        plain = tree(tmp_path / name)
        for next_turn in (True, False):
            Path(place.notes).unlink(missing_ok=True)
            carry_out(place, plan_install(place, name, next_turn=next_turn))
            now = tree(tmp_path / name)
            found = {file: content.count(b"--next-turn") for file, (content, _) in now.items() if content}
            shells = 2 if name == "copilot" else 1
            assert (name, sum(found.values())) == (name, shells if next_turn else 0)
            assert plan_install(place, name, next_turn=next_turn).changes == ()
            assert {row.state for row in check(place, name)} <= {"active", "untrusted", "pending"}
        assert now == plain
        carry_out(place, plan_install(place, name, next_turn=True))
        uninstall(place, name)
        assert [file for file, (content, _) in tree(tmp_path / name).items() if b"memcli" in (content or b"")] == []
