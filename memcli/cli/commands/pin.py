"""`memcli pin`"""

from __future__ import annotations

from memcli.cli.options import Options, refs_argument
from memcli.cli.session import Session
from memcli.cli.verb import verb


class PinOptions(Options):
    """What `memcli pin` takes."""

    refs: list[str] = refs_argument()


@verb(PinOptions)
def command(session: Session, options: PinOptions) -> None:
    """Pin memories so that every recall includes them."""
    from memcli.app.edit import pin
    from memcli.render.memory import summary_json

    memories = pin(session.open(), options.refs, pinned=True)
    text = "\n".join(f"pinned {m.id} {m.path}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)
