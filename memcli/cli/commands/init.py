"""`memcli init`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="The project's name, the first segment of new paths.")
    ] = None,
) -> None:
    """Make a store: `.memory/` at the root of the work tree, or here.

    Run it again at any time: it adds what is missing and changes nothing else.
    """
    from memcli.wiring import make_store

    root, new = make_store({**session.options, "project": project}, os.environ)
    text = f"made a store at {root}" if new else f"there is a store at {root}"
    session.output.confirm({"root": root, "created": new}, text)
