"""`memcli help`"""

from __future__ import annotations

from memcli.cli.options import Options, argument
from memcli.cli.verb import START, CommandContext, verb


class HelpOptions(Options):
    """The options of `memcli help`."""

    words: list[str] = argument("[COMMAND|TOPIC...]", "A command, a topic, `all` or `plumbing`.", many=True)


@verb(HelpOptions, section=START, line="Explain a command or a topic, or list all commands")
def command(session: CommandContext, options: HelpOptions) -> None:
    """Explain a command with all its options, or a topic: kinds, paths, exit-codes, environment, formats.

    `all` lists all commands, `plumbing` those that other programs call.

    Example: memcli help recall

    Example: memcli help exit-codes
    """
    from memcli.cli.main import general_help, help_of
    from memcli.cli.topics import topics

    name = " ".join(options.words)
    if name in ("", "all", "plumbing"):
        # Not paged: it is short, and what one types next is to be seen beside it.
        session.output.write(general_help(name))
    elif (topic := topics().get(name)) is not None:
        session.output.page(topic)
    else:
        session.output.page(help_of(options.words))
