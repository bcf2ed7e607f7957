"""`memcli forget`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Refs, verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    refs: Refs,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All that lies below the paths too.")] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete, as far as the policy allows it; `memcli restore` undoes that.")
    ] = False,
) -> None:
    """Take memories out of recall. They stay in the file, and `memcli list --all` shows them.

    `memcli edit ID --set active=true` brings one back.
    """
    from memcli.app.alter import forget

    memories = forget(session.open(), refs, recursive, purge)
    done = "purged" if purge else "forgotten"
    data = {"status": done, "memories": [{"id": m.id, "path": m.path} for m in memories]}
    session.output.confirm(data, "\n".join(f"{done} {m.id} {m.path}" for m in memories))
