"""Git hooks: installing and removing them, and running them within a time limit or in a process of their own."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli.app.guard import ADVICE_BACKEND
from memcli.app.workspace import Workspace
from memcli.cli.background import FOREGROUND, embed_missing, start
from memcli.cli.output import report
from memcli.cli.verb import CommandContext
from memcli.errors import MemcliError, NotFoundError, RefusedError
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.store.layout import Layout, find_root, find_work_tree, identity
from memcli.store.log import HookLog
from memcli.store.private import stores_of
from memcli.store.trust import is_off
from memcli.wiring.roots import named_root

ChangedHooks = tuple[dict[str, "Json"], list[str], int]
"""The state of the hooks as JSON, a line for each one that was changed, and the exit code: 0 unless a change was refused."""


def install_hooks(session: CommandContext, names: Sequence[str]) -> ChangedHooks:
    """Installs hooks, and builds the space `repo` in the background if it is missing. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    changed = _apply(session, hooks.folder, names, hooks.install)
    has_store = locate(session.options, os.environ) is not None
    if not has_store:
        session.output.note("there is no store yet: the hooks do nothing until you run `memcli init`")
    if hooks.is_seen and any(what != "unchanged" for what in changed[0]["hooks"].values()):
        session.output.note(f"{hooks.folder} is in the work tree: git shows the hooks as changes; do not commit them")
    if not has_store:
        return changed
    # A new clone lacks the space `repo`, which git ignores.
    from memcli.store.layout import complete_ignore
    from memcli.wiring.sources import is_missing

    try:
        workspace = session.open().over_repo()
        # First, since the .gitignore that came with the clone may lack lines: git must not see what is built.
        complete_ignore(Layout(workspace.root))
        has_repo = not is_missing(workspace)
    except MemcliError as error:  # the hooks are installed
        session.output.note(error.message)
        return changed
    if not has_repo:
        session.output.note(f"building space {workspace.space!r} from the history and the files in the background")
        run_hook(session, "post-checkout", (), detached=False)
    return changed


def remove_hooks(session: CommandContext, names: Sequence[str]) -> ChangedHooks:
    """Removes hooks, and restores the hooks that they had replaced. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    changed = _apply(session, hooks.folder, names, hooks.uninstall)
    if {"removed", "restored"}.isdisjoint(changed[0]["hooks"].values()):
        return changed
    # Git has one set of hooks for all stores of a repository: those who use the others must know.
    own = None
    with suppress(MemcliError):
        own = locate(session.options, os.environ)
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    if others := [root for root in (stores_of(work_tree) if work_tree else []) if root != own]:
        session.output.note(
            f"the hooks also worked for {', '.join(others)}, as git calls them for the whole repository; "
            "`memcli hook install` installs them again"
        )
    return changed


def _apply(session: CommandContext, folder: str, names: Sequence[str], act: Callable[[str], str]) -> ChangedHooks:
    """Applies `act` to each hook, which returns its new state. A refused hook is reported and does not stop the others."""
    from memcli.git import check_name

    for name in names:
        check_name(name)
    states: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            states[name] = act(name)
        except RefusedError as error:
            session.output.note(f"{error.message} ({error.hint})")
            states[name] = "refused"
    lines = [f"{state} {name}" for name, state in states.items() if state != "absent"]
    code = RefusedError.exit_code if "refused" in states.values() else 0
    return {"folder": folder, "hooks": states}, lines, code


_VERBOSE = "MEMCLI_HOOK_VERBOSE"
_LOCK_SECONDS = "2"
"""How long a hook waits for the lock of a space."""
_TURN_SECONDS = 30.0
"""How long a hook in the background waits for another one to finish."""
_MESSAGE_SECONDS = 0.35  # with the start of the interpreter half a second
_PUSH_SECONDS = 1.8
"""How long git waits for the hooks prepare-commit-msg and pre-push."""
_MAX_LINES, _MAX_LINE = 5, 110
"""The maximum number, and length in characters, of the lines that are added to a commit message."""
_MAX_PAIRS = 1 << 20
"""The most bytes that are read of the list of rewritten commits."""


def run_hook(session: CommandContext, hook: str, arguments: Sequence[str], *, detached: bool) -> bool:
    """Runs a git hook. Returns whether its work is still running after the time limit. Never raises a MemcliError."""
    waits = bool(os.environ.get(FOREGROUND))
    if hook == "prepare-commit-msg":
        ends = math.inf if waits else time.monotonic() + _MESSAGE_SECONDS

        def advised(workspace: Workspace, _: HookLog) -> dict[str, Json]:
            return advise(workspace, arguments[0], ends) if arguments else {"outcome": "no message"}

        # A helper answers in its own thread, as it takes on what surrounds its client; the client waits no longer than git.
        seconds = None if waits or session.is_resident else _MESSAGE_SECONDS
        return _run_within(seconds, lambda: _logged(session, hook, advised, ADVICE_BACKEND))
    if hook == "pre-push":
        seconds = None if waits else _PUSH_SECONDS
        return _run_within(seconds, lambda: _logged(session, hook, lambda w, _: _look_for_secrets(session, w)))
    # Of old and new hashes, which git writes to the hook; read here, since a detached process has no such input.
    pairs = ""
    if hook == "post-rewrite" and not sys.stdin.isatty():
        with suppress(OSError):
            pairs = sys.stdin.buffer.read(_MAX_PAIRS).decode("ascii", "replace")
    if not detached and not waits:
        space = [f"--space={session.options['space']}"] if session.options["space"] else []
        for root in _roots(session):
            start(["hook", "run", "--detached", f"--root={root}", *space, hook, "--", *arguments], pairs)
        return False
    if detached:
        with suppress(OSError):  # it leads a session already, as a process made by `background.start` does
            os.setsid()

    def followed(workspace: Workspace, log: HookLog) -> dict[str, Json]:
        from memcli.wiring.hooks import follow

        with log.one_at_a_time(_TURN_SECONDS):
            result = follow(workspace, log, hook, arguments, pairs)
        if result["outcome"] == "ingested" and not waits:
            embed_missing(session, workspace, few_at_once=True)
        return result

    _logged(session, hook, followed)
    return False


def advise(workspace: Workspace, message: str, ends: float = math.inf) -> dict[str, Json]:
    """Adds memories about the staged change to the file `message` of the commit message, as comments; not later than `ends`
    by the monotonic clock, in seconds, as it is edited then. Raises MemcliError, OSError."""
    # Imported here, so that the time that it takes counts towards the limit.
    from memcli.app.guard import consult
    from memcli.git.message import comment
    from memcli.git.repository import Repository, find_repository
    from memcli.ingest.patch import change_diff, read_diff
    from memcli.render.clean import clean_line

    # Git calls the hook at the top of the work tree; asking it where that is takes as long as reading the change.
    here = os.getcwd()
    repository = Repository(here) if os.path.lexists(os.path.join(here, ".git")) else find_repository(here)
    edits = read_diff(change_diff(repository), "the change")
    lines = []
    for found in consult(workspace, edits, _MAX_LINES) if edits else ():
        line = clean_line(found)
        lines.append(line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 3].rstrip()}...")
    if time.monotonic() > ends:
        return {"outcome": "too late", "lines": len(lines)}
    return {"outcome": "advised" if comment(repository, message, lines) else "nothing to report", "lines": len(lines)}


def _roots(session: CommandContext) -> list[str]:
    """The stores that a hook works for: the one named by --root or MEMCLI_ROOT, else all stores of the work tree."""
    named = session.options["root"] or os.environ.get("MEMCLI_ROOT")
    here, home = os.getcwd(), os.path.expanduser("~")
    with suppress(MemcliError):
        found = named_root(named) if named else find_root(here, home)
        # Git calls a hook at the top of the work tree, and a store may be in a folder below.
        work_tree = None if named else find_work_tree(here, home)
        others = stores_of(work_tree) if work_tree else []
        return sorted({*others, *([found] if found else [])})
    return []


def _look_for_secrets(session: CommandContext, workspace: Workspace) -> dict[str, Json]:
    """Warns of secrets in the files of the store. Returns the result for the log."""
    from memcli.app.scan import scan
    from memcli.cli.documents import documents, open_rules

    rules, root = open_rules(session, must_exist=True, root=workspace.root)
    leaks = [leak for document in documents(root, (), history=False, staged=False) for leak in scan(document, rules)]
    if leaks:
        # Past `output`, which is quiet in a hook: a secret is to be seen before it is pushed.
        files = ", ".join(sorted({leak.file for leak in leaks}))
        sys.stderr.write(
            f"memcli: {len(leaks)} secret{'s' if len(leaks) > 1 else ''} in {files}; `memcli check secrets` lists the secrets, "
            "`memcli check secrets --history` those in the history\n"
        )
    return {"outcome": "warned" if leaks else "no secrets", "secrets": len(leaks)}


def _logged(
    session: CommandContext,
    hook: str,
    work: Callable[[Workspace, HookLog], Mapping[str, Json]],
    backend: str | None = None,
) -> None:
    """Runs `work` for each store and writes its result to the store's log. Errors are only logged, too."""
    is_verbose = bool(os.environ.get(_VERBOSE))
    session.output.quiet = not is_verbose
    workspaces = []
    for root in _roots(session):  # all before any work, since a helper declines to open the store of another one
        try:
            workspaces.append(session.open(lock_wait=_LOCK_SECONDS, backend=backend, root=root).over_repo())
        except MemcliError as error:
            if is_verbose and not isinstance(error, NotFoundError):
                report(error, json=False)
    for workspace in workspaces:
        if is_off(workspace.root, os.environ):
            continue
        since = time.monotonic()
        log, store = HookLog(Layout(workspace.root), workspace.space), identity(workspace.root)
        try:
            result = work(workspace, log)
        except MemcliError as error:
            result = {"outcome": "failed", "error": error.message, "hint": error.hint}
        except Exception as error:  # noqa: BLE001 - whatever it is, git must not suffer from it
            result = {"outcome": "failed", "error": reason_of(error)}
        spent = round((time.monotonic() - since) * 1000)
        entry = {"at": workspace.clock(), "hook": hook, "space": workspace.space, "ms": spent, **result}
        # A store that was deleted or replaced meanwhile must not come back as a folder with a log.
        if identity(workspace.root) == store:
            with suppress(MemcliError, OSError):
                log.add(entry)
        if is_verbose:
            session.output.note(f"{hook}: {', '.join(f'{name} {value}' for name, value in result.items())}")


def _run_within(seconds: float | None, work: Callable[[], None]) -> bool:
    """Runs `work`, waiting at most this many seconds (None: no limit, in this thread). Returns whether it is still running."""
    if seconds is None:
        work()
        return False
    # In a thread, because a query of SQLite, or a wait for git and the disk, cannot be interrupted.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()
