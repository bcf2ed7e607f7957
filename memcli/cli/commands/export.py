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
    name: Annotated[str | None, typer.Argument(metavar="[SPACE]", help="The space [default: the current one].")] = None,
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
    space = check_space(name or workspace.space)
    exported, data = export_space(workspace, space)
    if out == "-":
        session.output.write(data.decode())
        return
    layout = Layout(workspace.root)
    given = out or exported.policy.export_path
    path = layout.export(f"{space}.json") if given is None else given if out else layout.inside_work_tree(given)
    make_folder(os.path.dirname(os.path.abspath(path)))
    write_file(os.path.abspath(path), data)
    text = f"exported {len(exported.objects)} memories of space {space} to {path}"
    session.output.confirm({"space": space, "objects": len(exported.objects), "path": path, "bytes": len(data)}, text)
