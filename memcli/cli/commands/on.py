"""`memcli on`"""

from __future__ import annotations

from memcli.cli.switch import switch_memory
from memcli.cli.verb import START, CommandContext, verb


@verb(section=START, line="Start them again")
def command(session: CommandContext) -> None:
    """Switch memory on again in this clone.

    Example: memcli on
    """
    switch_memory(session, on=True)
