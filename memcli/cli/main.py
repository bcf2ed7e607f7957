"""The program: finds the verb, runs it, and turns every failure into one line and an exit code."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from keyword import iskeyword
from typing import Any

import typer
from typer.core import TyperGroup

from memcli import __version__
from memcli.cli.boundary import guarded
from memcli.cli.options import HELP
from memcli.errors import UsageError

# One line a verb: its module is `commands/<verb>.py`, which has a `command` or, for a group, an `app`.
COMMANDS: dict[str, dict[str, str]] = {
    "Start": {
        "init": "Make a store here.",
        "demo": "Take a guided tour on a throw-away store.",
        "doctor": "Check the installation, the model and the store.",
    },
    "Every day": {
        "remember": "Store a memory: a text, a JSON object, or a file of them.",
        "recall": "Answer a question with what matters, ready for a prompt.",
        "search": "Rank what lies under a heading.",
        "get": "Print memories whole.",
        "list": "List memories.",
        "tree": "Show the hierarchy of paths.",
        "browse": "Look around on a full screen.",
    },
    "Keep in order": {
        "edit": "Change the fields of a memory.",
        "tag": "Add or remove tags.",
        "pin": "Put memories in front of every recall.",
        "unpin": "Let memories compete again.",
        "forget": "Take memories out of recall, or delete them.",
        "inbox": "Review what was proposed.",
        "trust": "Accept a clone, an import, or a memory as it is.",
        "gc": "Delete what has expired.",
        "restore": "Bring back what was deleted.",
    },
    "Bring in, hand out": {
        "ingest": "Remember files or commits.",
        "watch": "Ingest files and commits as they change.",
        "export": "Write a space to a bundle.",
        "import": "Read a bundle, or what another tool remembers.",
    },
    "Look inside": {
        "space": "Create, list, govern and delete spaces.",
        "fsck": "Look for damage, and mend it.",
        "fmt": "Write space files in their canonical form.",
        "index": "Show or rebuild the cache.",
        "audit": "Show who did what, and when.",
        "diff": "Show what became of memories since a commit.",
        "blame": "Show which commit changed what of a memory.",
        "scan": "Look for secrets in what is stored.",
        "stats": "Count and measure.",
        "schema": "Print the JSON Schema of what is stored.",
        "completions": "Print the completions of a shell.",
    },
}  # fmt: skip
# What other programs call, and the help need not tell.
CALLED = {"merge-driver": "Merge two versions of a space; git calls it."}
VERBS = {name: text for group in (*COMMANDS.values(), CALLED) for name, text in group.items()}

EPILOG = """\
  memcli remember "We chose PostgreSQL because of JSONB" --kind decision
  memcli recall "which database?"
  git diff --stat | memcli remember --path notes/today

`memcli COMMAND --help` tells more. Every command knows -s/--space, --root,
--json, -q and --freeze-clock."""


class Verbs(TyperGroup):
    """The group of all verbs: each is imported when it is called, none to print the help."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return load_command(cmd_name) if cmd_name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], VERBS, 2)
            hint = f"did you mean {' or '.join(close)}?" if close else "`memcli --help` lists them"
            raise UsageError(f"no command {args[0]!r}", hint)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        formatter.write("memcli: the structured memory of a project\n\nUsage: memcli COMMAND [ARGUMENTS]\n")
        for title, verbs in COMMANDS.items():
            formatter.write(f"\n{title}\n")
            for name, text in verbs.items():
                formatter.write(f"  {name:<12} {text}\n")
        formatter.write(f"\n{EPILOG}\n")


def load_command(name: str) -> Any:
    """The command `name`, as Typer makes it of its module's `command` function or `app` group."""
    file = name.replace("-", "_") + ("_" if iskeyword(name) else "")
    module = importlib.import_module(f"memcli.cli.commands.{file}")
    if hasattr(module, "app"):
        return typer.main.get_group(module.app)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, context_settings=HELP)(module.command)
    return typer.main.get_command(app)


def _version(value: bool) -> None:
    if value:
        print(f"memcli {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """The structured memory of a project."""


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


def main(args: Sequence[str]) -> int:
    """Runs the command in `args` and returns its exit code. Never raises for what a user did."""

    def work() -> int:
        result = build().main(args=list(args), prog_name="memcli", standalone_mode=False)
        return result if isinstance(result, int) else 0

    return guarded(work, json="--json" in args)
