"""Run the hook of an agent: it always succeeds, prints all or nothing, and ends in time."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from memcli.cli.background import FOREGROUND, embed_later, start
from memcli.cli.verb import CommandContext
from memcli.clock import system_clock
from memcli.errors import MemcliError
from memcli.extras.agents.events import PROMPT, SESSION_START, last_event
from memcli.extras.agents.payload import MAX_BYTES, MOST_PIPED, Payload, caller_of, is_idle, read_payload
from memcli.extras.agents.records import Spool
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.store.layout import Layout
from memcli.store.log import Log
from memcli.store.notes import Mark
from memcli.store.state import State
from memcli.store.trust import is_off
from memcli.wiring.roots import locate

_LIMIT_SECONDS = 2.5
"""With the start of the interpreter less than three seconds."""
_PRINTING_SECONDS = 0.6
"""The part of it that is left for printing and logging after the search."""
_LOCK_SECONDS = "1"
_WARMING_SECONDS = 60
_CHUNK = 1 << 16
_PROJECT = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
_END = b"\0"

Find = Callable[[str], None]
"""Called with the root of the store once it is found."""


def run_agent_hook(session: CommandContext, event: str, agent: str, *, next_turn: bool = False) -> None:
    """Answers a call on standard output; with `next_turn` a prompt with what was prepared for the one before. Raises
    nothing, whatever is on standard input."""
    session.output.quiet = True
    began = time.monotonic()

    def work(find: Find) -> str:
        with suppress(Exception):  # there is nobody to report it to
            return _answer(session, event, agent, find, began, next_turn=next_turn)
        return ""

    if os.environ.get(FOREGROUND) or not hasattr(os, "fork"):
        if not os.environ.get(FOREGROUND):  # pragma: no cover - Windows
            # The hook cannot leave its work to a forked process here, so it must not outlive its limit.
            import threading

            timer = threading.Timer(_LIMIT_SECONDS, os._exit, [0])
            timer.daemon = True
            timer.start()
        _print(work(lambda _: None))
        return

    def work_and_count(find: Find) -> str:
        text = work(find)
        session.note_end(0, time.monotonic() - began)  # this process has opened the store, its parent has not
        return text

    text, root = _run_within(_LIMIT_SECONDS, work_and_count)
    if text is None and root:
        spent = round((time.monotonic() - began) * 1000)
        _log(root, {"at": system_clock(), "agent": agent, "event": event, "ms": spent, "outcome": "gave up"})
        # The run is counted although what opened the store was killed.
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


def _answer(session: CommandContext, event: str, agent: str, find: Find, began: float, *, next_turn: bool) -> str:
    """What to print; nothing without a store, and while memory is off."""
    payload, problem = _payload()
    caller = caller_of(agent, event, payload, os.environ)
    if caller is None or is_idle(caller, event, payload):
        return ""
    agent = caller
    from memcli.extras.agents.events import refuse, wrap
    from memcli.extras.agents.hook import HookOutcome, backend_of, handle, problem_of

    problem = problem_of(event, agent) or problem
    try:
        _enter_project(session, payload.cwd)
        workspace = session.open(lock_wait=_LOCK_SECONDS, backend=backend_of(event), tells_off=False)
    except (MemcliError, OSError):
        return ""
    if is_off(workspace.root, os.environ):
        return ""
    find(workspace.root)
    is_hurried = not os.environ.get(FOREGROUND)
    outcome = HookOutcome(facts={"outcome": "ignored", "error": problem})
    if not problem:
        since, ends = (began, began + _LIMIT_SECONDS - _PRINTING_SECONDS) if is_hurried else (None, math.inf)
        try:
            outcome = handle(workspace, agent, event, payload, began=since, next_turn=next_turn, ends=ends)
        except MemcliError as error:
            outcome = HookOutcome(facts={"outcome": "failed", "error": error.message, "hint": error.hint})
        except Exception as error:  # noqa: BLE001 - the agent must not suffer from it
            outcome = HookOutcome(facts={"outcome": "failed", "error": reason_of(error)})
    spent = round((time.monotonic() - began) * 1000)
    facts = {"agent": agent[:40], "event": event[:40], "session": payload.session, "ms": spent}
    _log(workspace.root, {"at": workspace.clock(), **facts, **outcome.facts})
    if outcome.facts.get("degraded") and is_hurried:
        embed_later(session, workspace)  # the next prompt finds the vectors that this one had no time for
    # Not while the clock is frozen, as with `embed_later`.
    if outcome.is_next_due and is_hurried and not session.is_frozen:
        fields = {"session_id": payload.session, "cwd": payload.cwd, "prompt": payload.prompt[:MOST_PIPED]}
        piped = json.dumps(fields, ensure_ascii=False)
        space = session.options["space"]
        words = ["--next-turn", "--detached", f"--root={workspace.root}", *([f"--space={space}"] if space else [])]
        start(["hook", "run", PROMPT, "--agent", agent, *words], piped)
    if (
        event in (SESSION_START, last_event(agent))
        and is_hurried
        and (
            Spool(State(Layout(workspace.root))).is_waiting
            or bool(workspace.sessions.marked(workspace.space, "ending"))
        )
    ):
        start(["session", "sync", "--background", "--quiet", f"--root={workspace.root}"])
    return refuse(agent, outcome.text) if outcome.is_refusal else wrap(agent, event, outcome.text)


def prepare_next_turn(session: CommandContext, agent: str) -> None:
    """Prepares the memories for the prompt after the one on standard input. Prints and raises nothing."""
    from memcli.extras.agents.hook import backend_of, prepare, problem_of

    session.output.quiet = True
    payload, problem = _payload()
    with suppress(MemcliError, OSError):  # there is nobody to report it to
        _enter_project(session, payload.cwd)
        workspace = session.open(backend=backend_of(PROMPT), tells_off=False)
        if not (problem or problem_of(PROMPT, agent) or is_off(workspace.root, os.environ)):
            prepare(workspace, agent, payload)


def _payload() -> tuple[Payload, str]:
    """The call on standard input, and what is wrong with it."""
    data = b""
    try:
        # All of it is read, since some agents fail if a hook does not, but only so much is kept.
        while chunk := sys.stdin.buffer.read(_CHUNK):
            if len(data) <= MAX_BYTES:
                data += chunk
        return read_payload(data), ""
    except (MemcliError, OSError) as error:
        return Payload(), reason_of(error)


def _enter_project(session: CommandContext, cwd: str) -> None:
    """Changes to the folder that the agent works in, or else to that of its project: to the first that has a store."""

    for folder in (cwd, *(os.environ.get(name, "") for name in _PROJECT)):
        if folder and "\0" not in folder and os.path.isdir(folder):
            os.chdir(folder)
            if locate(session.options, os.environ) is not None:
                return


def _log(root: str, entry: Mapping[str, Json]) -> None:
    with suppress(MemcliError):
        Log(Layout(root).local("agents.log")).add(entry)


def _warm(root: str) -> None:
    """Brings the index up to date in the background, at most once a minute: that may be what took so long, as after a
    large pull, and no hook would ever have the time for it."""
    mark, now = Mark(State(Layout(root)), "warming"), system_clock()
    if mark.is_younger(_WARMING_SECONDS, now):
        return
    mark.set(now)
    start(["recall", "--kind", "constraint", "--limit", "1", "--quiet", "--root", root])


def _run_within(seconds: float, work: Callable[[Find], str]) -> tuple[str | None, str]:
    """The result of `work`, done in a process of its own, and the root that it found; None for the result if the process
    failed, or took longer and was killed."""
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


def _report(writer: int, work: Callable[[Find], str]) -> None:
    """Runs `work` in the child and writes the root, and then what came of it, each with an end mark."""
    try:
        told = False

        def find(root: str) -> None:
            nonlocal told
            told = True
            os.write(writer, os.fsencode(root) + _END)

        # The agent reads standard output as the answer: what anything else prints must not get there.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        text = work(find).encode("utf-8", "replace").replace(_END, b"")
        rest = memoryview((b"" if told else _END) + text + _END)
        while rest:
            rest = rest[os.write(writer, rest) :]
    finally:
        os._exit(0)  # also past what was given up and still runs
