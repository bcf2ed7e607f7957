"""Run the work of a hook: within a time limit, or in a process of its own, with a line in the log for each run."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli.app.guard import ADVICE_BACKEND
from memcli.app.repo import over_repo
from memcli.app.workspace import Workspace
from memcli.cli.background import FOREGROUND, embed_soon, start
from memcli.cli.output import report
from memcli.cli.verb import CommandContext
from memcli.errors import MemcliError, NotFoundError
from memcli.model.failure import reason_of
from memcli.model.memory import Json
from memcli.store.layout import Layout, find_root, find_work_tree, identity
from memcli.store.log import HookLog
from memcli.store.private import stores_of
from memcli.store.switch import is_off
from memcli.wiring.roots import named_root

_VERBOSE = "MEMCLI_HOOK_VERBOSE"
_LOCK_SECONDS = "2"
_TURN_SECONDS = 30.0
_MESSAGE_SECONDS = 0.35  # with the start of the interpreter half a second
_PUSH_SECONDS = 1.8
_MAX_PAIRS = 1 << 20


def run_hook(session: CommandContext, hook: str, arguments: Sequence[str], *, detached: bool) -> bool:
    """Runs the hook. Returns whether work that ran out of time is still running. Never raises a MemcliError."""
    pairs = _pairs() if hook == "post-rewrite" else ""
    waits = bool(os.environ.get(FOREGROUND))
    if hook == "prepare-commit-msg":
        return _run_within(
            None if waits else _MESSAGE_SECONDS,
            lambda: _logged_in_each(session, hook, lambda w, _: _advise(w, arguments), ADVICE_BACKEND),
        )
    if hook == "pre-push":
        return _run_within(
            None if waits else _PUSH_SECONDS,
            lambda: _logged_in_each(session, hook, lambda w, _: _look_for_secrets(session, w)),
        )
    if not detached and not waits:
        space = [f"--space={session.options['space']}"] if session.options["space"] else []
        for root in _roots(session):
            start(["hook", "run", "--detached", f"--root={root}", *space, hook, "--", *arguments], pairs)
        return False
    if detached:
        with suppress(OSError):  # it leads a session already
            os.setsid()
    _logged_in_each(session, hook, lambda workspace, log: _follow(session, workspace, log, hook, arguments, pairs))
    return False


def _roots(session: CommandContext) -> list[str]:
    """The stores that a hook works for: the one that is named, else each of the work tree, since git calls a hook at the
    top and a store may be in a folder."""
    named = session.options["root"] or os.environ.get("MEMCLI_ROOT")
    here, home = os.getcwd(), os.path.expanduser("~")
    with suppress(MemcliError):
        found = named_root(named) if named else find_root(here, home)
        work_tree = None if named else find_work_tree(here, home)
        others = stores_of(work_tree) if work_tree else []
        return sorted({*others, *([found] if found else [])})
    return []


def _follow(
    session: CommandContext, workspace: Workspace, log: HookLog, hook: str, arguments: Sequence[str], pairs: str
) -> dict[str, Json]:
    from memcli.wiring.hooks import follow

    with log.one_at_a_time(_TURN_SECONDS):
        told = follow(workspace, log, hook, arguments, pairs)
    if told["outcome"] == "ingested" and not os.environ.get(FOREGROUND):
        embed_soon(session, workspace)
    return told


def _advise(workspace: Workspace, arguments: Sequence[str]) -> dict[str, Json]:
    from memcli.wiring.hooks import advise

    return advise(workspace, arguments[0]) if arguments else {"outcome": "no message"}


def _look_for_secrets(session: CommandContext, workspace: Workspace) -> dict[str, Json]:
    from memcli.app.scan import scan
    from memcli.cli.scan_input import documents, open_rules

    rules, root = open_rules(session, must_exist=True, root=workspace.root)
    leaks = [leak for document in documents(root, (), history=False, staged=False) for leak in scan(document, rules)]
    if leaks:
        files = ", ".join(sorted({leak.file for leak in leaks}))
        sys.stderr.write(
            f"memcli: {len(leaks)} secret{'s' if len(leaks) > 1 else ''} in {files}; `memcli check secrets` lists the secrets, "
            "`memcli check secrets --history` those in the history\n"
        )
    return {"outcome": "warned" if leaks else "no secrets", "secrets": len(leaks)}


def _logged_in_each(
    session: CommandContext,
    hook: str,
    work: Callable[[Workspace, HookLog], Mapping[str, Json]],
    backend: str | None = None,
) -> None:
    """Runs the work for each store, and logs the results."""
    for root in _roots(session):
        _logged(session, root, hook, work, backend)


def _logged(
    session: CommandContext,
    root: str,
    hook: str,
    work: Callable[[Workspace, HookLog], Mapping[str, Json]],
    backend: str | None,
) -> None:
    """Runs the work for the store at `root` and logs the result, since no one is there to see an error."""
    is_verbose = bool(os.environ.get(_VERBOSE))
    session.output.quiet = not is_verbose
    since = time.monotonic()
    try:
        workspace = over_repo(session.open(lock_wait=_LOCK_SECONDS, backend=backend, root=root))
    except MemcliError as error:
        if is_verbose and not isinstance(error, NotFoundError):
            report(error, json=False)
        return
    if is_off(workspace.root, os.environ):
        return
    log, store = HookLog(Layout(workspace.root), workspace.space), identity(workspace.root)
    try:
        told = work(workspace, log)
    except MemcliError as error:
        told = {"outcome": "failed", "error": error.message, "hint": error.hint}
    except Exception as error:  # noqa: BLE001 - whatever it is, git must not suffer from it
        told = {"outcome": "failed", "error": reason_of(error)}
    spent = round((time.monotonic() - since) * 1000)
    entry = {"at": workspace.clock(), "hook": hook, "space": workspace.space, "ms": spent, **told}
    if identity(workspace.root) == store:
        with suppress(MemcliError, OSError):
            log.add(entry)
    if is_verbose:
        session.output.note(f"{hook}: {', '.join(f'{name} {value}' for name, value in told.items())}")


def _pairs() -> str:
    """The rewritten commits that git passes on standard input; none if it cannot be read."""
    with suppress(OSError):
        return "" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_PAIRS).decode("ascii", "replace")
    return ""


def _run_within(seconds: float | None, work: Callable[[], None]) -> bool:
    """Runs `work`, waiting at most this many seconds (None: no limit). Returns whether it is still running."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()
