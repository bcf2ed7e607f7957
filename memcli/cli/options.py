"""Options that several commands share, declared once; and `verb`, which gives every command the common ones."""

from __future__ import annotations

import functools
import inspect
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from memcli.cli.session import Session

HELP = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
"""Settings that every command has."""

Common = {
    "space": Annotated[
        str | None, typer.Option("--space", "-s", metavar="NAME", help="The space to work in [default: main].")
    ],
    "root": Annotated[str | None, typer.Option("--root", metavar="DIR", help="The store, or the folder it is in.")],
    "json": Annotated[bool, typer.Option("--json", help="The answer as JSON on standard output.")],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but answers and errors.")],
    "freeze_clock": Annotated[
        str | None, typer.Option("--freeze-clock", metavar="TIME", help="Take TIME (RFC 3339) for now.")
    ],
}


def _normalized(refs: list[str]) -> list[str]:
    """Paths are stored in NFC; some terminals and file systems give them decomposed."""
    return [ref if ref.isascii() else unicodedata.normalize("NFC", ref) for ref in refs]


Refs = Annotated[
    list[str],
    typer.Argument(
        metavar="ID|PATH...", help="Memories by id, by the beginning of an id, or by path.", callback=_normalized
    ),
]
Ref = Annotated[
    str,
    typer.Argument(metavar="ID|PATH", help="A memory, as in `memcli get`.", callback=lambda ref: _normalized([ref])[0]),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", "-k", metavar="KIND", help="Only memories of this kind; a,b for any of several."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", "-t", metavar="TAG", help="Only memories with this tag; a,b for all of several."),
]
Rev = Annotated[str | None, typer.Option("--rev", metavar="REV", help="As the store was at this commit.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Say what would be done, and do nothing.")]


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """A command from `function(session, ...)`: the common options are added and become the session."""
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False if name in ("json", "quiet") else None, annotation=hint
        )
        for name, hint in Common.items()
    ]

    @functools.wraps(function)
    def run(**values: Any) -> None:
        common = {name: values.pop(name) for name in Common}
        with Session(_name(function), **common) as session:
            function(session, **values)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in own]
    run.__signature__ = inspect.Signature([*parameters, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in [*parameters, *shared]}
    del run.__wrapped__  # inspect must see the signature above, not the function's
    return run


def _name(function: Callable[..., None]) -> str:
    """How the command is called, such as `pin` or `space delete`."""
    room = function.__module__.rpartition(".")[2].rstrip("_")
    return room if function.__name__ == "command" else f"{room} {function.__name__.rstrip('_')}"


def group(name: str, text: str) -> typer.Typer:
    """A command with commands of its own."""
    return typer.Typer(
        name=name, help=text, add_completion=False, rich_markup_mode=None, no_args_is_help=True,
        pretty_exceptions_enable=False, context_settings=HELP,
    )  # fmt: skip
