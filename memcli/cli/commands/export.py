"""`memcli export`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from memcli.cli.arguments import read_file
from memcli.cli.options import KIND_FILTER, TAG_FILTER, UNDER, Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.codec.bundle import Export

_MAX_KEY = 1 << 16


class ExportOptions(Options):
    """The options of `memcli export`."""

    name: str | None = argument("[SPACE]", "The space to export [default: the current one].")
    out: str | None = option(
        "--out", "-o", metavar="FILE", help="Write to this file, or with md to DIR/; `-` is standard output."
    )
    format: str | None = option(
        "--format",
        "-f",
        metavar="json|jsonl|md",
        help="json, jsonl or md [default: the extension of --out, else json].",
    )
    sign: str | None = option(metavar="FILE", help="Sign with this ed25519 private key (OpenSSH or PEM).")
    kind: list[str] = KIND_FILTER
    tag: list[str] = TAG_FILTER
    under: str = UNDER
    private: bool = flag(
        help="Export the private state for another clone: private spaces, sessions, the inbox and the trash; needs --out."
    )
    redact: bool = flag(help="Replace secrets with [REDACTED:kind] instead of failing.")


@verb(ExportOptions, section=SHARE, line="Write memories to a file that `import` reads", returns="Any")
def command(session: CommandContext, options: ExportOptions) -> None:
    """Export a space with counts and a SHA-256, by default to the folder of policy.export_path, or `.memory/exports/`.

    A folder of Markdown (`--format md --out DIR/`) has a file for each memory, which other tools can read. In a folder that
    exists, only files of an earlier export are replaced or removed. `memcli import` reads every format back without loss, so
    `--out -` writes the stored bytes even when piped. Create a signing key with `ssh-keygen -t ed25519 -N '' -f memcli_key`
    and give memcli_key.pub to those who import.

    Exits with 5 if the export would contain secrets; --redact removes them.

    Example: memcli export --sign memcli_key --out team.jsonl

    >>> memory.export(out='-').startswith('{')
    True
    """
    if options.private:
        _export_private(session, options)
        return
    from memcli.app.export import export_space
    from memcli.cli import arguments
    from memcli.codec.bundle import DEFAULT_FORMAT, ENCODERS, FORMATS
    from memcli.model.names import check_space, counted

    ending = (options.out or "").rpartition(".")[2]
    form = options.format or (ending if ending in FORMATS else DEFAULT_FORMAT)
    arguments.check_known("format", form, FORMATS)
    kinds, tags = arguments.kinds(session, options.kind), arguments.tags(options.tag)
    under = arguments.path(options.under, "--under")
    if (kinds or tags or under.strip("/")) and options.out is None:
        raise UsageError(
            "a partial export would overwrite the full export of the space", "choose another file with --out"
        )
    signer = _signer(options.sign)
    workspace = session.open()
    space = check_space(options.name or workspace.space)
    sign = signer.sign if signer else None
    export = export_space(workspace, space, under=under, kinds=kinds, tags=tags, sign=sign, redact=options.redact)
    if options.out == "-":
        for piece in ENCODERS[form](export):
            session.output.raw(piece.decode())
        return
    path, size = _write(workspace, export, form, options.out)
    report = {
        "space": space, "objects": len(export.space.objects), "path": path, "bytes": size, "format": form,
        "hash": export.hash, "signed_by": signer.fingerprint if signer else None,
    }  # fmt: skip
    signed = f", signed by {signer.fingerprint}" if signer else ""
    session.output.confirm(
        report,
        f"exported {counted(len(export.space.objects), 'memory', 'memories')} of space {space} to {path}{signed}",
    )


def _export_private(session: CommandContext, options: ExportOptions) -> None:
    """Exports the private state. Raises UsageError for options that select a part of it, and for a file in the work tree."""
    from memcli.store.private import find_work_tree
    from memcli.store.target import write_export
    from memcli.wiring import extra

    others = {
        "SPACE": options.name,
        "--space": session.options["space"],
        "--format": options.format,
        "--kind": options.kind,
        "--tag": options.tag,
        "--under": options.under,
    }
    if given := [name for name, value in others.items() if value]:
        raise UsageError(f"--private exports all of the private state, not by {given[0]}", f"omit {given[0]}")
    if options.out is None:
        raise UsageError("no file for the private state", "choose one with --out, outside of the repository")
    workspace = session.open()
    top = find_work_tree(os.path.dirname(workspace.root))
    is_inside = top is not None and os.path.realpath(options.out).startswith(os.path.join(os.path.realpath(top), ""))
    if options.out != "-" and is_inside:
        raise UsageError(f"{options.out!r} is in the work tree, where a commit could take it", "choose a file outside")
    signer = _signer(options.sign)
    data, digest, parts = extra("transfer.private_state").export_private_state(
        workspace, signer.sign if signer else None, redact=options.redact
    )
    if options.out == "-":
        session.output.raw(data.decode())
        return
    write_export(options.out, data, 0o600)  # other users of the machine must not read private state
    signed_by = signer.fingerprint if signer else None
    report = {"path": options.out, "bytes": len(data), "hash": digest, "signed_by": signed_by, "parts": parts}
    counts = ", ".join(f"{name} {count}" for name, count in parts.items()) or "nothing"
    signed = f", signed by {signed_by}" if signed_by else ""
    session.output.confirm(report, f"exported the private state to {options.out}: {counts}{signed}")


def _signer(file: str | None) -> Any:
    """The signer with the private key in a file (see `extras/transfer/signature.py`); None without a file. Raises UsageError."""
    from memcli.wiring import extra

    if file is None:
        return None
    signer = extra("transfer.signature").open_key(read_file(file, _MAX_KEY), file)
    # As ssh does, which checks only keys that the user owns.
    if (facts := os.stat(file)).st_uid == os.geteuid() and facts.st_mode & 0o077:
        raise UsageError(
            f"others may read the private key {file}: its mode is {facts.st_mode & 0o777:04o}",
            f"run `chmod 600 {file}`",
        )
    return signer


def _write(workspace: Workspace, export: Export, form: str, out: str | None) -> tuple[str, int]:
    """Writes the export to a folder of Markdown, to the file `out`, or to the file that the policy names. Returns the path and
    the number of bytes."""
    from memcli.codec.bundle import ENCODERS, HEAD, check_head, encode_folder, is_of_export
    from memcli.store.atomic import make_folder, write_file
    from memcli.store.layout import Layout
    from memcli.store.target import export_target, write_export, write_folder

    space = export.space.name
    if form == "md" and out is not None and (out.endswith(("/", os.sep)) or os.path.isdir(out)):
        head = os.path.join(out, HEAD)
        # A mistyped folder must not lose what is no export of this space.
        if os.path.lexists(head):
            is_plain = os.path.isfile(head) and not os.path.islink(head)
            check_head(read_file(head) if is_plain else b"", space, out.rstrip("/"))
        files = dict(encode_folder(export))
        write_folder(out, files, HEAD, lambda name, data: name == HEAD or is_of_export(data, space))
        return out, sum(map(len, files.values()))
    data = b"".join(ENCODERS[form](export))
    if out is not None:
        write_export(out, data)
        return out, len(data)
    layout = Layout(workspace.root)
    chosen = workspace.in_force(export.space.policy).export_path
    path = export_target(layout, chosen, f"{space}.{form}") if chosen else layout.export(f"{space}.{form}")
    make_folder(os.path.dirname(path), 0o755)
    write_file(path, data)
    return path, len(data)
