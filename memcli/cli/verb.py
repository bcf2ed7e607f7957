"""Verbs: the declaration of a command, and the context of one run of it, with its output and workspace.

Beside its options, a command declares where the help lists it, which role may call it on a server, and its endpoints and tools.
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
    """An endpoint of `memcli serve`: `method` and `path`, and in `fields` the options that a client may set.

    `required` are options that a client must set although the command line has a default. `renamed` maps options to other
    names in the endpoint, `fixed` to values that a client cannot change, `defaults` to other defaults than those of the
    command. `posted`: POST is accepted too, for options that are too long for a URL. `in_query`: a DELETE has its options in
    the query of the URL. `media` is the media type of a text, `status` the HTTP status of a success.
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
    """A tool of the MCP server: its name, its description for an agent, and in `fields` the options that an agent may set.

    `required` are options that an agent must set although the command line has a default. `renamed` maps options to other
    names in the tool, `defaults` to other defaults than those of the command. `bare_verb` is called instead of the verb if the
    agent gives no argument but the space. `content` describes the JSON value that an agent may give in addition to a text or
    instead of it; empty if it may not. `is_idempotent`: the same call again changes nothing more. `is_always_loaded`: clients
    that load tools on demand should load it at once.
    """

    name: str
    # Below 400 bytes, which a test holds: clients load those of all tools, and some cut what is long.
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
    """The context of one run of a command. The store is located only when `open` is called."""

    def __init__(
        self,
        command: str,
        common: CommonOptions,
        output: Output | None = None,
        opener: Opener | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`output` defaults to the streams, `opener` to `wiring.workspace.open_workspace`. A server passes the `environ` of its
        client, which names the client's stores and user. `has_model` says that the embedding model is already in memory,
        `is_resident` that the process is the helper, which outlives the command."""
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
        self._has_noted_off = False
        self._notes: list[str] = []
        self.has_model = self.is_resident = False
        self.observer = Observer()
        self.counters: LocalCounters | None = None
        self.space = ""

    def open(self, create: bool = False, *, tells_off: bool = True, **options: str | None) -> Workspace:
        """Opens the workspace; `create` creates a missing store. `options` override the common options.

        With `tells_off`, a message warns that memory is off, once per command. Raises what the opener raises.
        """
        from memcli.store.trust import is_off
        from memcli.wiring.roots import locate

        if self._opener is None:
            from memcli.wiring.workspace import open_workspace

            self._opener = open_workspace
        chosen = self.options | {name: value for name, value in options.items() if value is not None}
        is_new = create and not self._made and chosen.get("store") is None and locate(chosen, self._environ) is None
        # A command that fails removes the store that it made, so messages about a new store wait until it succeeds.
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
            if self._command in ("recall", "get"):
                self.counters.hold()  # they write their counters together with the usage, in one transaction
        if is_new:
            self._made, self._notes = workspace.root, notes
        if tells_off and not self._has_noted_off and is_off(workspace.root, self._environ):
            self._has_noted_off = True
            self.output.note("memory is off: hooks, watch and agents do nothing until you run `memcli on`")
        return workspace

    @contextmanager
    def observed(self, *, is_background: bool) -> Iterator[None]:
        """A context for the run of the command, traced if MEMCLI_OTEL is set. Raises UsageError if OpenTelemetry is missing."""
        if not self._environ.get("MEMCLI_OTEL"):  # before the import, which most commands do not need
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
        """A context for the run of the command, with the options that the configuration of the store sets and the caller has
        not `given`, by field. An error about one of them names its place in the configuration."""
        config, root = Config({}), None
        if command in TABLES:
            from memcli.store.layout import Layout
            from memcli.wiring.roots import locate, read_config

            with suppress(MemcliError):  # without a store the command itself fails, with the same error
                root = locate(self.options, self._environ)
            if root is not None:
                config = read_config(Layout(root))
        if root is None or not config.tables.get(command):  # before the imports, which most commands do not need
            yield {}
            return
        from memcli.cli.configured import naming_place, read
        from memcli.store.trust import FileTrust
        from memcli.wiring.roots import claimed

        is_accepted = FileTrust(claimed(root, self.output.note)).is_accepted
        values, places = read(config, command, options, given, self.output.note, is_accepted=is_accepted)
        with naming_place(values, places):
            yield values

    def keep_helper(self) -> None:
        """Has a helper answer the commands of others (`extras/helper`) for as long as this process runs."""
        from memcli.wiring import extra
        from memcli.wiring.roots import locate

        with suppress(MemcliError):
            root = locate(self.options, self._environ)
            # Under a frozen clock nothing may depend on what another process holds.
            if root is not None and not self.is_frozen:
                process = os.getpid()
                extra("helper.starting").start_helper(root, f"{self._command} {process}", [process])

    @property
    def is_frozen(self) -> bool:
        """Whether the clock is frozen by an option or the environment."""
        return bool(self.options["freeze_clock"] or os.environ.get("MEMCLI_FREEZE_CLOCK"))

    def note_end(self, code: int, seconds: float) -> None:
        """Records the exit code and the duration in seconds, in the trace and in the counters of the store that was opened."""
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

            if remove_unused(self._made):  # False if another process has stored something in it
                return
        for note in self._notes:
            self.output.note(note)


class Verb:
    """A command: `function(session, options)` returns the exit code, or None for 0. For a command without options of its own, the
    function has only the parameter `session`.

    `section` and `line` are its section in the help and its text there. `role` is the role (`model/space.py`) that a client of
    `memcli serve` needs; None: it is not served. `escalates` maps options (`name`, if it is set, or `name=value`) to the role
    that a call with them needs instead. `often` names the options that `--help` lists, all if it is empty. `reach` says which
    spaces other than that of the call it concerns. `returns` is the type of the result in Python.
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
        """The text of its help: the docstring up to the example."""
        from inspect import cleandoc

        return cleandoc(self.function.__doc__ or "").partition(">>>")[0].rstrip()

    @property
    def example(self) -> str:
        """The example of its method in `memcli.Memory`, from the docstring; empty if it has no method."""
        from inspect import cleandoc

        return "".join(cleandoc(self.function.__doc__ or "").partition(">>>")[1:])

    def role_for(self, options: Mapping[str, Any]) -> str | None:
        """The role that a client of `memcli serve` needs for a call with these options; None if it is not served."""

        def is_given(option: str) -> bool:
            name, sign, value = option.partition("=")
            given = options.get(name, self.options.FIELDS[name].unset)
            return given == value if sign else bool(given)

        roles = [role for option, role in self.escalates.items() if is_given(option)]
        return max(roles, key=ROLES.index) if roles else self.role

    @property
    def negations(self) -> dict[str, Field]:
        """The flags that reset an option which the configuration sets: `--no-explain`, and `--global` for `--no-global`."""
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
    """A command with subcommands, in order of declaration. `default` runs if none of them is named."""

    __slots__ = ("default", "line", "name", "section", "text", "verbs")

    def __init__(
        self, name: str, text: str, *below: Verb, section: str, line: str, default: Verb | None = None
    ) -> None:
        self.name, self.text, self.default, self.section, self.line = name, text, default, section, line
        if default is not None:
            default.name = name
        self.verbs = {verb.name.removeprefix(f"{name} "): verb for verb in below}

    def verb(self, options: type[Options] = Options, **declared: Any) -> Callable[[Callable[..., int | None]], Verb]:
        """A decorator that adds a function to this group, as the command with its name. `declared` is passed to `Verb`."""

        def add(function: Callable[..., int | None]) -> Verb:
            name = function.__name__.rstrip("_")
            self.verbs[name] = Verb(function, f"{self.name} {name}", options, **declared)
            return self.verbs[name]

        return add


def verb(options: type[Options] = Options, **declared: Any) -> Callable[[Callable[..., int | None]], Verb]:
    """A decorator that makes a function the command of its module: that of `commands/gc.py` is `gc`, that of an extra has its
    name in `OF_EXTRAS`. `declared` is passed to `Verb`."""

    def make(function: Callable[..., int | None]) -> Verb:
        return Verb(function, name_of(function.__module__), options, **declared)

    return make


def name_of(module: str) -> str:
    """The name of the command of a module: a full name in an extra, or the name of a file in `cli/commands/`."""
    for command, place in OF_EXTRAS.items():
        if module == f"memcli.extras.{place}":
            return command
    words = module.removeprefix(f"{_COMMANDS}.").split(".")
    return " ".join(word.rstrip("_").replace("_", "-") for word in words)


def find(name: str) -> Verb | Group | None:
    """The command or group of this name; None for an unknown one. Imports its module, and those of its group."""
    module = name.replace("-", "_") + ("_" if iskeyword(name) else "")
    # The name comes from the command line: it must not import another module, such as `_` or `a.b`.
    if not module.isidentifier() or module.startswith("_"):
        return None
    place = f"extras.{OF_EXTRAS[name]}" if name in OF_EXTRAS else f"cli.commands.{module}"
    try:
        found: Verb | Group = importlib.import_module(f"memcli.{place}").command
    except ModuleNotFoundError as error:
        if error.name == f"memcli.{place}":
            return None
        raise  # the command exists, and a package that it needs is missing
    if isinstance(found, Group):
        added = {
            full.partition(" ")[2]: importlib.import_module(f"memcli.extras.{module}").command
            for full, module in OF_EXTRAS.items()
            if full.startswith(f"{name} ")
        }
        found.verbs = {**added, **found.verbs}
    return found


def read_line(args: Sequence[str]) -> tuple[Verb, dict[str, Any], dict[str, Any]] | None:
    """The verb that `args` name, its options and the common ones; None if the parser leaves the command line to Typer."""
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
    """The verb of a name such as `recall` or `space list`; for the name of a group its default. Raises LookupError."""
    first, _, second = name.partition(" ")
    found = find(first)
    if isinstance(found, Group):
        found = found.verbs.get(second) if second else found.default
    if found is None:
        raise LookupError(f"no command {name!r}")
    return found


def names() -> list[str]:
    """The names of all commands and groups, in alphabetical order."""
    # The folder is listed instead of walked by pkgutil, which every short command would have to import.
    folder = os.path.dirname(importlib.import_module("memcli.cli.commands").__file__ or "")
    modules = (entry.removesuffix(".py") for entry in os.listdir(folder) if not entry.startswith(("_", ".")))
    return sorted({*(name_of(module) for module in modules), *(name for name in OF_EXTRAS if " " not in name)})


def all_verbs() -> Iterator[Verb]:
    """All verbs, with those of groups. Imports the modules of all commands."""
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
"""The commands of extras, with their modules below `extras/`. A name of two words is a subcommand, listed before those that the
group declares itself."""
# Few, since a name can never be taken back; other tools' names are answered with ours (`_ELSEWHERE` in `main.py`).
ALIASES = {"show": "get", "add": "remember", "rm": "forget"}
"""Other names of commands."""
