"""What a command prints that changed several memories."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.cli.verb import CommandContext
from memcli.errors import MemcliError
from memcli.model.memory import Memory


def confirm_changed(
    session: CommandContext, memories: Sequence[Memory], lines: Sequence[str], missing: MemcliError | None
) -> None:
    """Prints the changed memories, as lines or as JSON, and then raises the error for those that are `missing`."""
    from memcli.render.memory import summary_json

    session.output.confirm([summary_json(memory) for memory in memories], "\n".join(lines))
    if missing is not None:
        raise missing
