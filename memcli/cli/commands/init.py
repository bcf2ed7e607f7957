"""`memcli init`"""

from __future__ import annotations

import os
from contextlib import chdir, suppress

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import START, CommandContext, verb
from memcli.errors import NotFoundError, RefusedError, StoreError, UsageError
from memcli.model.memory import Json
from memcli.wiring import extra


class InitOptions(Options):
    """The options of `memcli init`."""

    project: str | None = option(metavar="NAME", help="The project's name, used as the first segment of new paths.")
    git: bool = flag(help="Install the git merge driver for memories in this clone.")
    hooks: bool = flag(help="Install git hooks in this clone, as `hook install` does.")
    agent: list[str] = option(
        metavar="NAME", help="Connect this agent, as `agent install` does. Repeatable.", many=True
    )
    undo: bool = flag(help="Take back what init set up: agents, git hooks, merge driver, attributes.")
    purge: bool = flag(help="With --undo: also delete the store and the private state of this clone.")
    yes: bool = flag(help="Delete without asking.")


@verb(InitOptions, section=START, line="Create the store of this repository")
def command(session: CommandContext, options: InitOptions) -> int:
    """Create a store: `.memory/` at the root of the work tree, or in the current folder outside a repository.

    It is safe to run again: it adds what is missing and changes nothing else.

    Example: memcli init --git --hooks --agent claude

    --undo takes all of it back, whoever installed it: the files are as before, byte for byte, but for what was changed since.
    The memories stay, unless --purge deletes them, too.

    Example: memcli init --undo

    >>> memory.init()['created']
    False
    """
    if options.undo:
        return _undo(session, options)
    if options.purge:
        raise UsageError("--purge needs --undo", "run `memcli init --undo --purge`")
    from memcli.git.repository import find_repository
    from memcli.wiring.roots import make_store

    # Before anything is made: a wrong name must not leave a store behind.
    for name in options.agent:
        extra("agents.setup").check_agent(name, "project")

    def check(root: str) -> None:
        """Raises NotFoundError without a repository if an option needs one: `make_store` calls it before it makes anything."""
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
        # Hooks are installed in the repository of the working directory, which --root may lie outside of.
        with chdir(os.path.dirname(root)):
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
    """Installs the merge driver in this clone. Returns one line per change."""
    from memcli.git.hooks import configure
    from memcli.git.repository import find_repository
    from memcli.store.layout import FOLDER, install_attributes, install_own_attributes

    done = []
    if install_attributes(root):
        done.append(f"wrote {FOLDER}/.gitattributes: commit it so that every clone uses the merge driver")
    # Git copies no configuration to clones, so this is needed in each of them.
    is_news = install_own_attributes(root)
    if configure(find_repository(os.path.dirname(root))) or is_news:
        done.append("set merge.memcli in this clone's git config; run `memcli init --git` once in every other clone")
    return done or ["the merge driver is already installed"]


def _undo(session: CommandContext, options: InitOptions) -> int:
    """Removes agents, hooks, merge driver and attributes, and with --purge the store. Raises NotFoundError without a store,
    RefusedError if the user does not confirm."""
    from memcli.cli.git_hooks import remove_hooks
    from memcli.cli.output import ask
    from memcli.git import NAMES
    from memcli.git.hooks import unconfigure
    from memcli.git.repository import find_repository
    from memcli.store.layout import remove_attributes
    from memcli.store.private import private_folder

    root = session.open(tells_off=False).root
    private = private_folder(root)
    if options.purge and not options.yes and not ask(f"Delete {root} and {private}? This cannot be undone."):
        raise RefusedError("nothing was deleted", "add --yes to delete the store without asking")
    session.options["root"] = root
    code, lines = 0, []
    if extra("helper.starting").end_helper(root):
        lines.append("ended the helper")
    with chdir(os.path.dirname(root)):
        lines += extra("agents.setup").uninstall_agents(session)
        with suppress(NotFoundError):  # there is no repository
            repository = find_repository(os.getcwd())
            _, changed, code = remove_hooks(session, NAMES)
            lines += [line for line in changed if "absent" not in line]
            if unconfigure(repository):
                lines.append("removed merge.memcli and diff.memcli from this clone's git config")
    if remove_attributes(root):
        lines.append("removed memcli's lines from .gitattributes and .git/info/attributes")
    if options.purge:
        import shutil

        for folder in dict.fromkeys((private, root)):
            shutil.rmtree(folder, ignore_errors=True)
            if os.path.lexists(folder):
                raise StoreError(f"cannot delete {folder}", "delete it by hand")
            lines.append(f"deleted {folder}")
        with suppress(
            OSError
        ):  # the folder is not empty: other stores of the repository have their private state there
            os.removedirs(os.path.dirname(private))
    session.output.confirm({"root": root, "undone": lines}, "\n".join(lines) or "nothing was set up")
    return code
