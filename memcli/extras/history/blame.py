"""`memcli blame`"""

from __future__ import annotations

from memcli.cli.options import REQUIRED, Options, argument, normalized
from memcli.cli.verb import CHECK, CommandContext, verb
from memcli.model.space import READER


class BlameOptions(Options):
    """The options of `memcli blame`."""

    ref: str = argument("ID|PATH", "A memory, by id, unique id prefix or path.", default=REQUIRED, read=normalized)


@verb(BlameOptions, section=CHECK, line="Show which commit changed each field of a memory", role=READER)
def command(session: CommandContext, options: BlameOptions) -> None:
    """Show which commit added a memory and which one last changed each of its fields.

    Example: memcli blame auth/tokens

    >>> memory.blame('ops/deploy')['path']
    'ops/deploy'
    """
    from memcli.extras.history import changes as history
    from memcli.extras.history.rendering import blame_json, blame_text
    from memcli.git.revisions import open_history
    from memcli.store.layout import Layout

    workspace = session.open()
    found = history.blame(workspace, open_history(Layout(workspace.root).spaces), options.ref)
    session.output.answer(blame_json(found), blame_text(found))
