"""Hooks of agents: exact output for each agent and event, nothing twice, and no failure whatever arrives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from binascii import a2b_base64
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memcli.extras.agents.events import EVENTS, NATIVE, SESSION_END, STOP, last_event
from memcli.model.tokens import count_tokens
from tests.conftest import ROOT, Golden, Run
from tests.extras.agents.conftest import AGENTS, Fire, entries, payload
from tests.local_state import reported, rows

HERE = Path(__file__).parent
SILENT = ("after-compaction", "stop", "session-end")


def text_of(out: str) -> str:
    """What an agent's envelope holds."""
    if not out.startswith("{"):
        return out
    data = json.loads(out)
    specific = data.get("hookSpecificOutput", {})
    return str(
        specific.get("additionalContext") or data.get("additional_context") or data.get("contextModification") or ""
    )


def test_the_last_event_of_a_session_is_its_end_where_the_agent_reports_one() -> None:
    found = {agent: last_event(agent) for agent in NATIVE}
    assert {agent for agent, event in found.items() if event == STOP} == {"opencode", "windsurf"}
    assert set(found.values()) == {STOP, SESSION_END}
    assert {agent: set(events) for agent, events in AGENTS.items()} == {a: set(e) for a, e in NATIVE.items()}


@pytest.mark.parametrize("agent", AGENTS)
def test_output(agent: str, fire: Fire, project: Path, golden: Golden) -> None:
    """For every event, of a session of its own."""
    schemas = HERE / "schemas" / f"{agent}.json"
    schema_of = json.loads(schemas.read_text())["$defs"] if schemas.exists() else {}
    for schema in schema_of.values():
        jsonschema.Draft202012Validator.check_schema(schema)
        for wrong in ({}, {"additionalContext": "x"}, {"hookSpecificOutput": {"additionalContext": "x"}}, "x"):
            assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)
    for event in AGENTS[agent]:
        (project / ".memory" / "local" / "state.db").unlink(missing_ok=True)
        found = fire(agent, event)
        assert (event, found.code, found.err) == (event, 0, "")
        golden(HERE / "golden" / f"{agent}.{event}.txt", found.out)
        assert bool(found.out) == (event not in SILENT and (agent, event) != ("cline", "session-start"))
        if found.out and schema_of:
            jsonschema.Draft202012Validator(schema_of[event]).validate(json.loads(found.out))


def test_nothing_is_shown_twice_until_it_changes(run: Run, fire: Fire) -> None:
    assert "orders/database" in fire("claude", "prompt").out
    again = "what database do the orders use?"
    assert fire("claude", "prompt", prompt=again).out == ""
    assert "orders/database" in fire("claude", "prompt", session_id="another").out
    run("remember", "Orders live in PostgreSQL 18: we need JSONB.", "--kind", "decision", "--path", "orders/database")
    assert "PostgreSQL 18" in fire("claude", "prompt", prompt="which database stores orders?").out


def test_no_side_of_a_contradiction_is_shown_without_the_other(run: Run, fire: Fire) -> None:
    for number in (30, 60):
        run("remember", f"The API gateway times out upstream calls after {number} s.", "--kind", "decision")
    shown = fire("claude", "prompt", prompt="When does the API gateway time out upstream calls?").out
    assert [text for text in ("contradicts [", "after 30 s", "after 60 s") if text not in shown] == []


def test_once_the_topic_changes_it_may_be_shown_again(fire: Fire, project: Path) -> None:
    assert "orders/database" in fire("claude", "prompt").out
    assert fire("claude", "prompt", prompt="why?").out == ""
    assert fire("claude", "prompt", prompt="explain the database of the orders").out == ""
    assert fire("claude", "prompt", prompt="write a limerick about the stormy sea").out == ""
    assert entries(project, "agents.log")[-1]["topic"] == "changed"
    assert "orders/database" in fire("claude", "prompt", prompt="which database do the orders use?").out


def test_a_topic_is_compared_by_the_vectors_of_recall_and_makes_none(
    fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcli.embed.hashed import HashedEmbedder

    embedded: list[str] = []
    own = HashedEmbedder.embed

    def embed(self: HashedEmbedder, texts: Sequence[str], *more: Any, **options: Any) -> list[bytes]:
        embedded.extend(texts)
        return own(self, texts, *more, **options)

    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    monkeypatch.setattr(HashedEmbedder, "embed", embed)
    asked = "which database do the orders use?"
    fire("claude", "prompt", prompt=asked)
    ((_, _, topic),) = rows(project, "topic")
    assert a2b_base64(json.loads(topic)["vector"]) == own(HashedEmbedder(), [asked])[0]
    assert embedded.count(asked) == 1
    before = [*embedded]
    fire("claude", "prompt", prompt=asked, session_id="two")
    assert embedded == before


def test_of_a_prompt_hashes_alone_are_kept(fire: Fire, project: Path) -> None:
    secret = "AKIA" + "Q3EGTX7ZP5RNB2WM"
    fire("claude", "prompt", prompt=f"which database do the orders use with the tourmaline key {secret}?")
    local = [file for file in (project / ".memory" / "local").rglob("*") if file.is_file()]
    assert (project / ".memory/local/state.db") in local
    text = b"".join(file.read_bytes() for file in local).lower()
    assert [word for word in (b"tourmaline", secret.lower().encode()) if word in text] == []


def test_without_a_key_for_hashes_memories_are_shown_all_the_same(fire: Fire, project: Path) -> None:
    (project / ".memory/local/redaction.key").write_bytes(b"damaged")
    assert "orders/database" in fire("claude", "prompt").out
    assert fire("claude", "prompt", prompt="write a limerick about the stormy sea").out == ""
    assert rows(project, "topic") == []


def test_an_old_topic_is_forgotten_at_the_next_start(
    fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fire("claude", "prompt")
    fire("claude", "session-start", session_id="two")
    assert len(rows(project, "topic")) == 1
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-02-01T09:30:00Z")
    fire("claude", "session-start", session_id="three")
    assert rows(project, "topic") == []


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_pin_of_the_start_is_not_repeated_until_it_starts_again(fire: Fire, source: str) -> None:
    def ask() -> str:
        return fire("claude", "prompt", prompt="when do releases happen?").out

    assert "release/day" in fire("claude", "session-start").out
    assert ask() == ""
    assert "release/day" in fire("claude", "session-start", source=source).out
    if source == "compact":
        fire("claude", "after-compaction")  # reported later, it does not undo that
    assert ask() == ""


def test_the_same_prompt_of_two_harnesses_is_answered_once(
    fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fire("cursor", "prompt").out
    assert fire("claude", "prompt", session_id="c-77").out == ""
    assert entries(project, "agents.log")[-1]["outcome"] == "duplicate"
    fire("claude", "prompt", prompt="rain tomorrow?")
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", "2026-01-31T09:30:11Z")
    fire("claude", "prompt", prompt="rain tomorrow?")
    assert [entry["outcome"] for entry in entries(project, "agents.log")][-2:] == ["nothing relevant"] * 2


@pytest.mark.parametrize("agent", ["claude", "codex", "cursor"])
def test_after_compaction_it_is_shown_again(fire: Fire, agent: str) -> None:
    fire(agent, "session-start")
    assert fire(agent, "prompt").out
    assert fire(agent, "before-tool").out
    assert fire(agent, "before-tool", turn_id="2").out == ""
    fire(agent, "after-compaction")
    assert "orders/sleep" in fire(agent, "before-tool").out


def test_a_start_tells_what_changed_since_the_last_one(run: Run, fire: Fire, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(time: str) -> None:
        monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", time)

    at("2026-02-01T09:00:00Z")
    assert "Changed" not in fire("claude", "session-start", session_id="one").out
    at("2026-02-02T09:00:00Z")
    run("remember", "Staging is reset every night.", "--path", "ops/staging")
    at("2026-02-03T09:00:00Z")
    told = text_of(fire("claude", "session-start", session_id="two").out)
    assert told.index("Pinned:") < told.index("release/day") < told.index("Changed since 2026-02-01:")
    assert ("ops/staging" in told, "orders/database" in told) == (True, False)
    assert fire("claude", "session-start", session_id="two", source="resume").out == ""
    at("2026-02-04T09:00:00Z")
    assert "ops/staging" not in fire("claude", "session-start", session_id="three").out


def test_irrelevant_prompts_those_of_machines_and_files_elsewhere_get_nothing(fire: Fire) -> None:
    for prompt in ("continue", "write a poem about the sea", "/clear"):
        assert fire("claude", "prompt", prompt=prompt).out == ""
    assert fire("claude", "prompt", source="loop_wakeup").out == ""
    assert fire("claude", "prompt", source="sdk").out
    for tool in ({"file_path": "/etc/hosts"}, {"command": "ls"}, {"file_path": "README.md"}, {}, {"path": "\0"}):
        assert fire("claude", "before-tool", tool_input=tool).out == ""


def test_an_injection_is_bounded(run: Run, fire: Fire) -> None:
    for n in range(4):
        words = " ".join(f"shard{n}x{m} keeps the orders database busy." for m in range(120))
        run("remember", f"Orders database, part {n}. {words}", "--path", f"orders/part{n}", "--pin")
    fire("cline", "session-start")  # which Cline sees with its first prompt
    for agent, event in (("claude", "prompt"), ("claude", "session-start"), ("cline", "prompt")):
        prompt = {"prompt": f"which database does {agent} use for orders?"} if agent == "claude" else {}
        text = text_of(fire(agent, event, **prompt).out)
        assert 100 < count_tokens(text) <= 2_000
        assert len(text) <= 9_000


def test_sessions_are_spooled_without_secrets(fire: Fire, project: Path) -> None:
    secret = "AKIA" + "Q3EGTX7ZP5RNB2WM"
    fire("claude", "after-compaction", compact_summary=f"We use {secret} for CI.")
    fire("claude", "stop")
    fire("claude", "session-end")
    found = reported(project)
    assert [(e["event"], e["agent"], e["session"][:4], e["cwd"]) for e in found] == [
        (event, "claude", "9f0c", str(project)) for event in SILENT
    ]
    assert found[0]["text"] == "We use [REDACTED:aws_key] for CI."
    assert found[1]["text"] == "Done: the handler retries."
    assert found[1]["transcript"] == "/home/ann/.claude/projects/-shop/9f0c.jsonl"
    assert secret not in "".join(file.read_text() for file in (project / ".memory").rglob("agents*") if file.is_file())


def test_a_clone_that_was_not_trusted_gets_one_line(run: Run, fire: Fire, project: Path) -> None:
    shutil.rmtree(project / ".memory" / "local")
    told = text_of(fire("claude", "session-start").out)
    assert ("memcli trust" in told, "\n" in told) == (True, False)
    assert [fire("claude", event).out for event in EVENTS] == [""] * len(EVENTS)
    run("trust", "--yes")
    assert "orders/database" in fire("claude", "prompt").out


def test_while_memory_is_off_nothing_happens(run: Run, fire: Fire, project: Path) -> None:
    run("off")
    assert [fire("claude", event).out for event in EVENTS] == [""] * len(EVENTS)
    assert entries(project, "agents.log") == []
    assert rows(project, "spool") == []


BAD = {
    "empty": b"", "blank": b" \n", "cut": b'{"session_id": "x", "pro', "list": b"[1]", "text": b"hello", "null": b"null",
    "binary": bytes(range(256)), "deep": b"[" * 100_000, "numbers": b'{"prompt": 5, "cwd": [], "session_id": {}}',
    "surrogate": b'{"prompt": "\\ud800 database", "session_id": "\\udfff", "cwd": "\\u0000"}',
    "long": b'{"prompt": "' + b"orders database " * 700_000 + b'"}',
}  # fmt: skip


def test_bad_input(fire: Fire, run: Run, project: Path) -> None:
    cases = [("prompt", name) for name in BAD] + [("session-start", "cut"), ("before-tool", "list"), ("stop", "binary")]
    for n, (event, name) in enumerate(cases, start=1):
        found = fire("codex", event, BAD[name])
        assert (name, found.code, found.err) == (name, 0, "")
        log = entries(project, "agents.log")
        assert len(log) == n
        if name not in ("numbers", "surrogate"):
            assert (name, bool(found.out), log[-1]["outcome"]) == (name, event == "before-tool", "ignored")
    for event, agent in (("nonsense", "claude"), ("prompt", "nobody"), ("", "")):
        found = run("hook", "run", event, "--agent", agent, stdin=b"{}")
        assert (found.code, found.out, found.err) == (0, "", "")
        assert entries(project, "agents.log")[-1]["error"].startswith("unknown")


def test_without_a_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    found = run("hook", "run", "prompt", "--agent", "claude", stdin=b'{"prompt": "x"}')
    assert (found.code, found.out, found.err) == (0, "", "")
    assert os.listdir(tmp_path) == [".git"]


def test_the_project_is_found_from_another_folder(
    run: Run, project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may work elsewhere for a while; some then name the project in the environment."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    data = json.dumps(payload("claude", "prompt", elsewhere)).encode()
    assert run("hook", "run", "prompt", "--agent", "claude", stdin=data).out == ""
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    assert "orders/database" in run("hook", "run", "prompt", "--agent", "claude", stdin=data).out
    edit = json.dumps({**payload("claude", "before-tool", project), "cwd": str(elsewhere)}).encode()
    assert "orders/sleep" in run("hook", "run", "before-tool", "--agent", "claude", stdin=edit).out


def test_a_damaged_state_is_begun_anew(fire: Fire, project: Path) -> None:
    fire("claude", "prompt")
    (project / ".memory/local/state.db").write_bytes(b"not a database " * 100)
    assert fire("claude", "prompt").out
    assert len(list((project / ".memory/local/quarantine").iterdir())) == 1


def call(project: Path, data: bytes | int, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """The hook for a prompt as a process of its own; its standard input are these bytes, or a file."""
    kept = {name: value for name, value in os.environ.items() if name != "MEMCLI_HOOK_FOREGROUND"}
    given: dict[str, Any] = {"stdin" if isinstance(data, int) else "input": data}
    return subprocess.run(
        [sys.executable, "-P", "-m", "memcli", "hook", "run", "prompt", "--agent", "claude"], cwd=project, **given,
        env={**kept, "PYTHONPATH": str(ROOT), **environ}, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def test_as_a_process(project: Path) -> None:
    """On a busy machine it may give up, and says so in the log; then it is called again."""
    for n in range(10):
        data = json.dumps(payload("claude", "prompt", project, session_id=f"session {n}")).encode()
        done = call(project, data)
        assert (done.returncode, done.stderr) == (0, b"")
        if entries(project, "agents.log")[-1]["outcome"] != "gave up":
            break
    assert "orders/database" in done.stdout.decode()


def test_a_hook_that_hangs_is_ended_and_prints_nothing(project: Path) -> None:
    """Nobody ever closes its standard input."""
    reader, writer = os.pipe()
    done = call(project, reader)
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


WITHIN = """
import os, sys, time
from memcli.extras.agents.running import _run_within
def work(find, act):
    find("/home/of/it")
    print("noise", flush=True)
    return eval(act)
def fail():
    raise MemoryError
for act, seconds, text in {cases}:
    assert _run_within(seconds, lambda find: work(find, act)) == (text, "/home/of/it"), act
"""


def test_all_or_nothing_comes_out_of_the_child() -> None:
    cases = [("'text'", 60, "text"), ("time.sleep(600)", 0.2, None), ("os.abort()", 60, None), ("os._exit(3)", 60, None),
             ("fail()", 60, None), ("'x' * 500_000", 60, "x" * 500_000)]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-"], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
        input=WITHIN.format(cases=cases).encode(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


def test_after_it_gave_up_the_index_is_brought_up_to_date_behind_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcli.extras.agents import running as agent_hook

    started: list[list[str]] = []
    monkeypatch.setattr(agent_hook, "start", started.append)
    for _ in range(3):
        agent_hook._warm(str(project / ".memory"))
    assert len(started) == 1
    shutil.rmtree(project / ".memory" / "cache")
    assert agent_hook._warm(str(project / ".memory")) is None
    from memcli.cli.main import main

    assert main(started[0]) == 0
    assert (project / ".memory" / "cache" / "main.index").exists()


def test_a_prompt_that_had_no_time_for_vectors_has_them_made(
    fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcli.extras.agents import running as agent_hook

    begun: list[str] = []
    monkeypatch.setattr(agent_hook, "embed_missing", lambda _, workspace: begun.append(workspace.root))
    monkeypatch.setattr(agent_hook, "_run_within", lambda _, work: (work(lambda _: None), ""))
    monkeypatch.delenv("MEMCLI_HOOK_FOREGROUND", raising=False)
    fire("claude", "prompt")
    assert not begun
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")  # as past the deadline, words alone decide
    fire("claude", "prompt", prompt="and which database do the orders use?")
    assert begun == [str(project / ".memory")]
    assert entries(project, "agents.log")[-1]["degraded"] is True


def test_a_prompt_that_was_degraded_and_got_nothing_is_asked_again(
    fire: Fire, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    for _ in range(2):
        fire("claude", "prompt", prompt="write a limerick about the stormy sea")
        assert entries(project, "agents.log")[-1]["outcome"] == "nothing relevant"


def test_the_log_names_no_session_in_full(fire: Fire, project: Path) -> None:
    fire("claude", "prompt", session_id="secret-of-an-agent")
    assert entries(project, "agents.log")[-1]["session"] == "secret-o"


def test_parallel_processes_show_a_memory_once(project: Path) -> None:
    prompts = [f"do the orders live in the PostgreSQL database? ({n})" for n in range(5)]
    calls = [json.dumps(payload("claude", "prompt", project, prompt=prompt)).encode() for prompt in prompts]
    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(lambda data: call(project, data, MEMCLI_HOOK_FOREGROUND="1"), calls))
    assert [(one.returncode, one.stderr) for one in done] == [(0, b"")] * 5
    assert sum(b"orders/database" in one.stdout for one in done) == 1
