"""`memcli export`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli.options import Kinds, Tags, verb
from memcli.cli.session import Session
from memcli.cli.text import read_file
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.codec.bundle import Export

_MAX_KEY = 1 << 16


@verb
def command(
    session: Session,
    name: Annotated[str | None, typer.Argument(metavar="[SPACE]", help="The space [default: the current one].")] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Where to; `-` is standard output.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="json|jsonl|md", help="Else as --out ends [default: json]."),
    ] = None,
    sign: Annotated[
        str | None, typer.Option(metavar="FILE", help="Sign with this private key: ed25519, of OpenSSH or PEM.")
    ] = None,
    kind: Kinds = None,
    tag: Tags = None,
    under: Annotated[str, typer.Option(metavar="PATH", help="Only at this path and below it.")] = "",
    redact: Annotated[bool, typer.Option("--redact", help="Export without the secrets that are found.")] = False,
) -> None:
    """Write a space to a bundle with counts and a SHA-256: `.memory/exports/<space>.json` unless told otherwise.

    `memcli import` reads every format back, to the byte; so nothing is removed from what `--out -` pipes either. A key to sign with is made by
    `ssh-keygen -t ed25519 -N '' -f memcli_key`; its other half, memcli_key.pub, is for those who import.

    Fails with exit code 5 when what would be exported holds secrets; --redact takes them out.

    Example: memcli export --sign memcli_key --out team.jsonl
    """
    from memcli.app.bundles import Selection, export_space, written
    from memcli.cli import filters
    from memcli.codec.signature import open_key
    from memcli.model.names import check_space

    form = _form(form, out)
    selection = Selection(filters.kinds(session, kind), filters.tags(tag), filters.path(under, "--under"))
    if selection.told() and out is None:
        raise UsageError("a part of a space would take the place of its whole export", "name another file with --out")
    signer = open_key(read_file(sign, _MAX_KEY), sign) if sign is not None else None
    workspace = session.open()
    space = check_space(name or workspace.space)
    export = export_space(workspace, space, selection, signer.sign if signer else None, redact=redact)
    if out == "-":
        for piece in written(export, form):
            session.output.raw(piece.decode())
        return
    data = b"".join(written(export, form))
    path = _write(workspace, export, form, out, data)
    told = {
        "space": space, "objects": len(export.space.objects), "path": path, "bytes": len(data), "format": form,
        "hash": export.hash, "signed_by": signer.fingerprint if signer else None,
    }  # fmt: skip
    signed = f", signed by {signer.fingerprint}" if signer else ""
    session.output.confirm(told, f"exported {_count(len(export.space.objects))} of space {space} to {path}{signed}")


def _form(form: str | None, out: str | None) -> str:
    from memcli.codec.exports import DEFAULT_FORMAT, FORMATS

    if form is None:
        ending = (out or "").rpartition(".")[2]
        return ending if ending in FORMATS else DEFAULT_FORMAT
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", f"there are {', '.join(FORMATS)}")
    return form


def _write(workspace: Workspace, export: Export, form: str, out: str | None, data: bytes) -> str:
    from memcli.store.atomic import make_folder, write_file
    from memcli.store.layout import Layout
    from memcli.store.target import write_out

    if out is not None:
        write_out(out, data)
        return out
    layout = Layout(workspace.root)
    chosen = workspace.in_force(export.space.policy).export_path if form == "json" else None
    path = layout.export_target(chosen) if chosen else layout.export(f"{export.space.name}.{form}")
    make_folder(os.path.dirname(path), 0o755)
    write_file(path, data)
    return path


def _count(n: int) -> str:
    return "1 memory" if n == 1 else f"{n} memories"
