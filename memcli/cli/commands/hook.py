"""`memcli hook`"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli.options import group, verb
from memcli.cli.session import Session
from memcli.errors import MemcliError, NotFoundError, RefusedError
from memcli.git.hook_script import DEFAULT, NAMES, check_name

if TYPE_CHECKING:
    from memcli.git.hooks import Hook
    from memcli.store.hook_log import HookLog

app = group("hook", "Git hooks that remember commits as they are made, and recall what was decided about a change.")
Names = Annotated[list[str] | None, typer.Argument(metavar="[HOOK...]", help=f"Of {', '.join(NAMES)}.")]


@app.command()
@verb
def install(session: Session, names: Names = None) -> None:
    """Install hooks; without names, all but pre-push.

    post-commit, post-merge, post-checkout and post-rewrite ingest, in the background, what came since the last time;
    prepare-commit-msg recalls, as comments in the editor, what was decided about the staged change; pre-push warns of
    secrets in the store. None fails, none takes long, none prints. A hook that is there already is kept and called
    first. Each run leaves a line in .memory/local/hooks.log.

    MEMCLI_HOOK_FOREGROUND=1 lets a hook finish before git goes on; MEMCLI_HOOK_VERBOSE=1 lets it say what it did.

    Example: memcli hook install && memcli hook status
    """
    from memcli.git.hooks import find_hooks, is_ignored
    from memcli.git.repository import Repository
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    done = _each(session, names or DEFAULT, hooks.install)
    store = locate(session.options, os.environ)
    if store is None:
        session.output.note("there is no store here yet: the hooks do nothing until you run `memcli init`")
    elif not is_ignored(Repository(os.getcwd()), os.path.join(store, "spaces"), "main.json"):
        session.output.note(
            "git does not ignore the store, so every commit leaves it changed: commit that with the next one, or stash it "
            "before a checkout or a rebase; or put .memory/ into .gitignore"
        )
    if hooks.is_seen and any(what != "unchanged" for what in done.values()):
        session.output.note(f"{hooks.folder} lies in the work tree: git shows the hooks as changes, do not commit them")
    _tell(session, hooks.folder, done)


@app.command()
@verb
def uninstall(session: Session, names: Names = None) -> None:
    """Take hooks away, all if none is named, and put back what was there before, as it was.

    Example: memcli hook uninstall
    """
    from memcli.git.hooks import find_hooks

    hooks = find_hooks(os.getcwd())
    _tell(session, hooks.folder, _each(session, names or NAMES, hooks.uninstall))


@app.command()
@verb
def status(session: Session) -> None:
    """Show the state of each hook, the last run, and the commits that could not be ingested.

    installed; outdated: install again; absent; foreign: not memcli's; edited: memcli's, changed by somebody.
    `memcli hook retry` ingests skipped commits again; .memory/local/hooks.log has a line for each run.

    Example: memcli hook status --json
    """
    from memcli.git.hooks import find_hooks
    from memcli.render.grid import grid

    hooks = find_hooks(os.getcwd())
    found = [hooks.status(name) for name in NAMES]
    rows = [[hook.name, hook.state, _remark(hook)] for hook in found]
    log = _log(session)
    last, skipped = (log.last(), log.skipped()) if log else ({}, [])
    lines = [hooks.folder, grid(["hook", "state", ""], rows)]
    if last:
        problem = f": {last['error']}" if last.get("error") else ""
        lines.append(f"last run: {last.get('hook')} {last.get('at')}, {last.get('outcome')}{problem}")
    lines += [f"skipped {entry['commit'][:10]} {entry['at']}: {entry['reason']}" for entry in skipped]
    data = {"folder": hooks.folder, "hooks": [hook.to_json() for hook in found], "last_run": last, "skipped": skipped}
    session.output.answer(data, "\n".join(lines))
    if skipped:
        session.output.note(f"{_commits(len(skipped))} could not be ingested; `memcli hook retry` tries again")


@app.command()
@verb
def retry(session: Session) -> None:
    """Ingest again the commits that hooks had to skip.

    Exits with 1 when one of them still cannot be ingested.

    Example: memcli hook retry
    """
    from memcli.store.hook_log import HookLog
    from memcli.store.layout import Layout
    from memcli.wiring.hooks import retry as ingest_again

    workspace = session.open()
    log = HookLog(Layout(workspace.root), workspace.space)
    count = len(log.skipped())
    done, lost = ingest_again(workspace, log)
    left = log.skipped()
    data = {**done.to_json(), "tried": count - len(lost), "gone": lost, "skipped": left}
    gone = f", {len(lost)} no longer in the repository" if lost else ""
    session.output.confirm(data, f"{_commits(count - len(lost) - len(left))} ingested, {len(left)} still skipped{gone}")
    for entry in left:
        session.output.note(f"skipped {entry['commit'][:10]}: {entry['reason']}")
    if left:
        raise typer.Exit(MemcliError.exit_code)


def _log(session: Session) -> HookLog | None:
    """The log of the store, where there is one."""
    from memcli.store.hook_log import HookLog
    from memcli.store.layout import Layout

    try:
        workspace = session.open()
    except NotFoundError:
        return None
    return HookLog(Layout(workspace.root), workspace.space)


def _commits(count: int) -> str:
    return f"{count} commit{'' if count == 1 else 's'}"


def _remark(hook: Hook) -> str:
    if not hook.keeps:
        return ""
    return "has come over memcli's: install again" if hook.state == "foreign" else "calls the one that was there before"


@app.command()
@verb
def run(
    session: Session,
    hook: Annotated[str, typer.Argument(metavar="HOOK", help="Which hook it is.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARGUMENT...]", help="What git gave it.")] = None,
    detached: Annotated[bool, typer.Option("--detached", help="This process is in the background already.")] = False,
) -> None:
    """Do what a hook does; the installed hooks call it, and so can a hook manager.

    Never fails for what it finds. Following commits goes on in the background after it has returned.

    Example: memcli hook run post-commit
    """
    from memcli.cli.hooking import run_hook

    run_hook(session, hook, arguments=arguments or (), detached=detached)


def _each(session: Session, names: Sequence[str], act: Callable[[str], str]) -> dict[str, str]:
    """What `act` did to each hook. One that is refused is told of, and does not keep the others from being done."""
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


def _tell(session: Session, folder: str, done: dict[str, str]) -> None:
    data = {"folder": folder, "hooks": done}
    text = "\n".join(f"{what} {name}" for name, what in done.items() if what != "absent")
    session.output.confirm(data, text or f"no hooks of memcli in {folder}")
    if "refused" in done.values():
        raise typer.Exit(RefusedError.exit_code)
