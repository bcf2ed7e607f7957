"""How a hook runs: quietly, without failing, and never long in the foreground."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli.app.commit_advice import BACKEND
from memcli.app.workspace import Workspace
from memcli.cli.output import report
from memcli.cli.session import Session
from memcli.errors import MemcliError, NotFoundError
from memcli.git.hook_script import check_name
from memcli.model.failure import reason_of
from memcli.model.memory import Json
from memcli.store.hook_log import HookLog
from memcli.store.layout import Layout

FOREGROUND = "MEMCLI_HOOK_FOREGROUND"
"""Set: nothing goes into the background, and nothing is given up for want of time; for scripts and tests."""
_VERBOSE = "MEMCLI_HOOK_VERBOSE"
_LOCK_SECONDS = "2"
_TURN_SECONDS = 30.0
_MESSAGE_SECONDS = 0.35  # with the start of the interpreter half a second
_PUSH_SECONDS = 1.8
_MAX_PAIRS = 1 << 20


def run_hook(session: Session, hook: str, *, arguments: Sequence[str] = (), detached: bool = False) -> int:
    """Does what the hook is for, and ends the process when it gave work up that still runs. Returns 0: git is not to
    suffer from what is found. Raises UsageError for a hook that memcli has none of."""
    check_name(hook)
    if _run(session, hook, arguments, detached=detached):
        sys.stderr.flush()
        os._exit(0)
    return 0


def _run(session: Session, hook: str, arguments: Sequence[str], *, detached: bool) -> bool:
    """Whether work was given up that still runs."""
    pairs = _pairs() if hook == "post-rewrite" else ""
    if hook == "prepare-commit-msg":
        return _within(_MESSAGE_SECONDS, lambda: _logged(session, hook, lambda w, _: _advise(w, arguments), BACKEND))
    if hook == "pre-push":
        return _within(_PUSH_SECONDS, lambda: _logged(session, hook, lambda *_: _look_for_secrets(session)))
    if not detached and not os.environ.get(FOREGROUND):
        _detach(session, hook, arguments, pairs)
        return False
    if detached:
        with suppress(OSError):  # it leads a session already
            os.setsid()
    _logged(session, hook, lambda workspace, log: _follow(workspace, log, hook, arguments, pairs))
    return False


def _follow(workspace: Workspace, log: HookLog, hook: str, arguments: Sequence[str], pairs: str) -> dict[str, Json]:
    from memcli.wiring.hooks import follow

    with log.one_at_a_time(_TURN_SECONDS):
        return follow(workspace, log, hook, arguments, pairs)


def _advise(workspace: Workspace, arguments: Sequence[str]) -> dict[str, Json]:
    from memcli.wiring.hooks import advise

    return advise(workspace, arguments[0]) if arguments else {"outcome": "no message"}


def _look_for_secrets(session: Session) -> dict[str, Json]:
    from memcli.app.scan import scan
    from memcli.cli.scanning import documents, open_rules

    rules, root = open_rules(session, must_exist=True)
    leaks = [leak for document in documents(root, (), history=False, staged=False) for leak in scan(document, rules)]
    if leaks:
        files = ", ".join(sorted({leak.file for leak in leaks}))
        sys.stderr.write(
            f"memcli: {len(leaks)} secret{'s' if len(leaks) > 1 else ''} in {files}; `memcli scan` says which, "
            "`memcli scan --history` what git has of them\n"
        )
    return {"outcome": "warned" if leaks else "no secrets", "secrets": len(leaks)}


def _logged(
    session: Session, hook: str, work: Callable[[Workspace, HookLog], Mapping[str, Json]], backend: str | None = None
) -> None:
    """Does the work, and leaves a line of how it went: nobody is there to be told of an error."""
    is_verbose = bool(os.environ.get(_VERBOSE))
    session.output.quiet = not is_verbose
    since = time.monotonic()
    try:
        workspace = session.open(lock_wait=_LOCK_SECONDS, backend=backend)
    except MemcliError as error:
        if is_verbose and not isinstance(error, NotFoundError):
            report(error, json=False)
        return
    log = HookLog(Layout(workspace.root), workspace.space)
    try:
        told = work(workspace, log)
    except MemcliError as error:
        told = {"outcome": "failed", "error": error.message, "hint": error.hint}
    except Exception as error:  # noqa: BLE001 - whatever it is, git must not suffer from it
        told = {"outcome": "failed", "error": reason_of(error)}
    spent = round((time.monotonic() - since) * 1000)
    entry = {"at": workspace.clock(), "hook": hook, "space": workspace.space, "ms": spent, **told}
    with suppress(MemcliError, OSError):
        log.add(entry)
    if is_verbose:
        session.output.note(f"{hook}: {', '.join(f'{name} {value}' for name, value in told.items())}")


def _within(seconds: float, work: Callable[[], None]) -> bool:
    """Does the work, but waits no longer than this; whether it still runs."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(None if os.environ.get(FOREGROUND) else seconds)
    return thread.is_alive()


def _pairs() -> str:
    """The commits that git says were rewritten; none where nothing can be read."""
    with suppress(OSError):
        return "" if sys.stdin.isatty() else sys.stdin.buffer.read(_MAX_PAIRS).decode("ascii", "replace")
    return ""


def _detach(session: Session, hook: str, arguments: Sequence[str], pairs: str) -> None:
    """The same in a process of its own, which outlives whoever called git and holds nothing of theirs."""
    import subprocess

    from memcli.git.program import this_program

    chosen = [f"--{name}={value}" for name in ("space", "root") if (value := session.options[name])]
    with suppress(OSError):
        child = subprocess.Popen(
            [*this_program(), "hook", "run", "--detached", *chosen, hook, "--", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert child.stdin
        child.stdin.write(pairs.encode())
        child.stdin.close()
        child.returncode = 0  # nobody waits for it
