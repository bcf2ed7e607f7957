"""Install and uninstall an agent for a scope (project, clone or user), and report its state to `status` and `doctor`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from difflib import unified_diff

from memcli.cli.verb import CommandContext
from memcli.errors import UsageError
from memcli.extras.agents.files import Site
from memcli.extras.agents.install import (
    InstallPlan,
    carry_out,
    check,
    installed,
    plan_install,
    plan_uninstall,
    remark,
    warnings,
)
from memcli.extras.agents.table import AGENTS, LOCAL, PROJECT, SCOPES, USER, parts_of
from memcli.model.memory import Json
from memcli.store.layout import Layout, find_work_tree
from memcli.wiring.roots import global_root, locate

_NOTES = "agents.installed.json"


def site_of(session: CommandContext, scope: str) -> Site:
    """The folder, notes file and environment of a scope. A project may have no store yet."""
    if scope == USER:
        # MEMCLI_GLOBAL is ignored: the notes describe files in the home directory, whichever store is used.
        data = os.path.dirname(global_root({**os.environ, "MEMCLI_GLOBAL": ""}))
        return Site(scope, os.path.expanduser("~"), os.path.join(data, _NOTES), os.environ)
    root = session.open(tells_off=False).root if locate(session.options, os.environ) else None
    if root is not None:
        return Site(scope, os.path.dirname(root), Layout(root).private(_NOTES), os.environ)
    here = os.getcwd()
    folder = find_work_tree(here, os.path.expanduser("~")) or here
    return Site(scope, folder, os.path.join(folder, ".memory", "local", _NOTES), os.environ)


def sites(session: CommandContext) -> list[Site]:
    """The site of each scope."""
    return [site_of(session, scope) for scope in SCOPES]


def scope_of(user: bool, local: bool) -> str:
    """The scope that the flags select; PROJECT without a flag. Raises UsageError for both flags."""
    if user and local:
        raise UsageError("--user and --local cannot be combined", "use one of them")
    return USER if user else LOCAL if local else PROJECT


def check_agent(name: str, scope: str, *, next_turn: bool = False) -> None:
    """Raises UsageError if the agent is unknown, lacks the scope, or, for `next_turn`, has no hook for prompts in it."""
    if name not in AGENTS:
        raise UsageError(f"no agent {name!r}", f"choose one of {', '.join(AGENTS)}")
    if scope not in AGENTS[name].scopes:
        known = ", ".join(AGENTS[name].scopes)
        raise UsageError(f"{name} cannot be installed for scope {scope}", f"scopes of {name}: {known}")
    if next_turn and parts_of(name, scope, next_turn=True) == parts_of(name, scope):
        raise UsageError(f"no hook of {name} is told the prompts", "leave out --next-turn")


def install_agent(
    session: CommandContext, name: str, scope: str, *, dry_run: bool = False, next_turn: bool = False
) -> tuple[InstallPlan, list[str], list[str]]:
    """Installs an agent. Returns the plan, a line for each change, and a line for each step that is left to the user. Raises
    UsageError, StoreError."""
    check_agent(name, scope)
    site = site_of(session, scope)
    plan = plan_install(site, name, next_turn=next_turn)
    if not dry_run:
        carry_out(site, plan)
        for warning in (*plan.warnings, *warnings(sites(session), name)):
            session.output.note(warning)
        if shutil.which("memcli") is None:
            session.output.note(
                "memcli is not on PATH: the hooks and the MCP server run once it is, as with `pipx install`"
            )
    left: list[str] = []
    if plan.changes and not dry_run:
        steps = dict.fromkeys(row.fix for row in check(site, name) if row.needs_user)
        left = [note for note in (AGENTS[name].notes.get(scope, ""), remark(name), *steps) if note]
    return plan, change_lines(plan), left


def change_lines(plan: InstallPlan) -> list[str]:
    """One line for each file that a plan changes."""
    return [f"{change.what} {change.path}" for change in plan.changes]


def to_json(name: str, scope: str, plan: InstallPlan) -> dict[str, Json]:
    """The JSON result of `agent install` and `agent uninstall`."""
    changed = [{"file": change.path, "what": change.what} for change in plan.changes]
    return {"agent": name, "scope": scope, "changed": changed}


def diff_of(plan: InstallPlan) -> str:
    """A unified diff of all files that a plan changes."""
    found: list[str] = []
    for change in plan.changes:
        old, new = (None if text is None else text.splitlines(keepends=True) for text in (change.before, change.after))
        source, target = (os.devnull if lines is None else change.path for lines in (old, new))
        lines = unified_diff(old or [], new or [], source, target)
        found += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(found)


def _site_of_store(root: str, environ: Mapping[str, str]) -> Site:
    return Site(PROJECT, os.path.dirname(root), Layout(root).private(_NOTES), environ)


def uninstall_agents(session: CommandContext) -> list[str]:
    """Uninstalls all agents of this project and clone; returns a line for each change. Raises StoreError."""
    lines = []
    # As a list: whether an agent is installed is read from the files that are changed here.
    for site, name in list(installed([site_of(session, scope) for scope in ("project", "local")])):
        plan = plan_uninstall(site, name)
        if plan.changes:
            carry_out(site, plan)
            lines += change_lines(plan)
    return lines


def installed_agents(root: str, environ: Mapping[str, str]) -> list[str]:
    """The names of the agents that are installed in the project of the store at `root`."""
    return [name for _, name in installed([_site_of_store(root, environ)])]


def examine_agents(root: str, environ: Mapping[str, str]) -> tuple[bool, Sequence[str]]:
    """Whether all agents installed in the project of the store at `root` are complete, and the names of those that are not,
    or else of all. An agent that only lacks an approval of its user counts as complete; its name is followed by its state."""
    site = _site_of_store(root, environ)
    rows = [row for _, name in installed([site]) for row in check(site, name)]
    bad = dict.fromkeys(row.agent for row in rows if not (row.is_fine or row.needs_user))
    waiting = {row.agent: f"{row.agent} ({row.state}: see `memcli agent check`)" for row in rows if row.needs_user}
    return not bad, list(bad or dict.fromkeys(waiting.get(row.agent, row.agent) for row in rows))
