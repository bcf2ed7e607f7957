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
    from memcli.store.atomic import make_folder, write_file, write_out
    from memcli.store.layout import Layout

    workspace = session.open()
    space = check_space(name or workspace.space)
    exported, data = export_space(workspace, space)
    if out == "-":
        session.output.raw(data.decode())
        return
    layout = Layout(workspace.root)
    if out is not None:
        write_out(out, data)
        path = out
    else:
        path = exported.policy.export_path or ""
        path = layout.export_target(path) if path else layout.export(f"{space}.json")
        make_folder(os.path.dirname(path))
        write_file(path, data)
    text = f"exported {_count(len(exported.objects))} of space {space} to {path}"
    session.output.confirm({"space": space, "objects": len(exported.objects), "path": path, "bytes": len(data)}, text)


def _count(n: int) -> str:
    return "1 memory" if n == 1 else f"{n} memories"
