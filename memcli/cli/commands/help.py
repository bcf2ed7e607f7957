"""`memcli help`"""

from __future__ import annotations

from memcli.cli.options import Options, argument
from memcli.cli.verb import START, CommandContext, verb


class HelpOptions(Options):
    """What `memcli help` takes."""

    words: list[str] = argument("[COMMAND...]", "A command, `all` or `plumbing`.", many=True)


@verb(HelpOptions, section=START, line="Explain a command, or list all of them")
def command(session: CommandContext, options: HelpOptions) -> None:
    """Explain a command. `all` lists all commands, `plumbing` those that other programs call.

    Example: memcli help recall

    Example: memcli help session start
    """
    from memcli.cli.main import general_help, help_of

    name = " ".join(options.words)
    session.output.write(general_help(name) if name in ("", "all", "plumbing") else help_of(options.words))
