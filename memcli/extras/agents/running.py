"""Run the hook of an agent: it always succeeds, prints its whole answer or nothing, and ends within a time limit."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from memcli.cli.background import FOREGROUND, embed_missing, start
from memcli.cli.verb import CommandContext
from memcli.clock import system_clock
from memcli.errors import MemcliError
from memcli.extras.agents.events import BEFORE_TOOL, PROMPT, SESSION_END, SESSION_START, last_event
from memcli.extras.agents.payload import MAX_BYTES, MOST_PIPED, Payload, caller_of, is_idle, native_of, read_payload
from memcli.extras.agents.records import has_reports
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.store.layout import Layout
from memcli.store.log import Log
from memcli.store.notes import is_recent, set_mark
from memcli.store.state import State
from memcli.store.trust import is_off
from memcli.wiring import extra
from memcli.wiring.roots import locate

# With the start of the interpreter it is less than three seconds.
_LIMIT_SECONDS = 2.5
_PRINTING_SECONDS = 0.6
"""The part of `_LIMIT_SECONDS` that is reserved for printing and logging after the search."""
_LOCK_SECONDS = "1"
_WARMING_SECONDS = 60
_SESSION = 8
_CHUNK = 1 << 16
_PROJECT = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
_END = b"\0"

ReportRoot = Callable[[str], None]
"""Called with the root of the store once that is located."""


def run_agent_hook(session: CommandContext, event: str, agent: str, *, next_turn: bool = False) -> None:
    """Answers a call on standard output; with `next_turn`, a prompt gets the memories that were prepared after the last one.
    Raises nothing, whatever is on standard input."""
    session.output.quiet = True
    began = time.monotonic()
    # The helper has threads, which a forked process lacks, and a limit of its own.
    is_forked = not os.environ.get(FOREGROUND) and not session.is_resident

    def work(report_root: ReportRoot) -> str:
        text = ""
        with suppress(Exception):  # a crash must not fail the agent
            text = _answer(session, event, agent, report_root, began, next_turn=next_turn)
        if is_forked:
            session.note_end(0, time.monotonic() - began)  # only this process has opened the store, not its parent
        return text

    if not is_forked:
        _print(work(lambda _: None))
        return

    # In a process of its own, so that a crash or a hang can neither fail the agent nor print half an answer.
    text, root = _run_within(_LIMIT_SECONDS, work)
    if text is None and root:
        spent = round((time.monotonic() - began) * 1000)
        _log(root, {"at": system_clock(), "agent": agent, "event": event, "ms": spent, "outcome": "gave up"})
        # The process that opened the store and counts the run was killed, so it is counted here.
        from memcli.store.notes import LocalCounters
        from memcli.store.trust import FileTrust
        from memcli.wiring.workspace import recording

        layout = Layout(root)
        trust, is_recording = FileTrust(layout), recording(layout, os.environ, is_frozen=session.is_frozen)
        session.counters = LocalCounters(State(layout), lambda: is_recording() and trust.is_accepted)
        _warm(root)
    _print(text or "")


def _print(text: str) -> None:
    with suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()


def _answer(
    session: CommandContext, event: str, agent: str, report_root: ReportRoot, began: float, *, next_turn: bool
) -> str:
    """The output of the hook; empty without a store, and while memory is off."""
    payload, problem = _payload()
    caller = caller_of(agent, event, payload, os.environ)
    # Before the rest is imported and the store is opened: what only reads files is to wait for nothing.
    if caller is None or is_idle(caller, event, payload):
        return ""
    agent = caller
    from memcli.extras.agents.events import refuse, wrap
    from memcli.extras.agents.hook import HookOutcome, handle, problem_of
    from memcli.extras.agents.inject import FILE_BACKEND

    problem = problem_of(event, agent) or problem
    try:
        _enter_project(session, payload.cwd)
        backend = FILE_BACKEND if event == BEFORE_TOOL else None
        workspace = session.open(lock_wait=_LOCK_SECONDS, backend=backend, tells_off=False)
    except (MemcliError, OSError):
        return ""
    if is_off(workspace.root, os.environ):
        return ""
    # At once: if this process is killed, the other one still logs that, and has the index updated.
    report_root(workspace.root)
    is_hurried = not os.environ.get(FOREGROUND)
    since, ends = (began, began + _LIMIT_SECONDS - _PRINTING_SECONDS) if is_hurried else (None, math.inf)
    try:
        outcome = handle(workspace, agent, event, payload, problem, began=since, next_turn=next_turn, ends=ends)
    except MemcliError as error:
        outcome = HookOutcome(facts={"outcome": "failed", "error": error.message, "hint": error.hint})
    except Exception as error:  # noqa: BLE001 - the agent must not suffer from it
        outcome = HookOutcome(facts={"outcome": "failed", "error": reason_of(error)})
    spent = round((time.monotonic() - began) * 1000)
    # No more of the session than distinguishes it: an agent may put anything into its name.
    facts = {"agent": agent[:40], "event": event[:40], "session": payload.session[:_SESSION], "ms": spent}
    _log(workspace.root, {"at": workspace.clock(), **facts, **outcome.facts})
    if outcome.facts.get("degraded") and is_hurried:
        embed_missing(session, workspace)  # the next prompt finds the vectors that this one had no time for
    # Not under a frozen clock, as in `embed_missing`: the files that the hook leaves must not depend on when they are read.
    if outcome.is_next_due and is_hurried and not session.is_frozen:
        fields = {"session_id": payload.session, "cwd": payload.cwd, "prompt": payload.prompt[:MOST_PIPED]}
        piped = json.dumps(fields, ensure_ascii=False)
        space = session.options["space"]
        words = ["--next-turn", "--detached", f"--root={workspace.root}", *([f"--space={space}"] if space else [])]
        start(["hook", "run", PROMPT, "--agent", agent, *words], piped)
    if (
        # Some agents report no end of a session, such as opencode: its turns are stored as each of them ends.
        event in (SESSION_START, last_event(agent))
        and is_hurried
        and (has_reports(State(Layout(workspace.root))) or bool(workspace.sessions.marked(workspace.space, "ending")))
    ):
        start(["session", "sync", "--background", "--quiet", f"--root={workspace.root}"])
    # Also with a prompt: the helper may have been ended, or have gone while the user was away.
    if is_hurried and event in (SESSION_START, PROMPT) and not session.is_resident:
        helper = extra("helper.starting")
        helper.start_helper(workspace.root, payload.session or agent, helper.ancestors())
    elif event == SESSION_END:
        extra("helper.starting").end_session(workspace.root, payload.session or agent)
    return refuse(agent, payload.native, outcome.text) if outcome.is_refusal else wrap(agent, event, outcome.text)


def prepare_next_turn(session: CommandContext, agent: str) -> None:
    """Prepares the memories for the prompt after the one on standard input. Prints and raises nothing."""
    from memcli.extras.agents.hook import prepare, problem_of

    session.output.quiet = True
    payload, problem = _payload()
    with suppress(MemcliError, OSError):  # no one reads the errors of a background process
        _enter_project(session, payload.cwd)
        workspace = session.open(tells_off=False)
        if not (problem or problem_of(PROMPT, agent) or is_off(workspace.root, os.environ)):
            prepare(workspace, agent, payload)


def _payload() -> tuple[Payload, str]:
    """The payload on standard input, and the problem with it; empty for none. With a problem, it has the name of the event alone."""
    data = b""
    try:
        # All of it is read, since some agents fail if a hook does not; beyond the limit it is dropped.
        while chunk := sys.stdin.buffer.read(_CHUNK):
            if len(data) <= MAX_BYTES:
                data += chunk
        return read_payload(data), ""
    except (MemcliError, OSError) as error:
        return Payload(native=native_of(data)), reason_of(error)


def _enter_project(session: CommandContext, cwd: str) -> None:
    """Changes to the folder in which the agent works, or else to that of its project: the first that has a store."""
    # `cwd` is first: it follows the agent into a worktree, while the variable names the folder in which the session began.
    for folder in (cwd, *(os.environ.get(name, "") for name in _PROJECT)):
        if folder and "\0" not in folder and os.path.isdir(folder):
            os.chdir(folder)
            if locate(session.options, os.environ) is not None:
                return


def _log(root: str, entry: Mapping[str, Json]) -> None:
    with suppress(MemcliError):
        Log(Layout(root).local("agents.log")).add(entry)


def _warm(root: str) -> None:
    """Updates the index in the background, at most once a minute."""
    # A hook that ran out of time may have been indexing, as after a large pull, for which no hook would ever have the time.
    state, now = State(Layout(root)), system_clock()
    if is_recent(state, "warming", _WARMING_SECONDS, now):
        return
    set_mark(state, "warming", now)
    start(["recall", "--kind", "constraint", "--limit", "1", "--quiet", "--root", root])


def _run_within(seconds: float, work: Callable[[ReportRoot], str]) -> tuple[str | None, str]:
    """The result of `work`, run in a forked process, and the root that it reported. The result is None if the process failed,
    or was killed after `seconds`; the root is empty if none was reported."""
    import select

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _report(writer, work)
    os.close(writer)
    data = b""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        chunk = os.read(reader, _CHUNK)
        if not chunk:  # the child has closed its end
            break
        data += chunk
    os.close(reader)
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    root, _, rest = data.partition(_END)
    text = rest.removesuffix(_END).decode("utf-8", "replace") if rest.endswith(_END) else None
    return text, os.fsdecode(root)


def _report(writer: int, work: Callable[[ReportRoot], str]) -> None:
    """Runs `work` in the forked process, writes the root and then the result, each with an end mark, and exits."""
    try:
        is_reported = False

        def report_root(root: str) -> None:
            nonlocal is_reported
            is_reported = True
            os.write(writer, os.fsencode(root) + _END)

        # The agent reads standard output as the answer, so no library may print to it.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        text = work(report_root).encode("utf-8", "replace").replace(_END, b"")
        rest = memoryview((b"" if is_reported else _END) + text + _END)
        while rest:
            rest = rest[os.write(writer, rest) :]
    finally:
        os._exit(0)  # also while an abandoned search still runs
