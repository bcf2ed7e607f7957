"""Typer commands built from the option declarations of the verbs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from memcli.cli.options import REQUIRED, CommonOptions, Field
from memcli.cli.verb import Group, Verb

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
    common = CommonOptions.FIELDS

    def run(**values: Any) -> None:
        shared = CommonOptions(**{name: values.pop(name) for name in common})
        code = verb.run(shared, verb.options(**values))
        if code:
            raise typer.Exit(code)

    parameters = [_parameter(field) for field in (*verb.options.FIELDS.values(), *common.values())]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = verb.function.__doc__
    return run


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
