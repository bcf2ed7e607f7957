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
    """What `memcli status` takes."""

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

    data: dict[str, Json] = {
        "store": _store(workspace), "memories": _memories(workspace), "inbox": len(waiting(workspace)),
        "rules": _rules(workspace), "hooks": _hooks(workspace), "agents": extra("agents.setup").installed_agents(workspace.root, os.environ),
    }  # fmt: skip
    from memcli.extras.status.lines import status_lines

    session.output.answer(data, "\n".join(status_lines(data, os.path.expanduser("~"))))


def _store(workspace: Workspace) -> dict[str, Json]:
    """The root of the store, whether it is trusted, and its files that differ from the last commit."""
    from memcli.app.anchors import tracked_spaces
    from memcli.git.work_tree import uncommitted

    root = workspace.root
    try:
        changed = uncommitted(root, [f"spaces/{name}.json" for name in tracked_spaces(workspace)])
    except (MemcliError, OSError):  # there is no repository
        changed = []
    return {"root": root, "trusted": workspace.trust.is_accepted, "uncommitted": changed}


def _memories(workspace: Workspace) -> dict[str, Json]:
    workspace.store.open(workspace.space).close()  # which fails where git has the space and the work tree lacks it
    found = extra("spaces.managing").list_spaces(workspace)
    return {
        "spaces": {one.name: one.active for one in found},
        "damaged": [one.name for one in found if one.problem],
    }


def _rules(workspace: Workspace) -> dict[str, Json] | None:
    """How many rules there are, and how many are stale; None where a damaged space hides some."""

    try:
        enforced, stale = extra("check.anchored").count_rules(workspace)
    except CorruptError:
        return None
    return {"enforced": enforced, "stale": stale}


def _hooks(workspace: Workspace) -> dict[str, Json]:
    """The git hooks of memcli that are installed, and when one last ran."""
    from memcli.git import NAMES
    from memcli.git.hooks import find_hooks
    from memcli.store.layout import Layout
    from memcli.store.log import HookLog
    from memcli.store.trust import is_off

    try:
        hooks = find_hooks(os.path.dirname(workspace.root))
        names = [name for name in NAMES if hooks.status(name).state == "installed"]
    except MemcliError:
        names = []
    last = HookLog(Layout(workspace.root), workspace.space).last().get("time")
    return {"installed": names, "last": last, "off": is_off(workspace.root, os.environ)}


def _stats(session: CommandContext, workspace: Workspace, *, usage: bool) -> None:
    from memcli.extras.status.counting import stats
    from memcli.render.clean import clean_line
    from memcli.store.layout import Layout

    data = stats(workspace)
    data["bytes"]["cache"] = 0
    with suppress(OSError):  # there may be no index
        data["bytes"]["cache"] = os.path.getsize(Layout(workspace.root).index(workspace.space))
    lines: list[str] = []
    if usage:
        from memcli.extras.status.counting import readership
        from memcli.render.memory import usage_lines

        read = readership(workspace)
        lines += usage_lines(read)
        data |= {"usage": read}
    for name, value in data.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        lines.append(f"{name:<10}  {clean_line(shown)}".rstrip())
    session.output.answer(data, "\n".join(lines))
