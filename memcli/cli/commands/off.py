"""`memcli off`"""

from __future__ import annotations

from memcli.cli.switch import switch_memory
from memcli.cli.verb import START, CommandContext, verb


@verb(section=START, line="Stop hooks, watch and agents in this clone")
def command(session: CommandContext) -> None:
    """Switch memory off in this clone: git hooks, `watch` and the hooks of agents record and inject nothing.

    Commands that you run yourself still work, and say that memory is off. MEMCLI_OFF=1 does the same for one shell.

    Example: memcli off && git rebase main; memcli on
    """
    switch_memory(session, on=False)
