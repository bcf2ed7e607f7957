"""`memcli hook`"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from memcli.cli.options import REQUIRED, Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, Group
from memcli.errors import MemcliError, NotFoundError, UsageError
from memcli.git import NAMES
from memcli.model.names import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

command = Group(
    "hook",
    "Ingest commits automatically with git hooks, and recall decisions about a change as you commit it.",
    section=SHARE,
    line="Ingest commits automatically with git hooks",
)


class HookNames(Options):
    """The options of `memcli hook install` and `memcli hook uninstall`."""

    names: list[str] = argument("[HOOK...]", f"Any of {', '.join(NAMES)}.", many=True)


@command.verb(HookNames)
def install(session: CommandContext, options: HookNames) -> int:
    """Install git hooks; without names, all except pre-push.

    post-commit, post-merge, post-checkout and post-rewrite ingest new commits into the space `repo` in the background; in a
    new clone, `repo` is first built from the history and all files. prepare-commit-msg adds
    decisions about the staged change to the commit message editor, as comments. pre-push warns about secrets in the store.
    The hooks never fail a git command and run quickly. An existing hook is kept and called first.
    Each run adds a line to .memory/local/hooks.log.

    Set MEMCLI_HOOK_FOREGROUND=1 to make git wait for a hook, and MEMCLI_HOOK_VERBOSE=1 to see what it does.

    Example: memcli hook install && memcli hook status

    >>> memory.hook_install('pre-push')['hooks']
    {'pre-push': 'installed'}
    """
    from memcli.cli.git_hooks import install_hooks
    from memcli.git import DEFAULT

    data, lines, code = install_hooks(session, options.names or DEFAULT)
    session.output.confirm(data, "\n".join(lines))
    return code


@command.verb(HookNames)
def uninstall(session: CommandContext, options: HookNames) -> int:
    """Remove hooks, by default all, and restore the hooks that were there before.

    Example: memcli hook uninstall

    >>> memory.hook_uninstall('pre-push')['hooks']
    {'pre-push': 'absent'}
    """
    from memcli.cli.git_hooks import remove_hooks

    data, lines, code = remove_hooks(session, options.names or NAMES)
    session.output.confirm(data, "\n".join(lines) or f"no hooks of memcli in {data['folder']}")
    return code


@command.verb()
def status(session: CommandContext) -> None:
    """Show the state of each hook, the last run, and the commits that could not be ingested.

    States: installed; outdated (install again); absent; foreign (not memcli's); edited (memcli's, but modified).
    `memcli hook retry` ingests skipped commits again; .memory/local/hooks.log has a line for each run.

    Example: memcli hook status --json

    >>> memory.hook_status()['hooks'][0]['state']
    'absent'
    """
    from memcli.git.hooks import find_hooks
    from memcli.render.clean import grid
    from memcli.store.layout import Layout
    from memcli.store.log import HookLog

    hooks = find_hooks(os.getcwd())
    found = [(name, *hooks.status(name)) for name in NAMES]
    remarks = {"foreign": "overwrote memcli's hook: install again"}
    rows = [
        [name, state, remarks.get(state, "calls the previous hook") if keeps else ""] for name, state, keeps in found
    ]
    last: dict[str, Any] = {}
    skipped: list[dict[str, Any]] = []
    with suppress(NotFoundError):  # there is no store
        workspace = session.open().over_repo()
        log = HookLog(Layout(workspace.root), workspace.space)
        last, skipped = log.last(), log.skipped()
    lines = [hooks.folder, grid(["hook", "state", ""], rows)]
    if last:
        problem = f": {last['error']}" if last.get("error") else ""
        lines.append(f"last run: {last.get('hook')} {last.get('at')}, {last.get('outcome')}{problem}")
    lines += [f"skipped {entry['commit'][:10]} {entry['at']}: {entry['reason']}" for entry in skipped]
    states = [{"name": name, "state": state, "keeps": keeps} for name, state, keeps in found]
    data = {"folder": hooks.folder, "hooks": states, "last_run": last, "skipped": skipped}
    session.output.answer(data, "\n".join(lines))
    if skipped:
        session.output.note(
            f"{counted(len(skipped), 'commit')} could not be ingested; `memcli hook retry` retries them"
        )
    if last.get("outcome") == "failed":
        session.output.note("the next hook ingests what the last run could not; `memcli ingest --git` does so now")


@command.verb()
def retry(session: CommandContext) -> int:
    """Retry the commits that hooks could not ingest.

    Exits with 1 if a commit still cannot be ingested.

    Example: memcli hook retry

    >>> memory.hook_retry()['tried']
    0
    """
    from memcli.store.layout import Layout
    from memcli.store.log import HookLog
    from memcli.wiring.hooks import retry as ingest_again

    workspace = session.open().over_repo()
    log = HookLog(Layout(workspace.root), workspace.space)
    count = len(log.skipped())
    done, lost = ingest_again(workspace, log)
    left = log.skipped()
    data = {**done.to_json(), "tried": count - len(lost), "gone": lost, "skipped": left}
    gone = f", {len(lost)} no longer in the repository" if lost else ""
    session.output.confirm(
        data, f"{counted(count - len(lost) - len(left), 'commit')} ingested, {len(left)} still skipped{gone}"
    )
    for entry in left:
        session.output.note(f"skipped {entry['commit'][:10]}: {entry['reason']}")
    if left:
        return MemcliError.exit_code
    return 0


class RunOptions(Options):
    """The options of `memcli hook run`."""

    hook: str = argument("HOOK", "The git hook, or the event of an agent.", default=REQUIRED)
    arguments: list[str] = argument("[ARGUMENT...]", "The arguments that git passed to the hook.", many=True)
    agent: str | None = option(metavar="NAME", help="The agent that calls, with JSON on standard input.")
    next_turn: bool = flag(
        help="Answer a prompt at once with what was prepared for the one before, and prepare the next in the background."
    )
    detached: bool = flag(help="Do not start a background process; this is one.")


@command.verb(RunOptions)
def run(session: CommandContext, options: RunOptions) -> None:
    """Run the work of a hook. The installed hooks call this, and a hook manager can call it too.

    Never fails because of what it finds. Commits are ingested in the background after it has returned.

    With --agent, HOOK is session-start, subagent-start, prompt, before-tool, after-compaction, stop or session-end: prints
    what the agent is to know, in the form that it takes, or nothing; always exits with 0 within 3 seconds; and adds a line
    to .memory/local/agents.log. With the policy agents.enforce=deny, before-tool refuses what a trigger of an enforced memory
    matches, where the agent can. With --next-turn, a prompt waits for no search: it gets what is related to the prompt before
    it, or nothing if that was about something else.

    With MEMCLI_HOOK_VERIFY=N, or `hook_verify = "N"` in config.toml, a language model leaves out of the first N memories
    what is not relevant to a prompt, as with `memcli recall --verify`, in what is left of the 3 seconds; if it fails, the memories
    stand, and no prompt waits for it for a minute. With --next-turn it has 10 seconds, in the background: enough for the SDK of
    Anthropic too, which takes 2 seconds to load.

    Example: memcli hook run post-commit
    """
    # Installed hooks, and what users of clients have approved by its text, call it so: this command line never changes.
    if options.agent is not None:
        from memcli.wiring import extra

        running = extra("agents.running")
        if options.next_turn and options.detached:
            running.prepare_next_turn(session, options.agent)
        else:
            running.run_agent_hook(session, options.hook, options.agent, next_turn=options.next_turn)
        return
    if options.next_turn:
        raise UsageError("--next-turn needs --agent", "name the agent that calls")
    from memcli.cli.git_hooks import run_hook
    from memcli.git import check_name

    check_name(options.hook)

    if run_hook(session, options.hook, options.arguments, detached=options.detached):
        sys.stderr.flush()
        # The work still runs in its thread, and would make the process and git wait for it.
        os._exit(0)
