"""Install git hooks and remove them, with notes for the user; and have what they follow built in a new clone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from memcli.cli.verb import CommandContext
from memcli.errors import MemcliError, RefusedError
from memcli.git.hook_script import check_name
from memcli.model.memory import Json
from memcli.record import Record
from memcli.store.layout import Layout, find_work_tree


class Changed(Record):
    """What became of each hook, by its name, in the folder of the hooks."""

    folder: str
    hooks: dict[str, str]

    @property
    def lines(self) -> list[str]:
        """What was changed, one line each."""
        return [f"{what} {name}" for name, what in self.hooks.items() if what != "absent"]

    @property
    def exit_code(self) -> int:
        """0, unless a hook was refused."""
        return RefusedError.exit_code if "refused" in self.hooks.values() else 0

    def to_json(self) -> dict[str, Json]:
        return {"folder": self.folder, "hooks": dict(self.hooks)}


def install_hooks(session: CommandContext, names: Sequence[str]) -> Changed:
    """Installs hooks, and starts to build the space `repo` where it is missing. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks
    from memcli.wiring.roots import locate

    hooks = find_hooks(os.getcwd())
    done = _each(session, names, hooks.install)
    has_store = locate(session.options, os.environ) is not None
    if not has_store:
        session.output.note("there is no store yet: the hooks do nothing until you run `memcli init`")
    if hooks.is_seen and any(what != "unchanged" for what in done.values()):
        session.output.note(f"{hooks.folder} is in the work tree: git shows the hooks as changes; do not commit them")
    if has_store:
        _build(session)
    return Changed(hooks.folder, done)


def remove_hooks(session: CommandContext, names: Sequence[str]) -> Changed:
    """Removes hooks, and restores those that were there before. Raises UsageError, StoreError."""
    from memcli.git.hooks import find_hooks

    hooks = find_hooks(os.getcwd())
    done = _each(session, names, hooks.uninstall)
    if not {"removed", "restored"}.isdisjoint(done.values()) and (others := _other_stores(session)):
        told = f"the hooks also worked for {', '.join(others)}"
        session.output.note(
            f"{told}, as git calls them for the whole repository; `memcli hook install` installs them again"
        )
    return Changed(hooks.folder, done)


def _other_stores(session: CommandContext) -> list[str]:
    """The stores of this work tree but for the one that is meant."""
    from memcli.store.private import stores_of
    from memcli.wiring.roots import locate

    own = None
    with suppress(MemcliError):
        own = locate(session.options, os.environ)
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    return [root for root in (stores_of(work_tree) if work_tree else []) if root != own]


def _build(session: CommandContext) -> None:
    """Starts to build the space for what is read from the repository, if it is missing, as in a new clone."""
    from memcli.app.repo import over_repo
    from memcli.cli.hook_run import run_hook
    from memcli.store.layout import complete_ignore
    from memcli.wiring.build import is_missing

    try:
        workspace = over_repo(session.open())
        complete_ignore(Layout(workspace.root))
        has_repo = not is_missing(workspace)
    except MemcliError as error:  # the hooks are installed
        session.output.note(error.message)
        return
    if not has_repo:
        session.output.note(f"building space {workspace.space!r} from the history and the files in the background")
        run_hook(session, "post-checkout", (), detached=False)


def _each(session: CommandContext, names: Sequence[str], act: Callable[[str], str]) -> dict[str, str]:
    """Applies `act` to each hook. A refused hook is reported and does not stop the others."""
    for name in names:
        check_name(name)
    done: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            done[name] = act(name)
        except RefusedError as error:
            session.output.note(f"{error.message} ({error.hint})")
            done[name] = "refused"
    return done
