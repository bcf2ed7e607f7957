"""`memcli pin`"""

from __future__ import annotations

from memcli.cli.options import Refs, verb
from memcli.cli.session import Session


@verb
def command(session: Session, refs: Refs) -> None:
    """Put memories in front of every recall."""
    from memcli.app.edit import pin
    from memcli.render.listing import summary_json

    memories = pin(session.open(), refs, pinned=True)
    text = "\n".join(f"pinned {m.id} {m.path}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)
