"""`memcli blame`"""

from __future__ import annotations

from memcli.cli.options import Options, ref_argument
from memcli.cli.session import Session
from memcli.cli.verb import verb


class BlameOptions(Options):
    """What `memcli blame` takes."""

    ref: str = ref_argument()


@verb(BlameOptions)
def command(session: Session, options: BlameOptions) -> None:
    """Show which commit added a memory and which one last changed each of its fields.

    Example: memcli blame auth/tokens
    """
    from memcli.app.history import blame
    from memcli.git.revisions import open_history
    from memcli.render.changes import blame_json, blame_text
    from memcli.store.layout import Layout

    workspace = session.open()
    found = blame(workspace, open_history(Layout(workspace.root).spaces), options.ref)
    session.output.answer(blame_json(found), blame_text(found))
