"""`memcli unpin`"""

from __future__ import annotations

from memcli.cli.options import Options, refs_argument
from memcli.cli.session import Session
from memcli.cli.verb import verb


class UnpinOptions(Options):
    """What `memcli unpin` takes."""

    refs: list[str] = refs_argument()


@verb(UnpinOptions)
def command(session: Session, options: UnpinOptions) -> None:
    """Unpin memories: recall ranks them by relevance again."""
    from memcli.app.edit import pin
    from memcli.render.memory import summary_json

    memories = pin(session.open(), options.refs, pinned=False)
    text = "\n".join(f"unpinned {m.id} {m.path}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)
