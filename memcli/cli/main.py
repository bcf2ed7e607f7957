"""The entry point: finds the verb, runs it, and turns every failure into one line and an exit code."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memcli import __version__
from memcli.cli.options import REQUIRED, CommonOptions, Field, fill_bare
from memcli.cli.output import guarded
from memcli.cli.verb import MODULES, Group, Verb, module_of
from memcli.errors import UsageError

HELP = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
"""Settings that every command has."""


def make_command(verb: Verb | Group) -> Any:
    """The Typer command, or group of commands."""
    if isinstance(verb, Group):
        app = typer.Typer(
            name=verb.name, help=verb.help, add_completion=False, rich_markup_mode=None, no_args_is_help=True,
            pretty_exceptions_enable=False, context_settings=HELP,
        )  # fmt: skip
        for name, below in verb.verbs.items():
            app.command(name, context_settings=HELP)(_function(below))
        return typer.main.get_group(app)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(verb.name, context_settings=HELP)(_function(verb))
    return typer.main.get_command(app)


def _function(verb: Verb) -> Callable[..., None]:
    """A function with one parameter per field, for Typer to inspect."""
    common, negations = CommonOptions.FIELDS, verb.negations

    def run(ctx: typer.Context, **values: Any) -> None:
        shared = CommonOptions(**{name: values.pop(name) for name in common})
        given = {name: value for name, value in values.items() if _is_given(ctx, name)}
        for flag, field in negations.items():
            if given.pop(_negation_name(flag), False):
                if field.name in given:
                    raise UsageError(f"{field.flags[0]} cannot be used with {flag}", "use one of them")
                given[field.name] = field.unset
        code = verb.run(shared, given)
        if code:
            raise typer.Exit(code)

    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *map(_parameter, (*verb.options.FIELDS.values(), *common.values())),
        *map(_negation, negations),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = verb.function.__doc__
    return run


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _negation_name(flag: str) -> str:
    return f"negation_{flag.strip('-').replace('-', '_')}"


def _negation(flag: str) -> inspect.Parameter:
    """The parameter of a flag that takes back what the configuration sets; the help leaves it out."""
    told = typer.Option(flag, hidden=True)
    return inspect.Parameter(
        _negation_name(flag), inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, told]
    )


def _parameter(field: Field) -> inspect.Parameter:
    kind: Any = field.type
    if field.many:
        kind = list[kind]
    if field.is_argument:
        told: Any = typer.Argument(metavar=field.metavar, help=field.help)
    elif field.type is bool:
        told = typer.Option(*field.flags, help=field.help)
    else:
        told = typer.Option(*field.flags, metavar=field.metavar, help=field.help)
    default = inspect.Parameter.empty
    if field.default is not REQUIRED:
        default = [] if field.many else field.default
        kind = kind | None if default is None else kind
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
    )


# Each verb has a module `commands/<verb>.py` that defines `command`, which may be a group, unless MODULES names another.
# The verbs of a row share a line of the help.
COMMANDS: dict[str, tuple[dict[str, str], ...]] = {
    "Start": (
        {"init": "create a store in this repository"},
        {"demo": "take a guided tour", "doctor": "check the installation, the model and the store"},
    ),
    "Every day": (
        {"remember": "store a memory from text, a file, a pipe or JSON"},
        {"recall": "print the memories that best answer a question, ready for a prompt"},
        {"search": "search the memories under a heading"},
        {"get": "print memories in full", "list": "list memories", "tree": "show the tree of paths"},
        {"browse": "browse memories in a full-screen terminal interface"},
        {"session": "record, import and read conversations"},
        {"context": "assemble a context window within a token budget"},
    ),
    "Manage": (
        {"edit": "change the text or fields of a memory", "tag": "add or remove tags"},
        {"link": "link two memories", "unlink": "remove links"},
        {"graph": "show what memories are linked to"},
        {"pin": "rank memories first in recall", "unpin": "unpin memories"},
        {"forget": "exclude memories from recall, or delete them"},
        {"feedback": "say whether recalled memories helped", "gaps": "list questions that nothing answers"},
        {"maintain": "apply feedback, archive what is of no use, link, tag and merge"},
        {"gc": "delete expired memories", "restore": "restore deleted memories"},
        {"inbox": "review proposed memories", "trust": "accept a cloned store, imports or memories"},
        {"off": "stop hooks, watch and agents in this clone", "on": "start them again"},
    ),
    "Import and export": (
        {"ingest": "ingest files or commits", "watch": "ingest changes continuously"},
        {"hook": "ingest commits automatically with git hooks"},
        {"agent": "connect coding agents to the memory", "mcp": "serve it to them over MCP"},
        {"serve": "serve it over HTTP, with a web inspector"},
        {"import": "import an export, or another tool's memory", "export": "export a space"},
        {"store": "copy a store, or sync it with a team's server"},
    ),
    "Inspect": (
        {"diff": "show how memories changed since a commit", "blame": "show which commit changed each field"},
        {"guard": "check a change against memories", "verify": "check memories against the code"},
        {"test": "test what recall answers"},
        {"audit": "show who changed what, and when", "scan": "scan for secrets"},
        {"fsck": "check the store for damage and repair it", "fmt": "format space files"},
        {"space": "create, list, configure and delete spaces"},
        {"provider": "list and check language models, and what they cost"},
        {"metrics": "print metrics for Prometheus"},
        {"index": "show or rebuild the cache", "stats": "show counts and sizes"},
        {"schema": "print the JSON Schema of stored data"},
        {"completions": "print a shell completion script"},
    ),
}
# Commands that other programs call; the overview omits them.
CALLED = {"merge-driver": "merge two versions of a space file; called by git"}
ALIASES = {"show": "get", "add": "remember", "rm": "forget"}
VERBS = {
    name: f"{text[0].upper()}{text[1:]}."
    for row in (*(row for rows in COMMANDS.values() for row in rows), CALLED)
    for name, text in row.items()
}

# Names from other tools, mapped to the commands that do the same here.
_ELSEWHERE = {
    **dict.fromkeys(("delete", "remove", "del", "purge"), ("forget",)),
    **dict.fromkeys(("save", "new", "create", "note", "put"), ("remember",)),
    **dict.fromkeys(("find", "grep", "query", "ask"), ("recall", "search")),
    **dict.fromkeys(("cat", "view", "print", "read"), ("get",)),
    **dict.fromkeys(("set", "update", "change", "modify", "mv", "move", "rename"), ("edit",)),
    **dict.fromkeys(("undo", "recover", "undelete"), ("restore",)),
    **dict.fromkeys(("status", "info"), ("stats", "doctor")),
    **dict.fromkeys(("log", "history"), ("blame", "audit")),
    **dict.fromkeys(("conversation", "chat", "sessions", "transcript"), ("session",)),
    "ls": ("list",), "untag": ("tag",), "check": ("guard", "fsck"), "tui": ("browse",), "completion": ("completions",),
}  # fmt: skip

EPILOG = """\
  memcli remember "We chose PostgreSQL because of JSONB" --kind decision
  memcli recall "which database?"
  git diff --stat | memcli remember --path notes/today

See `memcli COMMAND --help`. All commands accept -s/--space, --root, --json, -q,
--offline and --freeze-clock. Aliases: `show` for get, `add` for remember, `rm`
for forget."""


class Verbs(TyperGroup):
    """The group of all verbs. A verb's module is imported only when the verb is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [*VERBS, *ALIASES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        name = ALIASES.get(cmd_name, cmd_name)
        return load_command(name) if name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in VERBS and args[0] not in ALIASES and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = _ELSEWHERE.get(args[0].lower()) or get_close_matches(args[0].lower(), [*VERBS, *ALIASES], 2)
            hint = f"did you mean {' or '.join(close)}?" if close else "`memcli --help` lists all commands"
            raise UsageError(f"no command {args[0]!r}", hint)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        formatter.write("memcli: the structured memory of a project\n\nUsage: memcli COMMAND [ARGUMENTS]\n")
        for title, rows in COMMANDS.items():
            formatter.write(f"\n{title}\n")
            for row in rows:
                text = "; ".join(row.values())
                formatter.write(f"  {', '.join(row):<16} {text[0].upper()}{text[1:]}.\n")
        formatter.write(f"\n{EPILOG}\n")


@cache
def load_command(name: str) -> Any:
    """The Typer command built from the declarations of its module."""
    own = name.replace("-", "_")
    module = importlib.import_module(f"memcli.cli.commands.{module_of(name)}")
    return make_command(getattr(module, f"{own}_" if own == "list" else own) if name in MODULES else module.command)


def _version(value: bool) -> None:
    if value:
        print(f"memcli {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """The structured memory of a project."""


@cache
def build() -> Any:
    """The whole command tree."""
    app = typer.Typer(
        name="memcli",
        cls=Verbs,
        callback=_root,
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )
    return typer.main.get_command(app)


def _filled(args: Sequence[str]) -> list[str]:
    """The command line with the values of flags that need none."""
    name = ALIASES.get(args[0], args[0]) if args else ""
    if name in VERBS and name not in MODULES:
        verb = importlib.import_module(f"memcli.cli.commands.{module_of(name)}").command
        if isinstance(verb, Verb):
            return fill_bare(args, verb.options.FIELDS)
    return list(args)


def main(args: Sequence[str]) -> int:
    """Runs the command in `args` and returns its exit code. User errors never raise."""

    def work() -> int:
        result = build().main(args=_filled(args), prog_name="memcli", standalone_mode=False)
        return result if isinstance(result, int) else 0

    return guarded(work, json="--json" in args)
