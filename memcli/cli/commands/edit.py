"""`memcli edit`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.assignments import assignments
from memcli.cli.options import verb
from memcli.cli.output import redacted_told
from memcli.cli.session import Session
from memcli.model.memory import Json


@verb
def command(
    session: Session,
    ref: Annotated[str, typer.Argument(metavar="ID|PATH")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Text as it is, other fields as JSON, null for the default."),
    ] = None,
) -> None:
    """Change fields of a memory, with --set or, without it, in $EDITOR on its JSON.

    Example: memcli edit auth/tokens --set kind=decision --set tags=auth,security
    """
    from memcli.app.alter import edit
    from memcli.app.lookup import get
    from memcli.cli.editor import edit_fields

    workspace = session.open()
    fields: dict[str, Json] = assignments(set_) if set_ else edit_fields(get(workspace, [ref], as_stored=True)[0])
    memory, redactions = edit(workspace, ref, fields)
    data = {
        "status": "updated", "id": memory.id, "path": memory.path, "version": memory.version, "redactions": redactions,
    }  # fmt: skip
    text = f"updated {memory.id} {memory.path} (version {memory.version}){redacted_told(redactions)}"
    session.output.confirm(data, text)
