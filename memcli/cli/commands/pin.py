"""`memcli pin`"""

from __future__ import annotations

from memcli.cli.options import IF_DIGEST, REFS, Options, check_one, flag
from memcli.cli.output import confirm_changed
from memcli.cli.verb import RECALL, CommandContext, verb
from memcli.model.space import WRITER


class PinOptions(Options):
    """The options of `memcli pin`."""

    refs: list[str] = REFS
    remove: bool = flag(help="Unpin them instead: recall ranks them by relevance again.")
    if_digest: str | None = IF_DIGEST


@verb(PinOptions, section=RECALL, line="Put a memory into every recall, or take it out", role=WRITER, returns="Objects")
def command(session: CommandContext, options: PinOptions) -> None:
    """Pin memories: recall ranks them first if they match, and lists them under "Always" if not.

    Example: memcli pin ops/deploy

    Example: memcli pin ops/deploy --remove

    >>> memory.pin('ops/deploy')[0]['pinned']
    True
    """
    from memcli.app.edit import pin
    from memcli.app.homes import by_home

    check_one(options.refs, options.if_digest)
    homes, missing = by_home(session.open(), options.refs)
    memories = [memory for home, own in homes for memory in pin(home, own, not options.remove, options.if_digest)]
    state = "unpinned" if options.remove else "pinned"
    confirm_changed(session.output, memories, [f"{state} {m.id} {m.path}" for m in memories], missing)
