"""Verbs: a function, its options, and one run of it with its output and workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from keyword import iskeyword
from types import TracebackType
from typing import Self

from memcli.app.workspace import Workspace
from memcli.cli.options import CommonOptions, Options
from memcli.cli.output import Output, ProgressBar
from memcli.errors import MemcliError

# Verbs that share a module with others, each a function of its name.
MODULES = {
    **dict.fromkeys(("edit", "tag", "pin", "unpin"), "edit"),
    **dict.fromkeys(("get", "list", "tree"), "lookup"),
    **dict.fromkeys(("link", "unlink"), "links"),
    **dict.fromkeys(("diff", "blame", "audit"), "history"),
    **dict.fromkeys(("fsck", "fmt"), "repair"),
    **dict.fromkeys(("schema", "completions"), "generated"),
    **dict.fromkeys(("index", "stats"), "space"),
    **dict.fromkeys(("off", "on"), "switch"),
}


def module_of(name: str) -> str:
    """The module of a verb in `cli/commands/`."""
    return MODULES.get(name) or name.replace("-", "_") + ("_" if iskeyword(name) else "")


Opener = Callable[..., Workspace]
"""Opens a workspace as `wiring.workspace.open_workspace` does."""


class Session:
    """The context of a command. The store is located only when `open` is called."""

    def __init__(
        self, command: str, common: CommonOptions, output: Output | None = None, opener: Opener | None = None
    ) -> None:
        """`output` and `opener`, by default the streams and `wiring.workspace.open_workspace`."""
        self.options: dict[str, str | None] = {
            "command": command, "space": common.space, "root": common.root, "freeze_clock": common.freeze_clock,
            "offline": "1" if common.offline else None,
        }  # fmt: skip
        self.output = Output(common.json, common.quiet) if output is None else output
        self._opener = opener
        self.progress = ProgressBar("embedding", common.quiet)
        self._made = ""
        self._told_off = False
        self._notes: list[str] = []

    def open(self, create: bool = False, *, tells_off: bool = True, **options: str | None) -> Workspace:
        """Opens the workspace; `create` creates a missing store. `options` are those of the command.

        Notes that memory is off, unless `tells_off` is false.
        """
        from memcli.store.switch import is_off
        from memcli.wiring.roots import locate

        if self._opener is None:
            from memcli.wiring.workspace import open_workspace

            self._opener = open_workspace
        chosen = self.options | {name: value for name, value in options.items() if value is not None}
        is_new = create and not self._made and chosen.get("store") is None and locate(chosen, os.environ) is None
        notes: list[str] = []
        workspace = self._opener(
            chosen,
            os.environ,
            create=create,
            warn=lambda text: notes.append(text) if is_new and not self._made else self.output.note(text),
            progress=self.progress,
        )
        if is_new:
            self._made, self._notes = workspace.root, notes
        if tells_off and not self._told_off and is_off(workspace.root, os.environ):
            self._told_off = True
            self.output.note("memory is off: hooks, watch and agents do nothing until you run `memcli on`")
        return workspace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.close()
        if self._made and isinstance(error, MemcliError):
            from memcli.store.layout import remove_unused

            if remove_unused(self._made):
                return
        for note in self._notes:
            self.output.note(note)


class Verb:
    """A command: `function(session, options)`, which returns the exit code, or None for 0.

    Without options of its own, it is `function(session)`.
    """

    __slots__ = ("function", "name", "options")

    def __init__(self, function: Callable[..., int | None], name: str, options: type[Options]) -> None:
        self.function, self.name, self.options = function, name, options

    def run(self, common: CommonOptions, options: Options) -> int:
        """Runs the command once and returns its exit code. Raises what the function raises."""
        return self.run_in(Session(self.name, common), options)

    def run_in(self, session: Session, options: Options) -> int:
        """As `run`, in a session that the caller made."""
        with session:
            given = (options,) if self.options.FIELDS else ()
            return self.function(session, *given) or 0


class Group:
    """A group of commands, in order of declaration."""

    __slots__ = ("help", "name", "verbs")

    def __init__(self, name: str, help: str) -> None:  # noqa: A002
        self.name, self.help = name, help
        self.verbs: dict[str, Verb] = {}

    def verb(self, options: type[Options] = Options) -> Callable[[Callable[..., int | None]], Verb]:
        """Adds a function to this group as a command."""

        def add(function: Callable[..., int | None]) -> Verb:
            name = function.__name__.rstrip("_")
            self.verbs[name] = Verb(function, f"{self.name} {name}", options)
            return self.verbs[name]

        return add


def verb(options: type[Options] = Options) -> Callable[[Callable[..., int | None]], Verb]:
    """Turns a function into the command of its name; one named `command` is named after its module."""

    def make(function: Callable[..., int | None]) -> Verb:
        own, module = function.__name__, function.__module__.rpartition(".")[2]
        return Verb(function, (module if own == "command" else own).rstrip("_").replace("_", "-"), options)

    return make
