"""`memcli init`"""

from __future__ import annotations

import os
from contextlib import chdir

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import START, CommandContext, verb
from memcli.model.memory import Json
from memcli.wiring import extra


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
    from memcli.git.repository import find_repository
    from memcli.wiring.roots import make_store

    for name in options.agent:
        extra("agents.setup").check_agent(name, "project")

    def check(root: str) -> None:
        """Raises NotFoundError where there is no repository, before anything is made."""
        if options.git or options.hooks:
            find_repository(os.path.dirname(root))

    root, new = make_store({**session.options, "project": options.project}, os.environ, check)
    data: dict[str, Json] = {"root": root, "created": new}
    lines = [f"created a store at {root}" if new else f"store already exists at {root}"]
    code = 0
    if options.git:
        done = _install_driver(root)
        data["git"] = done
        lines += done
    if options.hooks:
        from memcli.cli.git_hooks import install_hooks
        from memcli.git import DEFAULT

        session.options["root"] = root
        with chdir(os.path.dirname(root)):  # the hooks of the repository that the store lies in, wherever the user is
            data["hooks"], changed, code = install_hooks(session, DEFAULT)
        lines += changed
    notes: list[str] = []
    for name in options.agent:
        _, changed, left = extra("agents.setup").install_agent(session, name, "project")
        lines += changed or [f"{name}: nothing to change"]
        notes += left
    session.output.confirm(data, "\n".join(lines))
    for note in notes:
        session.output.note(note)
    return code


def _install_driver(root: str) -> list[str]:
    """Installs the merge driver. Returns one line per change."""
    from memcli.git.hooks import configure
    from memcli.git.repository import find_repository
    from memcli.store.layout import FOLDER, install_attributes, install_own_attributes

    done = []
    if install_attributes(root):
        done.append(f"wrote {FOLDER}/.gitattributes: commit it so that every clone uses the merge driver")
    is_news = install_own_attributes(root)
    if configure(find_repository(os.path.dirname(root))) or is_news:
        done.append("set merge.memcli in this clone's git config; run `memcli init --git` once in every other clone")
    return done or ["the merge driver is already installed"]
