"""`memcli import`"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.cli.text import read_file, read_stdin
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A bundle made by `memcli export`; `-` reads it.")],
    mode: Annotated[
        str, typer.Option(metavar="merge|replace", help="Keep the newer of two, or take the bundle's.")
    ] = "merge",
) -> None:
    """Read a bundle into its space, or into --space. A bundle that was changed since its export is refused."""
    from memcli.app.transfer import import_bundle

    if mode not in ("merge", "replace"):
        raise UsageError(f"no mode {mode!r}", "there are merge and replace")
    data = read_stdin() if file == "-" else read_file(file)
    done = import_bundle(session.open(create=True), data, file, session.options["space"], mode)
    counts = {name: n for name, n in asdict(done).items() if name != "space"}
    told = ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "nothing new"
    session.output.confirm(asdict(done), f"imported into space {done.space}: {told}")
