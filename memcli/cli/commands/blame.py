"""`memcli blame`"""

from __future__ import annotations

from memcli.cli.options import Ref, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    ref: Ref,
) -> None:
    """Show which commit last changed each field of a memory, and which one added it.

    Example: memcli blame auth/tokens
    """
    from memcli.app.blame import blame
    from memcli.git.revisions import open_history
    from memcli.render.blame import blame_json, blame_text
    from memcli.store.layout import Layout

    workspace = session.open()
    found = blame(workspace, open_history(Layout(workspace.root).spaces), ref)
    session.output.answer(blame_json(found), blame_text(found))
