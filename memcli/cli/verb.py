"""Verbs: the declaration of a command, and one run of it with its output and workspace.

What a command declares beside its options: where the help lists it, who may call it, and how programs call it.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from keyword import iskeyword
from types import TracebackType

from memcli.app.workspace import Observer
from memcli.cli.options import CommonOptions, Field, Options, fill_bare, parse
from memcli.cli.output import Output, ProgressBar, exit_code_of
from memcli.errors import MemcliError, UsageError
from memcli.model.space import ROLES, SPACE_ALONE
from memcli.record import Record
from memcli.render.clean import coloured
from memcli.settings import TABLES, Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from memcli.app.workspace import Workspace
    from memcli.store.notes import LocalCounters


START, RECALL, CHECK, SHARE, PLUMBING = (
    "Start", "Remember and recall", "Check", "Feed and share", "Plumbing",
)  # fmt: skip
SECTIONS = (START, RECALL, CHECK, SHARE, PLUMBING)
"""The sections of the help, in order."""


class Http(Record, kw_only=True):
    """An endpoint of `memcli serve`: `method` and `path`, and the options that a caller may give there.

    `required` are those that a caller must give although the command line has a default. `renamed` has the names of
    options that differ in the endpoint, `fixed` the values of options that it sets itself, `defaults` those of options that a
    caller may set. With `posted`, the endpoint can be
    called by POST too, for what is too long for an address; with `in_query`, a DELETE has its options in the address.
    """

    method: str = "GET"
    path: str
    summary: str
    fields: Sequence[str] = ()
    required: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    fixed: Mapping[str, object] = {}
    defaults: Mapping[str, object] = {}
    status: int = 200
    posted: bool = False
    in_query: bool = False
    media: str = ""


class ToolDeclaration(Record, kw_only=True):
    """A tool of the MCP server: its name, what an agent reads of it, and the options that it may give.

    `required` are those that an agent must give although the command line has a default. `renamed` has the names of options
    that differ in the tool, `defaults` the values of those that it does not give. `bare_verb` is called in the place of the verb when no
    argument is given but the space. `content` describes the JSON value that an agent may give instead of a text, or beside
    it; empty where it may not. `is_idempotent`: the same call again changes nothing more. `is_always_loaded`: clients that
    load tools on demand should show it at once.
    """

    name: str
    description: str
    fields: Sequence[str] = ()
    required: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    defaults: Mapping[str, object] = {}
    bare_verb: str = ""
    content: str = ""
    reads_only: bool = True
    destroys: bool = False
    is_idempotent: bool = True
    is_always_loaded: bool = False


Opener = Callable[..., "Workspace"]
"""Opens a workspace as `wiring.workspace.open_workspace` does."""


class CommandContext:
    """The context of a command. The store is located only when `open` is called."""

    def __init__(
        self,
        command: str,
        common: CommonOptions,
        output: Output | None = None,
        opener: Opener | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`output` and `opener` are by default the streams and `wiring.workspace.open_workspace`. Another `environ` than that
        of the process leads a call to the stores and the user of its caller. `has_model` is set where the embedding model
        is in memory anyway."""
        self.options: dict[str, str | None] = {
            "command": command, "space": common.space, "root": common.root, "freeze_clock": common.freeze_clock,
            "offline": "1" if common.offline else None,
        }  # fmt: skip
        if output is None:
            if common.color not in (None, "auto", "always", "never"):
                raise UsageError(f"--color does not know {common.color!r}", "use auto, always or never")
            coloured.set(common.color or "auto")
            output = Output(common.json, common.quiet, not common.no_pager)
        self.output = output
        self._command, self._opener, self._environ = command, opener, environ
        self.progress = ProgressBar("embedding", common.quiet)
        self._made = ""
        self._told_off = False
        self._notes: list[str] = []
        self.has_model = False
        self.observer = Observer()
        self.counters: LocalCounters | None = None
        self.space = ""

    def open(self, create: bool = False, *, tells_off: bool = True, **options: str | None) -> Workspace:
        """Opens the workspace; `create` creates a missing store. `options` are those of the command.

        Notes that memory is off, unless `tells_off` is false.
        """
        from memcli.store.trust import is_off
        from memcli.wiring.roots import locate

        if self._opener is None:
            from memcli.wiring.workspace import open_workspace

            self._opener = open_workspace
        chosen = self.options | {name: value for name, value in options.items() if value is not None}
        is_new = create and not self._made and chosen.get("store") is None and locate(chosen, self._environ) is None
        # A command that fails removes the store that it made: what there is to say of a new store waits until it succeeds.
        notes: list[str] = []
        workspace = self._opener(
            chosen,
            self._environ,
            create=create,
            warn=lambda text: notes.append(text) if is_new and not self._made else self.output.note(text),
            progress=self.progress,
            observer=self.observer,
        )
        if self.counters is None:
            self.counters, self.space = workspace.counters, workspace.space
            if self._command == "recall":
                self.counters.hold()  # a recall writes its counters together with its usage, in one transaction
        if is_new:
            self._made, self._notes = workspace.root, notes
        if tells_off and not self._told_off and is_off(workspace.root, self._environ):
            self._told_off = True
            self.output.note("memory is off: hooks, watch and agents do nothing until you run `memcli on`")
        return workspace

    @contextmanager
    def observed(self, *, is_background: bool) -> Iterator[None]:
        """Around the run of the command: with a trace, if one is wanted. Raises UsageError when there can be none."""
        if not self._environ.get("MEMCLI_OTEL"):  # nothing of it is imported
            yield
            return
        from memcli.wiring import extra

        is_offline = bool(self.options["offline"])
        traced = extra("telemetry.opening").traced
        with traced(self._command, self._environ, is_offline=is_offline, is_background=is_background) as command:
            self.observer = command or self.observer
            yield

    @contextmanager
    def configured(self, command: str, options: type[Options], given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Around the run of the command: what the configuration of the store sets of the options that are not given. An error
        that is of one of these says so."""
        config, root = Config({}), None
        if command in TABLES:
            from memcli.store.layout import Layout
            from memcli.wiring.roots import locate, read_config

            with suppress(MemcliError):  # where there is no store, the command says so itself
                root = locate(self.options, self._environ)
            if root is not None:
                config = read_config(Layout(root))
        if root is None or not config.tables.get(command):  # nothing of it is imported
            yield {}
            return
        from memcli.cli.configured import explained, read
        from memcli.store.trust import FileTrust
        from memcli.wiring.roots import claimed

        is_accepted = FileTrust(claimed(root, self.output.note)).is_accepted
        values, places = read(config, command, options, given, self.output.note, is_accepted=is_accepted)
        with explained(values, places):
            yield values

    @property
    def is_frozen(self) -> bool:
        """Whether the clock is frozen by an option or the environment."""
        return bool(self.options["freeze_clock"] or os.environ.get("MEMCLI_FREEZE_CLOCK"))

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
    """A command: `function(session, options)`, which returns the exit code, or None for 0. Without options of its own, it is
    `function(session)`.

    `section` and `line` are where and how the help lists it. `role` is the role (`model/space.py`) that a caller of
    `memcli serve` needs; None: it is not served. `escalates` has the roles for calls with certain options instead: an
    option that is given, or `name=value`. `often` names the options that `--help` shows, all if it is empty. `reach` says
    what else than the space it concerns. `returns` is the type of the result in Python.
    """

    __slots__ = (
        "escalates", "function", "http", "line", "name", "often", "options", "reach", "returns", "role", "section", "tools",
    )  # fmt: skip

    def __init__(
        self, function: Callable[..., int | None], name: str, options: type[Options], *, section: str = "", line: str = "",
        role: str | None = None, escalates: Mapping[str, str] = {}, reach: str = SPACE_ALONE, http: Sequence[Http] = (),
        tools: Sequence[ToolDeclaration] = (), returns: str = "Object", often: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.function, self.name, self.options = function, name, options
        self.section, self.line, self.http, self.tools, self.returns = section, line, http, tools, returns
        self.role, self.escalates, self.reach, self.often = role, escalates, reach, often

    @property
    def text(self) -> str:
        """What the command does, for its help."""
        from inspect import cleandoc

        return cleandoc(self.function.__doc__ or "").partition(">>>")[0].rstrip()

    @property
    def example(self) -> str:
        """An example of the method of `memcli.Memory` that calls this; empty where there is no such method."""
        from inspect import cleandoc

        return "".join(cleandoc(self.function.__doc__ or "").partition(">>>")[1:])

    def role_for(self, options: Mapping[str, Any]) -> str | None:
        """The role that a caller of `memcli serve` needs for a call with these options; None if it is not served."""

        def is_given(option: str) -> bool:
            name, sign, value = option.partition("=")
            given = options.get(name, self.options.FIELDS[name].unset)
            return given == value if sign else bool(given)

        roles = [role for option, role in self.escalates.items() if is_given(option)]
        return max(roles, key=ROLES.index) if roles else self.role

    @property
    def negations(self) -> dict[str, Field]:
        """The flags that take back what the configuration sets: `--no-explain`, and `--global` for `--no-global`."""
        found: dict[str, Field] = {}
        if self.name not in TABLES:
            return found
        fields = self.options.FIELDS.values()
        known = {flag for field in fields for flag in field.flags}
        for field in fields:
            for flag in field.flags:
                if flag.startswith("--"):
                    other = f"--{flag.removeprefix('--no-')}" if flag.startswith("--no-") else f"--no-{flag[2:]}"
                    if other not in known:
                        found[other] = field
        return found

    def run_in(self, session: CommandContext, given: Mapping[str, Any]) -> int:
        """Runs the command once with the options `given`, and returns its exit code. Raises what the function raises."""
        with session.observed(is_background=bool(given.get("background"))):
            began, code = time.monotonic(), MemcliError.exit_code
            try:
                with session, session.configured(self.name, self.options, given) as configured:
                    options = self.options(**{**configured, **given})
                    options.given, options.configured = frozenset(given), frozenset(configured) - frozenset(given)
                    code = self.function(session, *((options,) if self.options.FIELDS else ())) or 0
            except BaseException as error:
                code = exit_code_of(error)
                raise
            finally:
                session.note_end(code, time.monotonic() - began)
        return code


class Group:
    """A command with commands below it, in order of declaration. `default` runs when none of them is named."""

    __slots__ = ("default", "line", "name", "section", "text", "verbs")

    def __init__(
        self, name: str, text: str, *below: Verb, section: str, line: str, default: Verb | None = None
    ) -> None:
        self.name, self.text, self.default, self.section, self.line = name, text, default, section, line
        if default is not None:
            default.name = name
        self.verbs = {verb.name.removeprefix(f"{name} "): verb for verb in below}

    def verb(self, options: type[Options] = Options, **declared: Any) -> Callable[[Callable[..., int | None]], Verb]:
        """Adds a function to this group as the command of its name. `declared` is passed to `Verb`."""

        def add(function: Callable[..., int | None]) -> Verb:
            name = function.__name__.rstrip("_")
            self.verbs[name] = Verb(function, f"{self.name} {name}", options, **declared)
            return self.verbs[name]

        return add


def verb(options: type[Options] = Options, **declared: Any) -> Callable[[Callable[..., int | None]], Verb]:
    """Turns a function into the command of its module: the one of `commands/gc.py` is `gc`, that of an extra as `OF_EXTRAS`
    names it. `declared` is passed to `Verb`."""

    def make(function: Callable[..., int | None]) -> Verb:
        return Verb(function, name_of(function.__module__), options, **declared)

    return make


def name_of(module: str) -> str:
    """The command of a module below `cli/commands/`, or of an extra."""
    for command, place in OF_EXTRAS.items():
        if module == f"memcli.extras.{place}":
            return command
    words = module.removeprefix(f"{_COMMANDS}.").split(".")
    return " ".join(word.rstrip("_").replace("_", "-") for word in words)


def find(name: str) -> Verb | Group | None:
    """The command of this name, without those below it; None if there is none. Imports its module."""
    module = name.replace("-", "_") + ("_" if iskeyword(name) else "")
    if not module.isidentifier() or module.startswith("_"):
        return None
    place = f"extras.{OF_EXTRAS[name]}" if name in OF_EXTRAS else f"cli.commands.{module}"
    try:
        found: Verb | Group = importlib.import_module(f"memcli.{place}").command
    except ModuleNotFoundError as error:
        if error.name == f"memcli.{place}":
            return None
        raise
    if isinstance(found, Group):
        below = [full for full in OF_EXTRAS if full.startswith(f"{name} ")]
        added = {
            full.partition(" ")[2]: importlib.import_module(f"memcli.extras.{OF_EXTRAS[full]}").command
            for full in below
        }
        found.verbs = {**added, **found.verbs}
    return found


def read_line(args: Sequence[str]) -> tuple[Verb, dict[str, Any], dict[str, Any]] | None:
    """The verb that `args` call, with its options and the common ones; None if the parser does not accept the command line."""
    if not args or args[0].startswith("-"):
        return None
    found, words = find(ALIASES.get(args[0], args[0])), args[1:]
    if isinstance(found, Group):
        below = found.verbs.get(words[0]) if words else None
        found, words = (found.default, words) if below is None else (below, words[1:])
    if found is None:
        return None
    fields = {**found.options.FIELDS, **CommonOptions.FIELDS}
    values = parse(fill_bare(words, found.options.FIELDS), fields, found.negations)
    if values is None:
        return None
    return found, values, {name: values.pop(name) for name in CommonOptions.FIELDS if name in values}


def find_verb(name: str) -> Verb:
    """The verb of a name such as `recall` or `space list`; of a group, its default. Raises LookupError."""
    first, _, second = name.partition(" ")
    found = find(first)
    if isinstance(found, Group):
        found = found.verbs.get(second) if second else found.default
    if found is None:
        raise LookupError(f"no command {name!r}")
    return found


def names() -> list[str]:
    """The names of all commands, without those below a group, in alphabetical order."""
    folder = os.path.dirname(importlib.import_module("memcli.cli.commands").__file__ or "")
    modules = (entry.removesuffix(".py") for entry in os.listdir(folder) if not entry.startswith(("_", ".")))
    return sorted({*(name_of(module) for module in modules), *(name for name in OF_EXTRAS if " " not in name)})


def all_verbs() -> Iterator[Verb]:
    """Every verb, those of groups too. Imports the modules of all commands."""
    for name in names():
        found = find(name)
        if isinstance(found, Group):
            yield from (*([found.default] if found.default else []), *found.verbs.values())
        elif found is not None:
            yield found


_COMMANDS = "memcli.cli.commands"
OF_EXTRAS = {
    "agent": "agents.command", "browse": "tui.command", "check": "check.command", "check code": "check.code", "check recall": "check.recall", "check secrets": "check.secrets", "check store": "check.store", "blame": "history.blame", "completions": "completion.command", "demo": "demo.command", "diff": "history.diff", "doctor": "doctor.command", "feedback": "feedback.command", "graph": "graph.command", "import": "transfer.command", "link": "links.command",
    "mcp": "mcp.command", "metrics": "telemetry.command", "provider": "providers.command", "restore": "restore.command", "schema": "schema.command", "serve": "serve.command", "session context": "window.command", "space": "spaces.command", "inbox": "inbox.command",
    "status": "status.command", "store": "stores.command", "trust": "trust.command", "watch": "watch.command",
}  # fmt: skip
"""The modules below `extras/` that have the other commands. One with two words is below a group, before the group's own."""
ALIASES = {"show": "get", "add": "remember", "rm": "forget"}
"""Other names of commands."""
