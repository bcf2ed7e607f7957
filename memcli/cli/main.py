"""The command line built with Typer: the help, the errors of wrong options, and command lines that the parser in `options.py`
does not accept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memcli import __version__
from memcli.cli.options import REQUIRED, CommonOptions, Field, fill_bare
from memcli.cli.output import finish, reported
from memcli.cli.verb import ALIASES, CHECK, PLUMBING, RECALL, SHARE, START, CommandContext, Group, Verb, find, names
from memcli.errors import UsageError
from memcli.render.clean import terminal_width, wrapped

HELP = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
"""The Typer settings of every command."""


def make_command(verb: Verb | Group) -> Any:
    """The Typer command, or group of commands."""
    # rich_markup_mode=None, since importing Rich doubles the time of --help.
    if isinstance(verb, Group):
        app = typer.Typer(
            name=verb.name, help=verb.text, cls=TyperGroup if verb.default is None else _WithDefault,
            add_completion=False, rich_markup_mode=None, no_args_is_help=verb.default is None,
            pretty_exceptions_enable=False, context_settings=HELP,
        )  # fmt: skip
        for name, below in verb.verbs.items():
            made = _command_class(below)
            app.command(name, cls=made, context_settings=HELP, short_help=below.line or None)(_function(below))
        if verb.default is not None:
            made = _command_class(verb.default)
            app.command(_DEFAULT, cls=made, context_settings=HELP, hidden=True)(_function(verb.default))
        group: Any = typer.main.get_group(app)
        if verb.default is not None:
            group.default = group.commands[_DEFAULT]
        return group
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(verb.name, cls=_command_class(verb), context_settings=HELP)(_function(verb))
    return typer.main.get_command(app)


def _command_class(verb: Verb) -> type[TyperCommand]:
    """The class of the Typer command of a verb. Its `--help` lists the options named in `often`, `memcli help` all."""

    class ShortHelp(TyperCommand):
        def format_options(self, ctx: Any, formatter: Any) -> None:
            if ctx.meta.get(_IN_FULL):
                super().format_options(ctx, formatter)
                return
            # All options of a large command would scroll its usage, and the way to the rest, off the screen.
            often, params = verb.often, self.params
            # Typer formats all parameters of the command: those left out are taken from it meanwhile.
            self.params = [
                one
                for one in params
                if one.name not in CommonOptions.FIELDS
                and (not often or one.param_type_name == "argument" or one.name in often)
            ]
            super().format_options(ctx, formatter)
            self.params = params
            with formatter.section("Common options"):
                formatter.write_text(_COMMON)
            more = len([one for one in verb.options.FIELDS.values() if not one.is_argument]) - len(often)
            if often and more > 0:
                formatter.write_paragraph()
                formatter.write_text(f"`memcli help {verb.name}` explains {more} more options.")

    return ShortHelp


_IN_FULL = "memcli.help"
"""The key in a Typer context that makes the help list all options."""
_COMMON = "-s/--space, --root, --json, -q/--quiet, --offline, --freeze-clock, --color, --no-pager, -h/--help"


def _function(verb: Verb) -> Callable[..., None]:
    """A function with one parameter per field, for Typer to inspect."""
    common = CommonOptions.FIELDS
    # Hidden in the help: flags such as --no-explain are needed only if the configuration sets the option.
    negations = {f"negation_{f.strip('-').replace('-', '_')}": (f, field) for f, field in verb.negations.items()}

    def run(ctx: typer.Context, **values: Any) -> None:
        shared = CommonOptions(**{name: values.pop(name) for name in common})
        # Typer fills in defaults: a value counts as given only if it is from the command line, else the configuration holds.
        sources = {name: ctx.get_parameter_source(name) for name in values}
        given = {name: values[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}
        for name, (flag, field) in negations.items():
            if given.pop(name, False):
                if field.name in given:
                    raise UsageError(f"{field.flags[0]} cannot be used with {flag}", "use one of them")
                given[field.name] = field.unset
        code = verb.run_in(CommandContext(verb.name, shared), given)
        if code:
            raise typer.Exit(code)

    keyword = inspect.Parameter.KEYWORD_ONLY
    hidden = {name: Annotated[bool, typer.Option(flag, hidden=True)] for name, (flag, _) in negations.items()}
    parameters = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *map(_parameter, (*verb.options.FIELDS.values(), *common.values())),
        *(inspect.Parameter(name, keyword, default=False, annotation=kind) for name, kind in hidden.items()),
    ]
    # Typer derives the options from the signature and the annotations, and the help from the docstring.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = verb.text
    return run


def _parameter(field: Field) -> inspect.Parameter:
    """The parameter that Typer makes an option or argument of."""
    kind: Any = field.type
    if field.many:
        kind = list[kind]
    if field.is_argument:
        declared: Any = typer.Argument(metavar=field.metavar, help=field.help)
    elif field.type is bool:
        declared = typer.Option(*field.flags, help=field.help)
    else:
        declared = typer.Option(*field.flags, metavar=field.metavar, help=field.help)
    default = inspect.Parameter.empty
    if field.default is not REQUIRED:
        default = [] if field.many else field.default
        kind = kind | None if default is None else kind
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


# Names from other tools, mapped to the commands that do the same here.
_ELSEWHERE = {
    **dict.fromkeys(("delete", "remove", "del", "purge"), ("forget",)),
    **dict.fromkeys(("save", "new", "create", "note", "put"), ("remember",)),
    **dict.fromkeys(("find", "grep", "query", "ask"), ("recall",)),
    **dict.fromkeys(("cat", "view", "print", "read"), ("get",)),
    **dict.fromkeys(("set", "update", "change", "modify", "mv", "move", "rename"), ("edit",)),
    **dict.fromkeys(("undo", "recover", "undelete"), ("restore",)),
    **dict.fromkeys(("stats", "info"), ("status", "doctor")),
    **dict.fromkeys(("log", "history"), ("blame", "store audit")),
    **dict.fromkeys(("conversation", "chat", "sessions", "transcript"), ("session",)),
    **dict.fromkeys(("tag", "untag"), ("edit --tag", "edit --untag")),
    **dict.fromkeys(("verify", "test", "scan", "fsck"), ("check",)),
    **dict.fromkeys(("fmt", "audit", "maintain", "index", "sync", "copy"), ("store",)),
    "ls": ("list",), "tree": ("list --tree",), "unpin": ("pin --remove",), "unlink": ("link --remove",),
    "search": ("recall --under",), "context": ("session context",), "gaps": ("feedback gaps",),
    "tui": ("browse",), "completion": ("completions",),
}  # fmt: skip


class Commands(TyperGroup):
    """The group of all commands. A command's module is imported only when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [*names(), *ALIASES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return load_command(ALIASES.get(cmd_name, cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and find(ALIASES.get(args[0], args[0])) is None:
            raise unknown_command(args[0])
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        formatter.write(general_help())


def unknown_command(name: str) -> UsageError:
    """The error for an unknown command, with the commands that may be meant."""
    from difflib import get_close_matches

    known = [*names(), *ALIASES, "version"]
    close = _ELSEWHERE.get(name.lower()) or get_close_matches(name.lower(), known, 2)
    hint = f"did you mean {' or '.join(close)}?" if close else "`memcli help all` lists all commands"
    return UsageError(f"no command {name!r}", hint)


class _WithDefault(TyperGroup):
    """A group that runs its default command, and prints its help, if no other command is named."""

    default: Any = None

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        # Arguments that name no command of the group are those of the default command, but for its --help.
        asks_help = args[:1] in (["--help"], ["-h"])
        if not asks_help and args[:1] != [] and args[0] in self.commands:
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, args if asks_help else [_DEFAULT, *args])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        own = self.default.context_class(self.default, ctx.parent, info_name=ctx.info_name)
        self.default.format_help(own, formatter)
        self.format_commands(ctx, formatter)


_DEFAULT = "default"
"""The name of the default command of a group in Typer; errors leave it out (see `output.as_error`)."""


@cache
def load_command(name: str) -> Any:
    """The Typer command of this name, or None."""
    found = find(name)
    return None if found is None else make_command(found)


def help_of(words: Sequence[str]) -> str:
    """The help of the command that `words` name, with all options. Raises UsageError for an unknown command."""
    command, context = build(), None
    for word in words:
        context = command.context_class(command, context, info_name=command.name)
        name = ALIASES.get(word, word) if context.parent is None else word
        below = command.get_command(context, name) if hasattr(command, "get_command") else None
        if below is None:
            raise unknown_command(word)
        command = below
    own = command.context_class(command, context, info_name=words[-1])
    own.meta[_IN_FULL] = True
    return str(command.get_help(own))


def _version(value: bool) -> None:
    if value:
        print(f"memcli {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", "-V", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """The structured memory of a project."""


# Once for a process that runs many commands, as tests do: to build it takes most of a short run.
@cache
def build() -> Any:
    """The whole command tree."""
    app = typer.Typer(
        name="memcli",
        cls=Commands,
        callback=_root,
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )
    return typer.main.get_command(app)


def main(args: Sequence[str]) -> int:
    """Runs the command in `args` and returns its exit code. User errors never raise."""
    try:
        if args and any(args[0] in field.flags for field in CommonOptions.FIELDS.values()):
            raise UsageError(f"{args[0]} stands before the command", f"put it behind: `memcli COMMAND {args[0]}`")
        verb = find(ALIASES.get(args[0], args[0])) if args and not args[0].startswith("-") else None
        # Typer has no options whose value can be left out.
        words = fill_bare(args, verb.options.FIELDS) if isinstance(verb, Verb) else list(args)
        # Not standalone, in which Typer prints errors in its own form and exits with codes of its own.
        result = build().main(args=words, prog_name="memcli", standalone_mode=False)
        finish()  # here, so that a full disk is reported like other errors
    except BaseException as error:  # noqa: BLE001 - `reported` raises what is no failure
        return reported(error, "--json" in args)
    return result if isinstance(result, int) else 0


# Few, since newcomers do not read a long list, whatever its order or its headings.
FIRST = {
    START: ("init", "agent", "status"),
    RECALL: ("remember", "recall", "list", "browse", "pin"),
    CHECK: ("guard", "inbox"),
    SHARE: ("ingest", "watch", "export", "gc"),
}
"""The commands that `memcli` without arguments lists, in the order in which a new user needs them."""

_HEAD = """\
memcli: the memory of a software project, kept in its repository

Usage: memcli COMMAND [ARGUMENTS]
"""
_FOOT = """
Try
  memcli remember "We chose PostgreSQL: we need JSONB" --kind decision
  memcli recall "which database?"

memcli help COMMAND   everything about a command
memcli help all       all commands
memcli help TOPIC     kinds, paths, exit-codes, environment or formats
"""
_FOOT_OF_ALL = """
All commands accept -s/--space, --root, --json, -q, --offline, --freeze-clock, --color and --no-pager.
Aliases: show for get, add for remember, rm for forget.
`memcli help plumbing` lists the commands that other programs call.
"""


def general_help(which: str = "") -> str:
    """The help of `memcli` without arguments; with `all`, of all commands by section, those of FIRST first; with `plumbing`, of
    the commands that other programs call."""
    chosen: dict[str, list[str]] = {title: [*first] for title, first in FIRST.items()}
    foot = _FOOT
    if which:
        known = {name: found.section for name in names() if (found := find(name))}
        chosen, foot = ({PLUMBING: []}, "") if which == "plumbing" else (chosen, _FOOT_OF_ALL)
        for title, first in chosen.items():
            first += [name for name, section in known.items() if section == title and name not in first]
    lines = []
    for title, rows in chosen.items():
        width = max(8, *map(len, rows))
        lines.append(f"\n{title}\n")
        lines += [f"  {name:<{width}}  {found.line}\n" for name in rows if (found := find(name))]
    whole, most = f"{_HEAD}{''.join(lines)}{foot}".split("\n"), terminal_width()
    below = [" " * (line.rfind("  ") + 2) if "  " in line else "" for line in whole]
    return "\n".join(
        part for line, indent in zip(whole, below, strict=True) for part in wrapped(line, most, below=indent)
    )
