"""Verbs: a function, its options, and one run of it with its output and workspace."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from keyword import iskeyword
from types import TracebackType
from typing import Any, Self

from memcli.app.workspace import Workspace
from memcli.cli.options import CommonOptions, Field, Options, negations
from memcli.cli.output import Output, ProgressBar, exit_code_of
from memcli.errors import MemcliError, UsageError
from memcli.ports.usage import Counters, Observer, Unobserved
from memcli.settings import TABLES, Config

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
        self._command, self._opener = command, opener
        self.progress = ProgressBar("embedding", common.quiet)
        self._made = ""
        self._told_off = False
        self._notes: list[str] = []
        self.observer: Observer = Unobserved()
        self.counters: Counters | None = None
        self.space = ""

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
            observer=self.observer,
        )
        if self.counters is None:
            self.counters, self.space = workspace.counters, workspace.space
        if is_new:
            self._made, self._notes = workspace.root, notes
        if tells_off and not self._told_off and is_off(workspace.root, os.environ):
            self._told_off = True
            self.output.note("memory is off: hooks, watch and agents do nothing until you run `memcli on`")
        return workspace

    @contextmanager
    def observed(self, *, is_background: bool) -> Iterator[None]:
        """Around the run of the command: with a trace, if one is wanted. Raises UsageError when there can be none."""
        if not os.environ.get("MEMCLI_OTEL"):  # nothing of it is imported
            yield
            return
        from memcli.wiring.tracing import traced

        is_offline = bool(self.options["offline"])
        with traced(self._command, os.environ, is_offline=is_offline, is_background=is_background) as command:
            self.observer = command or self.observer
            yield

    @contextmanager
    def configured(self, command: str, options: type[Options], given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Around the run of the command: what the configuration of the store sets of the options that are not given. An error
        that is of one of these says so."""
        config, root = self._config() if command in TABLES else (Config({}), "")
        if not config.tables.get(command):  # nothing of it is imported
            yield {}
            return
        from memcli.cli.configured import read
        from memcli.store.trust import FileTrust
        from memcli.wiring.roots import claimed

        is_accepted = FileTrust(claimed(root, self.output.note)).is_accepted
        found = read(config, command, options, given, self.output.note, is_accepted=is_accepted)
        try:
            yield found.values
        except UsageError as error:
            found.explain(error)
            raise

    def _config(self) -> tuple[Config, str]:
        """The configuration of the store and its root; an empty one where there is no store, as the command says itself."""
        from memcli.store.layout import Layout
        from memcli.wiring.roots import locate, read_config

        try:
            root = locate(self.options, os.environ)
        except MemcliError:
            root = None
        return (Config({}), "") if root is None else (read_config(Layout(root)), root)

    def note_end(self, code: int, seconds: float) -> None:
        """Counts the command in the store that it opened, if it did."""
        self.observer.ended(self.space, code)
        if self.counters is not None:
            self.counters.ran(self._command, self.space, self.observer.backend, code, seconds)

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

    @property
    def negations(self) -> dict[str, Field]:
        """The flags that take back what the configuration sets of the options."""
        return negations(self.options.FIELDS) if self.name in TABLES else {}

    def run(self, common: CommonOptions, given: Mapping[str, Any]) -> int:
        """Runs the command once with the options `given`, and returns its exit code. Raises what the function raises."""
        return self.run_in(Session(self.name, common), given)

    def run_in(self, session: Session, given: Mapping[str, Any]) -> int:
        """As `run`, in a session that the caller made."""
        with session.observed(is_background=bool(given.get("background"))):
            began, code = time.monotonic(), MemcliError.exit_code
            try:
                with session, session.configured(self.name, self.options, given) as configured:
                    options = self.options.made(given, configured)
                    code = self.function(session, *((options,) if self.options.FIELDS else ())) or 0
            except BaseException as error:
                code = exit_code_of(error)
                raise
            finally:
                session.note_end(code, time.monotonic() - began)
        return code


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
