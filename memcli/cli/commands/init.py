"""`memcli init`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import START, CommandContext, verb
from memcli.model.memory import Json
from memcli.wiring import extra

if TYPE_CHECKING:
    from memcli.cli.git_hooks import Changed
    from memcli.git.repository import Repository


class InitOptions(Options):
    """What `memcli init` takes."""

    project: str | None = option(metavar="NAME", help="The project's name, used as the first segment of new paths.")
    git: bool = flag(help="Install the git merge driver for memories in this clone.")
    hooks: bool = flag(help="Install git hooks in this clone, as `hook install` does.")
    agent: list[str] = option(
        metavar="NAME", help="Connect this agent, as `agent install` does. Repeatable.", many=True
    )


@verb(InitOptions, section=START, line="Create the store of this repository")
def command(session: CommandContext, options: InitOptions) -> int:
    """Create a store: `.memory/` at the root of the work tree, or in the current folder outside a repository.

    It is safe to run again: it adds what is missing and changes nothing else.

    Example: memcli init --git --hooks --agent claude

    >>> memory.init()['created']
    False
    """
    from memcli.wiring.roots import make_store

    if options.agent:
        for name in options.agent:
            extra("agents.setup").check_agent(name, "project")
    # The repository first of all, so that nothing is made where there is none.
    check = _repository if options.git or options.hooks else lambda _: None
    root, new = make_store({**session.options, "project": options.project}, os.environ, check)
    done = _install_driver(root) if options.git else []
    hooks = _install_hooks(session, root) if options.hooks else None
    agents = [_install_agent(session, name) for name in options.agent]
    lines = [*done, *(hooks.lines if hooks else []), *(line for changed, _ in agents for line in changed)]
    data: dict[str, Json] = {"root": root, "created": new}
    if options.git:
        data["git"] = list(done)
    if hooks:
        data["hooks"] = hooks.to_json()
    text = f"created a store at {root}" if new else f"store already exists at {root}"
    session.output.confirm(data, "\n".join([text, *lines]))
    for note in (note for _, left in agents for note in left):
        session.output.note(note)
    return hooks.exit_code if hooks else 0


def _install_hooks(session: CommandContext, root: str) -> Changed:
    """Installs the hooks of the repository that the store lies in, wherever the user is."""
    from contextlib import chdir

    from memcli.cli.git_hooks import install_hooks
    from memcli.git import DEFAULT

    session.options["root"] = root
    with chdir(os.path.dirname(root)):
        return install_hooks(session, DEFAULT)


def _install_agent(session: CommandContext, name: str) -> tuple[list[str], list[str]]:
    """Connects an agent. Returns one line per change, and one for each thing that is left to do."""
    _, lines, left = extra("agents.setup").install_agent(session, name, "project")
    return lines or [f"{name}: nothing to change"], left


def _install_driver(root: str) -> list[str]:
    """Installs the merge driver. Returns one line per change."""
    from memcli.git.hooks import configure
    from memcli.store.layout import FOLDER, install_attributes, install_own_attributes

    done = []
    if install_attributes(root):
        done.append(f"wrote {FOLDER}/.gitattributes: commit it so that every clone uses the merge driver")
    is_news = install_own_attributes(root)
    if configure(_repository(root)) or is_news:
        done.append("set merge.memcli in this clone's git config; run `memcli init --git` once in every other clone")
    return done or ["the merge driver is already installed"]


def _repository(root: str) -> Repository:
    from memcli.git.repository import find_repository

    return find_repository(os.path.dirname(root))
