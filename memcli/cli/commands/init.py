"""`memcli init`"""

from __future__ import annotations

import os

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import Session, verb
from memcli.git.driver import configure
from memcli.git.repository import Repository, find_repository
from memcli.store.layout import FOLDER, install_attributes


class InitOptions(Options):
    """What `memcli init` takes."""

    project: str | None = option(metavar="NAME", help="The project's name, used as the first segment of new paths.")
    git: bool = flag(help="Install the git merge driver for memories in this clone.")
    agent: list[str] = option(
        metavar="NAME", help="Connect this agent, as `agent install` does. Repeatable.", many=True
    )


@verb(InitOptions)
def command(session: Session, options: InitOptions) -> None:
    """Create a store: `.memory/` at the root of the work tree, or in the current folder outside a repository.

    It is safe to run again: it adds what is missing and changes nothing else.
    """
    from memcli.wiring.roots import make_store

    if options.agent:
        from memcli.cli.agent_sites import check_agent

        for name in options.agent:
            check_agent(name, "project")
    # The repository first of all, so that nothing is made where there is none.
    check = _repository if options.git else lambda _: None
    root, new = make_store({**session.options, "project": options.project}, os.environ, check)
    done = _install_driver(root) if options.git else []
    done += [line for name in options.agent for line in _install_agent(session, name)]
    text = f"created a store at {root}" if new else f"store already exists at {root}"
    session.output.confirm(
        {"root": root, "created": new, **({"git": done} if options.git else {})}, "\n".join([text, *done])
    )


def _install_agent(session: Session, name: str) -> list[str]:
    """Connects an agent. Returns one line per change."""
    from memcli.cli.agent_sites import install_agent

    _, lines = install_agent(session, name, "project")
    return lines or [f"{name}: nothing to change"]


def _install_driver(root: str) -> list[str]:
    """Installs the merge driver. Returns one line per change."""
    done = []
    if install_attributes(root):
        done.append(f"wrote {FOLDER}/.gitattributes: commit it so that every clone uses the merge driver")
    if configure(_repository(root)):
        done.append("set merge.memcli in this clone's git config; run `memcli init --git` once in every other clone")
    return done or ["the merge driver is already installed"]


def _repository(root: str) -> Repository:
    return find_repository(os.path.dirname(root))
