"""Git hooks: installed and removed with notes for the user, and run within a time limit or in a process of their own.

Beside it what `check secrets` and the hook pre-push scan: named files, files of the store, versions in git.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from memcli.app.guard import ADVICE_BACKEND
from memcli.app.repo import over_repo
from memcli.app.scan import Document, Rules
from memcli.app.workspace import Workspace, load_space
from memcli.cli.arguments import read_file
from memcli.cli.background import FOREGROUND, embed_soon, start
from memcli.cli.output import report
from memcli.cli.verb import CommandContext
from memcli.codec.space import encode_space
from memcli.errors import MemcliError, NotFoundError, RefusedError
from memcli.git.hooks import check_name
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.model.space import Policy
from memcli.safety.secrets.detector import Detector
from memcli.settings import is_beside
from memcli.store.layout import Layout, find_root, find_work_tree, identity
from memcli.store.log import HookLog
from memcli.store.private import stores_of
from memcli.store.trust import is_off
from memcli.wiring.roots import named_root
from memcli.wiring.workspace import chosen_store

ChangedHooks = tuple[dict[str, "Json"], list[str], int]
"""What became of the hooks: as JSON, as a line for each that was changed, and the exit code, 0 unless one was refused."""


def install_hooks(session: CommandContext, names: Sequence[str]) -> ChangedHooks:
    """Installs hooks, and starts to build the space `repo` where it is missing. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    done = _each(session, names, hooks.install)
    has_store = locate(session.options, os.environ) is not None
    if not has_store:
        session.output.note("there is no store yet: the hooks do nothing until you run `memcli init`")
    if hooks.is_seen and any(what != "unchanged" for what in done.values()):
        session.output.note(f"{hooks.folder} is in the work tree: git shows the hooks as changes; do not commit them")
    changed = _changed(hooks.folder, done)
    if not has_store:
        return changed
    # A new clone lacks the space for what is read from the repository.
    from memcli.store.layout import complete_ignore
    from memcli.wiring.build import is_missing

    try:
        workspace = over_repo(session.open())
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
    """Removes hooks, and restores those that were there before. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    done = _each(session, names, hooks.uninstall)
    if {"removed", "restored"}.isdisjoint(done.values()):
        return _changed(hooks.folder, done)
    own = None
    with suppress(MemcliError):
        own = locate(session.options, os.environ)
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    if others := [root for root in (stores_of(work_tree) if work_tree else []) if root != own]:
        session.output.note(
            f"the hooks also worked for {', '.join(others)}, as git calls them for the whole repository; "
            "`memcli hook install` installs them again"
        )
    return _changed(hooks.folder, done)


def _each(session: CommandContext, names: Sequence[str], act: Callable[[str], str]) -> dict[str, str]:
    """Applies `act` to each hook. A refused hook is reported and does not stop the others."""
    for name in names:
        check_name(name)
    done: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            done[name] = act(name)
        except RefusedError as error:
            session.output.note(f"{error.message} ({error.hint})")
            done[name] = "refused"
    return done


def _changed(folder: str, done: dict[str, str]) -> ChangedHooks:
    lines = [f"{what} {name}" for name, what in done.items() if what != "absent"]
    code = RefusedError.exit_code if "refused" in done.values() else 0
    return {"folder": folder, "hooks": done}, lines, code


_VERBOSE = "MEMCLI_HOOK_VERBOSE"
_LOCK_SECONDS = "2"
_TURN_SECONDS = 30.0
_MESSAGE_SECONDS = 0.35  # with the start of the interpreter half a second
_PUSH_SECONDS = 1.8
_MAX_PAIRS = 1 << 20


def run_hook(session: CommandContext, hook: str, arguments: Sequence[str], *, detached: bool) -> bool:
    """Runs the hook. Returns whether work that ran out of time is still running. Never raises a MemcliError."""
    waits = bool(os.environ.get(FOREGROUND))
    if hook == "prepare-commit-msg":

        def advised(workspace: Workspace, _: HookLog) -> dict[str, Json]:
            from memcli.wiring.hooks import advise  # within the time that the hook may take

            return advise(workspace, arguments[0]) if arguments else {"outcome": "no message"}

        seconds = None if waits else _MESSAGE_SECONDS
        return _run_within(seconds, lambda: _logged(session, hook, advised, ADVICE_BACKEND))
    if hook == "pre-push":
        seconds = None if waits else _PUSH_SECONDS
        return _run_within(seconds, lambda: _logged(session, hook, lambda w, _: _look_for_secrets(session, w)))
    pairs = ""
    if hook == "post-rewrite" and not sys.stdin.isatty():  # the rewritten commits
        with suppress(OSError):
            pairs = sys.stdin.buffer.read(_MAX_PAIRS).decode("ascii", "replace")
    if not detached and not waits:
        space = [f"--space={session.options['space']}"] if session.options["space"] else []
        for root in _roots(session):
            start(["hook", "run", "--detached", f"--root={root}", *space, hook, "--", *arguments], pairs)
        return False
    if detached:
        with suppress(OSError):  # it leads a session already
            os.setsid()

    def followed(workspace: Workspace, log: HookLog) -> dict[str, Json]:
        from memcli.wiring.hooks import follow

        with log.one_at_a_time(_TURN_SECONDS):
            result = follow(workspace, log, hook, arguments, pairs)
        if result["outcome"] == "ingested" and not waits:
            embed_soon(session, workspace)
        return result

    _logged(session, hook, followed)
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


def _look_for_secrets(session: CommandContext, workspace: Workspace) -> dict[str, Json]:
    from memcli.app.scan import scan

    rules, root = open_rules(session, must_exist=True, root=workspace.root)
    leaks = [leak for document in documents(root, (), history=False, staged=False) for leak in scan(document, rules)]
    if leaks:
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
    """Runs the work for each store and logs the results, since no one is there to see an error."""
    is_verbose = bool(os.environ.get(_VERBOSE))
    session.output.quiet = not is_verbose
    for root in _roots(session):
        since = time.monotonic()
        try:
            workspace = over_repo(session.open(lock_wait=_LOCK_SECONDS, backend=backend, root=root))
        except MemcliError as error:
            if is_verbose and not isinstance(error, NotFoundError):
                report(error, json=False)
            continue
        if is_off(workspace.root, os.environ):
            continue
        log, store = HookLog(Layout(workspace.root), workspace.space), identity(workspace.root)
        try:
            result = work(workspace, log)
        except MemcliError as error:
            result = {"outcome": "failed", "error": error.message, "hint": error.hint}
        except Exception as error:  # noqa: BLE001 - whatever it is, git must not suffer from it
            result = {"outcome": "failed", "error": reason_of(error)}
        spent = round((time.monotonic() - since) * 1000)
        entry = {"at": workspace.clock(), "hook": hook, "space": workspace.space, "ms": spent, **result}
        if identity(workspace.root) == store:
            with suppress(MemcliError, OSError):
                log.add(entry)
        if is_verbose:
            session.output.note(f"{hook}: {', '.join(f'{name} {value}' for name, value in result.items())}")


def _run_within(seconds: float | None, work: Callable[[], None]) -> bool:
    """Runs `work`, waiting at most this many seconds (None: no limit). Returns whether it is still running."""
    # In a thread: a query of SQLite, or a git that waits for a disk, cannot be interrupted in the one that must answer.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()


def open_rules(session: CommandContext, *, must_exist: bool, root: str | None = None) -> tuple[Rules, str]:
    """The rules and the root of the store that is meant, or that is at `root`. Files can be scanned without a store; their marks are then empty.

    Raises NotFoundError if there is no store but one is required.
    """
    try:
        workspace = session.open(root=root)
    except NotFoundError:
        if must_exist:
            raise
        return (lambda policy: Detector(policy, lambda _: "")), ""
    redactor = workspace.redactor
    return (lambda policy: redactor.on_the_way_out(Policy(pii_redaction=policy))), workspace.root


def documents(root: str, files: Sequence[str], *, history: bool, staged: bool) -> Iterator[Document]:
    """The documents to scan, in order. Raises NotFoundError, UsageError, StoreError, ProviderError."""
    if history or staged:
        from memcli.git import revisions

        for name, commit, data in revisions.history(root) if history else revisions.staged(root):
            yield Document(name, data, commit)
        return
    for path in files or Layout(root).documents():
        if os.path.exists(path) and not os.path.isfile(path):
            continue  # folders, as of submodules; pipes and devices, which may never end
        yield Document(path if files else os.path.relpath(path, os.path.dirname(root)), read_file(path))


def served(session: CommandContext) -> Iterator[Document]:
    """The spaces that are on a server, as files of theirs. Raises StoreError, RefusedError, CorruptError."""
    if not chosen_store(session.options, os.environ):
        return
    store = session.open().store
    for name in store.spaces():
        if not is_beside(name):
            yield Document(f"space {name!r} on the server", encode_space(load_space(store, name)))
