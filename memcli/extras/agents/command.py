"""`memcli agent`"""

from __future__ import annotations

from memcli.cli.options import DRY_RUN, REQUIRED, Options, argument, flag
from memcli.cli.verb import START, CommandContext, Group
from memcli.errors import CorruptError
from memcli.extras.agents.table import AGENTS

_NAMES = ", ".join(AGENTS)
command = Group(
    "agent",
    "Connect coding agents: instructions, MCP server, hooks and a skill, in one command each.",
    section=START,
    line="Connect a coding agent: Claude Code, Codex, Cursor and others",
)


class AgentOptions(Options):
    """The options of `memcli agent uninstall`."""

    name: str = argument("AGENT", f"One of {_NAMES}.", default=REQUIRED)
    user: bool = flag(help="For this user, in all projects.")
    local: bool = flag(help="For this clone alone, in files that are not committed.")
    dry_run: bool = DRY_RUN


class AgentInstallOptions(AgentOptions):
    """The options of `memcli agent install`."""

    next_turn: bool = flag(help="Let no prompt wait for a search: show what is related to the prompt before it.")


@command.verb(AgentInstallOptions)
def install(session: CommandContext, options: AgentInstallOptions) -> None:
    """Connect an agent to the memory of this project.

    Writes, as the agent supports it, an instruction block into AGENTS.md, the MCP server `memcli mcp`, hooks that call
    `memcli hook run`, and a skill. Existing files are edited, not replaced; running it again changes nothing; --dry-run
    prints a diff. Creates a store if there is none. What agents store waits in the inbox with the policy `review: true`
    or MEMCLI_PROPOSE=1.

    Example: memcli agent install claude --dry-run
    """
    from memcli.extras.agents.setup import check_agent, diff_of, install_agent, scope_of, to_json

    scope = scope_of(options.user, options.local)
    check_agent(options.name, scope, next_turn=options.next_turn)
    # Hooks and the MCP server of a user find the store of the project that they are started in.
    if scope != "user" and not options.dry_run:
        import os

        from memcli.wiring.roots import locate, make_store

        if locate(session.options, os.environ) is None:
            root, _ = make_store(session.options, os.environ)
            session.output.note(f"created a store at {root}")
    plan, lines, left = install_agent(
        session, options.name, scope, dry_run=options.dry_run, next_turn=options.next_turn
    )
    if options.dry_run:
        session.output.answer(to_json(options.name, scope, plan), diff_of(plan))
        return
    session.output.confirm(to_json(options.name, scope, plan), "\n".join(lines) or f"{options.name}: nothing to change")
    for note in left:
        session.output.note(note)


@command.verb(AgentOptions)
def uninstall(session: CommandContext, options: AgentOptions) -> None:
    """Disconnect an agent: the files are as before `install`, byte for byte, unless they were changed since.

    From a file that was changed, only memcli's parts are removed. The memory itself stays.

    Example: memcli agent uninstall claude
    """
    from memcli.extras.agents.install import carry_out, plan_uninstall
    from memcli.extras.agents.setup import change_lines, check_agent, diff_of, scope_of, site_of, to_json

    scope = scope_of(options.user, options.local)
    check_agent(options.name, scope)
    site = site_of(session, scope)
    plan = plan_uninstall(site, options.name)
    if options.dry_run:
        session.output.answer(to_json(options.name, scope, plan), diff_of(plan))
        return
    if plan.changes:
        carry_out(site, plan)
    lines = change_lines(plan) or [f"{options.name} is not installed"]
    session.output.confirm(to_json(options.name, scope, plan), "\n".join(lines))


@command.verb()
def list_(session: CommandContext) -> None:
    """Show which agents can be connected, what each supports, and which are.

    Example: memcli agent list
    """
    from memcli.extras.agents.install import installed
    from memcli.extras.agents.parts import ROLES
    from memcli.extras.agents.setup import sites
    from memcli.render.clean import grid

    found: dict[str, list[str]] = {}
    for site, name in installed(sites(session)):
        found.setdefault(name, []).append(site.scope)
    data = [
        {"agent": name, "title": agent.title, "scopes": list(agent.scopes), "installed": found.get(name, []),
         **{role: agent.supports(role) for role in ROLES}}
        for name, agent in AGENTS.items()
    ]  # fmt: skip
    rows = [
        [name, agent.title, *("yes" if agent.supports(role) else "-" for role in ROLES), ", ".join(found.get(name, ["-"]))]
        for name, agent in AGENTS.items()
    ]  # fmt: skip
    session.output.answer(data, grid(["agent", "", *ROLES, "installed for"], rows))


class AgentCheckOptions(Options):
    """The options of `memcli agent check`."""

    name: str | None = argument("[AGENT]", f"One of {_NAMES} [default: all that are installed].")


@command.verb(AgentCheckOptions)
def check(session: CommandContext, options: AgentCheckOptions) -> int:
    """Check the agents that are connected: what is active, trusted, out of date or there twice, with a fix for each.

    Reads the client's own files too: `untrusted` (the folder), `pending` (an approval), `disabled`, or `unknown` where
    they do not say. Exits with 6 if something needs attention.

    Example: memcli agent check
    """
    import shutil

    from memcli.extras.agents.install import check as check_at
    from memcli.extras.agents.install import installed, remark, warnings
    from memcli.extras.agents.setup import check_agent, sites
    from memcli.render.clean import grid

    if options.name is not None:
        check_agent(options.name, next(iter(AGENTS[options.name].scopes)) if options.name in AGENTS else "")
    places = sites(session)
    found = [(site, name) for site, name in installed(places) if options.name in (None, name)]
    rows = [row for site, name in found for row in check_at(site, name)]
    names = list(dict.fromkeys(name for _, name in found))
    notes = [note for name in names for note in warnings(places, name)]
    remarks = [text for name in names if (text := remark(name))]
    if rows and shutil.which("memcli") is None:
        notes.append("memcli is not on PATH: neither hooks nor the MCP server can start")
    cells = [[row.agent, row.scope, row.role, row.state, row.fix or ", ".join(row.files)] for row in rows]
    text = grid(["agent", "scope", "part", "state", "file or fix"], cells) if rows else "no agent is installed"
    session.output.answer({"parts": [row.to_json() for row in rows], "warnings": notes, "remarks": remarks}, text)
    for note in (*notes, *remarks):
        session.output.note(note)
    return 0 if all(row.is_fine for row in rows) and not notes else CorruptError.exit_code
