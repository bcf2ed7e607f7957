"""`memcli export`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session


@verb
def command(
    session: Session,
    space: Annotated[
        str | None, typer.Argument(metavar="[SPACE]", help="The space [default: the current one].")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Where to; `-` is standard output.")
    ] = None,
) -> None:
    """Write a space to a bundle with counts and a SHA-256: `.memory/exports/<space>.json` unless told otherwise."""
    from memcli.app.transfer import export_space
    from memcli.model.names import check_space
    from memcli.store.atomic import make_folder, write_file
    from memcli.store.layout import Layout

    workspace = session.open()
    name = check_space(space or workspace.space)
    exported, data = export_space(workspace, name)
    if out == "-":
        session.output.write(data.decode())
        return
    layout = Layout(workspace.root)
    given = out or exported.policy.export_path
    path = layout.export(f"{name}.json") if given is None else given if out else layout.inside_work_tree(given)
    make_folder(os.path.dirname(os.path.abspath(path)))
    write_file(os.path.abspath(path), data)
    text = f"exported {len(exported.objects)} memories of space {name} to {path}"
    session.output.confirm({"space": name, "objects": len(exported.objects), "path": path, "bytes": len(data)}, text)
