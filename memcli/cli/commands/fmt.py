"""`fmt`: write space files as memcli would."""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import CorruptError
from memcli.wiring.files import format_files


@verb
def command(
    session: Session,
    spaces: Annotated[
        list[str] | None, typer.Argument(metavar="[SPACE|FILE]...", help="Spaces, by name or file [default: all].")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 6 when a file is not canonical.")
    ] = False,
) -> None:
    """Write space files in their canonical form: sorted, indented, in order. What they say stays the same."""
    workspace = session.open()
    done = format_files(workspace, spaces or [], check)
    untidy = [name for name, canonical in done if not canonical]
    session.output.answer(
        {"canonical": [name for name, canonical in done if canonical], "not_canonical" if check else "written": untidy},
        "\n".join(f"{'not canonical' if check else 'wrote'} spaces/{name}.json" for name in untidy),
    )
    if check and untidy:
        raise CorruptError(f"{len(untidy)} of {len(done)} space files not canonical", "`memcli fmt` writes them anew")
