"""`memcli status`"""

from __future__ import annotations

import os
from contextlib import suppress

from memcli.cli.options import Options, flag
from memcli.cli.verb import START, CommandContext, Http, verb
from memcli.errors import CorruptError, MemcliError
from memcli.model.space import READER
from memcli.wiring import extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Json


class StatusOptions(Options):
    """The options of `memcli status`."""

    stats: bool = flag(help="Count the memories of the space by kind and tag instead, and show the size of its files.")
    usage: bool = flag(help="With --stats: also show which memories are read most often, and which were never read.")


@verb(
    StatusOptions,
    section=START,
    line="Show what is stored, what waits for you and what is stale",
    role=READER,
    http=(
        Http(
            path="/api/usage",
            summary="Count the memories of a space, and how often they are shown",
            fields=("usage",),
            fixed={"stats": True},
        ),
    ),
)
def command(session: CommandContext, options: StatusOptions) -> None:
    """Show what is stored, what waits for you, and what needs attention; each line ends with the command that helps.

    Example: memcli status

    Example: memcli status --stats --usage

    >>> memory.status(stats=True)['objects']
    3
    """
    workspace = session.open()
    if options.stats or options.usage:
        _stats(session, workspace, usage=options.usage)
        return
    from memcli.app.inbox import waiting
    from memcli.render.clean import clean_line, fitted

    inbox, agents = len(waiting(workspace)), extra("agents.setup").installed_agents(workspace.root, os.environ)
    parts: dict[str, tuple[Json, str]] = {
        "store": _store(workspace), "memories": _memories(workspace),
        "inbox": (inbox, f"{inbox} wait: memcli inbox" if inbox else "empty"),
        "rules": _rules(workspace), "hooks": _hooks(workspace),
        "agents": (agents, ", ".join(agents) or "none: memcli agent install NAME"),
    }  # fmt: skip
    lines = [f"{name:<8}  {clean_line(text)}" for name, (_, text) in parts.items()]
    session.output.answer({name: data for name, (data, _) in parts.items()}, fitted("\n".join(lines), below=" " * 10))


# Each of these returns its part of the status as JSON, and as text that names the command to run if something needs attention.


def _store(workspace: Workspace) -> tuple[Json, str]:
    """The root of the store, whether it is trusted, and its files that differ from the last commit."""
    from memcli.app.anchors import tracked_spaces
    from memcli.git.work_tree import uncommitted

    root, home = workspace.root, os.path.expanduser("~")
    is_trusted = workspace.trust.is_accepted
    try:
        changed = uncommitted(root, [f"spaces/{name}.json" for name in tracked_spaces(workspace)])
    except (MemcliError, OSError):  # there is no repository
        changed = []
    text = f"~{root[len(home) :]}" if root.startswith(f"{home}/") else root
    text += ", trusted" if is_trusted else ", not trusted: memcli trust --status"
    if changed:
        text += f", {len(changed)} {'file' if len(changed) == 1 else 'files'} not committed: memcli diff"
    return {"root": root, "trusted": is_trusted, "uncommitted": changed}, text


def _memories(workspace: Workspace) -> tuple[Json, str]:
    """The number of active memories in each space, and the damaged spaces. Raises StoreError if the file of the current space
    is missing although git tracks it."""
    workspace.store.open(workspace.space).close()  # the list leaves out a space without a file; opening it raises
    found = extra("spaces.managing").list_spaces(workspace)
    texts = [f"{one.active:,} in {one.name}" for one in found if not one.problem]
    texts += [f"{one.name} is damaged: memcli check store" for one in found if one.problem]
    data = {"spaces": {one.name: one.active for one in found}, "damaged": [one.name for one in found if one.problem]}
    return data, ", ".join(texts) or "none: memcli remember TEXT"


def _rules(workspace: Workspace) -> tuple[Json, str]:
    """The number of enforced rules and of stale ones; None if a space is damaged, since its rules cannot be counted."""
    try:
        enforced, stale = extra("check.anchored").count_rules(workspace)
    except CorruptError:
        return None, "unknown: memcli check store"
    text = f"{enforced} enforced{f', {stale} stale: memcli check code' if stale else ''}"
    return {"enforced": enforced, "stale": stale}, text


def _hooks(workspace: Workspace) -> tuple[Json, str]:
    """The git hooks of memcli that are installed, and when one last ran."""
    from memcli.git import NAMES
    from memcli.git.hooks import find_hooks
    from memcli.render.clean import age
    from memcli.store.layout import Layout
    from memcli.store.log import HookLog
    from memcli.store.trust import is_off

    try:
        hooks = find_hooks(os.path.dirname(workspace.root))
        names = [name for name in NAMES if hooks.status(name)[0] == "installed"]
    except MemcliError:
        names = []
    last = HookLog(Layout(workspace.root), workspace.space).last().get("at")
    ago = age(last, workspace.clock()) if last else ""
    ran = f", last run {ago if ago == 'now' else f'{ago} ago'}" if last else ""
    off = is_off(workspace.root, os.environ)
    text = f"{', '.join(names)}{ran}" if names else "none: memcli hook install"
    return {"installed": names, "last": last, "off": off}, "off: memcli on" if off else text


def _stats(session: CommandContext, workspace: Workspace, *, usage: bool) -> None:
    """Prints the counts of the memories, the sizes of the files and, with `usage`, how often memories are read."""
    from memcli.extras.status.counting import stats
    from memcli.render.clean import clean_line
    from memcli.store.layout import Layout

    data = stats(workspace)
    data["bytes"]["cache"] = 0
    for name in data.get("spaces", [workspace.space]):
        with suppress(OSError):  # there may be no index
            data["bytes"]["cache"] += os.path.getsize(Layout(workspace.root).index(name))
    lines: list[str] = []
    if usage:
        from memcli.extras.status.counting import readership

        read = readership(workspace)
        lines += [f"read {one['accesses']:>6,}  {clean_line(one['path'])}" for one in read["most"]]
        lines.append(f"never read: {read['never']:,} of {read['active']:,}")
        data |= {"usage": read}
    for name, value in data.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        lines.append(f"{name:<10}  {clean_line(shown)}".rstrip())
    session.output.answer(data, "\n".join(lines))
