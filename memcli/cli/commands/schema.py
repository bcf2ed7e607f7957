"""`memcli schema`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    what: Annotated[str, typer.Argument(metavar="[space|object|policy|bundle|export]")] = "space",
) -> None:
    """Print the JSON Schema of a space file, an object, a policy, a recalled bundle or an export."""
    from memcli.codec.canonical import encode
    from memcli.codec.schema import SCHEMAS

    if what not in SCHEMAS:
        raise UsageError(f"no schema {what!r}", f"there are {', '.join(sorted(SCHEMAS))}")
    session.output.write(encode(SCHEMAS[what]()).decode())
