"""`memcli unpin`"""

from __future__ import annotations

from memcli.cli.options import Refs, verb
from memcli.cli.session import Session


@verb
def command(session: Session, refs: Refs) -> None:
    """Let memories compete again by what they say."""
    from memcli.app.edit import pin
    from memcli.render.listing import summary_json

    memories = pin(session.open(), refs, pinned=False)
    text = "\n".join(f"unpinned {m.id} {m.path}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)
