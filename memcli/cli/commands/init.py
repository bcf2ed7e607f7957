"""`memcli init`"""

from __future__ import annotations

import os
import shutil
from contextlib import chdir, suppress

from memcli.cli.options import Options, flag, option
from memcli.cli.output import ask, can_ask, is_terminal
from memcli.cli.verb import START, CommandContext, find_verb, verb
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
    yes: bool = flag(help="Answer yes to all questions, of which there are none in a pipe or with options that choose.")


@verb(InitOptions, section=START, line="Create the store of this repository")
def command(session: CommandContext, options: InitOptions) -> int:
    """Create a store: `.memory/` at the root of the work tree, or in the current folder outside a repository.

    It is safe to run again: it adds what is missing and changes nothing else. On a terminal it offers to install the hooks and
    the merge driver, to ingest the repository and to connect the agents on PATH; with --yes it does all of that.

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

    is_ingested = _offer(session, options)
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
        data["hooks"], changed, code = _install_hooks(session, root)
        lines += changed
    if is_ingested:  # before agents are connected, whose files are not those of the project
        session.output.write("\n".join(lines))
        lines = []
        _ingest(session, root)
    notes: list[str] = []
    for name in options.agent:
        _, changed, left = extra("agents.setup").install_agent(session, name, "project")
        lines += changed or [f"{name}: nothing to change"]
        notes += left
    if is_terminal():
        reads = "" if is_ingested else "`memcli ingest --git HEAD && memcli ingest .` reads the repository, "
        notes.append(f'next: {reads}`memcli remember TEXT` stores a decision, `memcli recall "QUESTION"` answers')
    session.output.confirm(data, "\n".join(lines))
    for note in notes:
        session.output.note(note)
    return code


def _offer(session: CommandContext, options: InitOptions) -> bool:
    """Asks what to set up beside the store, and sets the options that were chosen; with --yes all are. Returns whether to ingest
    the repository. Asks nothing in a pipe, outside of a repository, or if an option chooses."""
    from memcli.store.layout import find_work_tree

    is_chosen = options.git or options.hooks or options.agent or session.output.json or session.output.quiet
    place = session.options["root"] or os.environ.get("MEMCLI_ROOT") or os.getcwd()
    is_outside = not find_work_tree(os.path.abspath(place), os.path.expanduser("~"))
    if is_chosen or not (options.yes or can_ask()) or is_outside:
        return False
    agents = extra("agents.table").AGENTS
    questions = {
        "hooks": "Install git hooks that ingest new commits, and the driver that merges memories?",
        "ingest": "Ingest the history and the files of this repository?",
        **{name: f"Connect {agents[name].title}?" for name in agents if shutil.which(name)},
    }
    chosen = [name for name, question in questions.items() if options.yes or ask(question, default=True)]
    options.git = options.hooks = "hooks" in chosen
    options.agent = [name for name in chosen if name in agents]
    return "ingest" in chosen


def _install_hooks(session: CommandContext, root: str) -> tuple[dict[str, Json], list[str], int]:
    """Installs the git hooks in the repository that the store lies in: their states, a line per change and the exit code."""
    from memcli.cli.git_hooks import install_hooks
    from memcli.git import DEFAULT

    session.options["root"] = root
    # Hooks are installed in the repository of the working directory, which --root may lie outside of.
    with chdir(os.path.dirname(root)):
        return install_hooks(session, DEFAULT)


def _ingest(session: CommandContext, root: str) -> None:
    """Ingests the history and the files of the repository that the store at `root` lies in."""
    from memcli.git.repository import find_repository

    ingest = find_verb("ingest")
    session.options["root"] = root
    with chdir(os.path.dirname(root)):
        if find_repository(os.getcwd()).head():
            ingest.function(session, ingest.options(git="HEAD"))
        ingest.function(session, ingest.options(files=["."]))


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
        for folder in dict.fromkeys((private, root)):
            shutil.rmtree(folder, ignore_errors=True)
            if os.path.lexists(folder):
                raise StoreError(f"cannot delete {folder}", "delete it by hand")
            lines.append(f"deleted {folder}")
        # It fails where other stores of the repository have their private state beside this one.
        with suppress(OSError):
            os.removedirs(os.path.dirname(private))
    session.output.confirm({"root": root, "undone": lines}, "\n".join(lines) or "nothing was set up")
    return code
