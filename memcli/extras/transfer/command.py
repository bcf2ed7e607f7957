"""`memcli import`"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.cli.arguments import check_known, read_file, read_stdin
from memcli.cli.options import DRY_RUN, REQUIRED, Options, argument, option
from memcli.cli.output import redaction_note
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import UsageError
from memcli.model.names import counted

if TYPE_CHECKING:
    from memcli.codec.bundle import Export

_MAX_KEYS = 1 << 20  # bytes
_FORMS = ("auto", "memcli", "adr", "agents", "markdown", "mcp", "mem0")


class ImportOptions(Options):
    """The options of `memcli import`."""

    file: str = argument(
        "FILE",
        "An export (a file, or the folder that it was written to), or a file or folder of another tool; `-` reads standard input.",
        default=REQUIRED,
    )
    mode: str = option(
        metavar="merge|replace",
        help="merge: keep the newer version of each memory; replace: make the space equal to the export.",
        default="merge",
    )
    trusted_key: str | None = option(
        metavar="FILE", help="Accept the export only if it is signed with one of these public keys."
    )
    from_: str = option(metavar="|".join(_FORMS), help="The format; auto detects it.", default="auto")
    dry_run: bool = DRY_RUN


@verb(ImportOptions, section=SHARE, line="Read an export, or another tool's memory")
def command(session: CommandContext, options: ImportOptions) -> None:
    """Import an export into its space, or into --space, completely or not at all. An export that was modified is refused.

    Also imports from other tools: folders of Markdown notes, CLAUDE.md and AGENTS.md, architecture decision records (ADR), the
    JSON Lines file of the MCP memory server, and JSON exports of mem0; and what `export --private` wrote in another clone.
    Importing the same data again changes nothing.

    Example: memcli import docs/adr

    >>> memory.import_('guide.md', dry_run=True)['created']
    1
    """
    from memcli.codec.bundle import HEAD

    if options.mode not in ("merge", "replace"):
        raise UsageError(f"no mode {options.mode!r}", "choose merge or replace")
    check_known("format", options.from_, _FORMS)
    if options.from_ in ("auto", "memcli") and (export := _read_folder(options.file)) is not None:
        _import_bundle(session, export, options)
        return
    from memcli.codec.bundle import read_export
    from memcli.extras.transfer.foreign import detect
    from memcli.extras.transfer.private_form import is_private_state

    data = None if os.path.isdir(options.file) else read_stdin() if options.file == "-" else read_file(options.file)
    is_export = options.from_ == "memcli"
    # A file that no reader recognizes is read as an export, whose errors name what is wrong with it.
    if options.from_ == "auto" and data is not None:
        is_export = is_private_state(data) or not detect(os.path.basename(options.file), data)
    if is_export:
        if data is None:
            raise UsageError(f"{options.file!r} has no {HEAD}", "name an export, or a folder that `export` wrote")
        if is_private_state(data):
            _import_private(session, options, data)
        else:
            _import_bundle(session, read_export(data, options.file), options)
        return
    if options.mode != "merge" or options.trusted_key is not None:
        raise UsageError(
            f"{options.file!r} is not an export of memcli, so it cannot be signed or replace a space",
            "omit --trusted-key and --mode replace",
        )
    _adopt(session, data, "stdin" if options.file == "-" else options.file, options.from_, options.dry_run)


def _read_folder(path: str) -> Export | None:
    """The export in a folder; None if `path` is no folder with one. Raises CorruptError, StoreError."""
    from memcli.codec.bundle import HEAD

    file = os.path.join(path, HEAD)
    if not os.path.isfile(file):
        return None
    from memcli.codec.bundle import MAX_BYTES, decode_folder, is_of_export, space_of
    from memcli.store.target import read_folder

    where, head = path.rstrip("/"), read_file(file)
    space = space_of(head, where)
    files = read_folder(path, HEAD, lambda _, data: is_of_export(data, space), MAX_BYTES)
    return decode_folder(head, list(files), where)


def _import_bundle(session: CommandContext, export: Export, options: ImportOptions) -> None:
    from memcli.extras.transfer.bundles import import_bundle

    dry_run, trusted = options.dry_run, _trusted(options.trusted_key)
    # A dry run leaves no store behind where there was none.
    done = import_bundle(
        session.open(create=not dry_run), export, options.file,
        into=session.options["space"], mode=options.mode, trusted=trusted, dry_run=dry_run,
    )  # fmt: skip
    data = done.to_json()
    signed = _signed(done.is_signed, done.signed_by)
    policy = ", with its policy" if done.plan.policy == "taken" else ""
    counts = _counted(data, ("created", "updated", "unchanged", "kept", "removed", "proposed"))
    session.output.confirm(
        data, f"{_done(dry_run)} into space {done.space}{policy}: {counts} ({signed}){redaction_note(done.redactions)}"
    )


def _trusted(file: str | None) -> frozenset[str] | None:
    """The fingerprints of the public keys in a file; None without a file. Raises UsageError."""
    from memcli.extras.transfer.signature import trusted_fingerprints

    return None if file is None else trusted_fingerprints(read_file(file, _MAX_KEYS), file)


def _import_private(session: CommandContext, options: ImportOptions, data: bytes) -> None:
    from memcli.extras.transfer.private_state import import_private_state

    file, dry_run = options.file, options.dry_run
    if options.mode != "merge" or session.options["space"]:
        raise UsageError(f"{file!r} holds private state, which is added to what is there", "omit --mode and --space")
    workspace = session.open(create=not dry_run)
    done = import_private_state(workspace, data, file, trusted=_trusted(options.trusted_key), dry_run=dry_run)
    groups = [("memory", "memories", done.memories), ("session", "sessions", done.sessions)]
    found = [(n, one, many, f" {what}") for one, many, counts in groups for what, n in sorted(counts.items())]
    found += [(done.proposals, "proposal", "proposals", ""), (done.rejections, "rejection", "rejections", "")]
    found += [(done.runs, "run of the trash", "runs of the trash", "")]
    counts = [f"{counted(n, one, many)}{what}" for n, one, many, what in found if n and what != " unchanged"]
    signed = _signed(done.is_signed, done.signed_by)
    session.output.confirm(
        done.to_json(),
        f"{_done(dry_run)} private state: {', '.join(counts) or 'nothing new'} ({signed}){redaction_note(done.redactions)}",
    )


def _signed(is_signed: bool, signed_by: str) -> str:
    if not is_signed:
        return "unsigned"
    return f"signed by {signed_by}" if signed_by else "signed, not checked: install the extra `sign`"


def _adopt(session: CommandContext, data: bytes | None, file: str, form: str, dry_run: bool) -> None:
    from memcli.extras.transfer.adopting import adopt, foreign_source

    workspace = session.open(create=not dry_run)
    source = foreign_source(workspace, file, data, form)
    done = adopt(workspace, source, dry_run)
    report = done.to_json()
    files = ", ".join(f"{counted(n, 'file')} as {name}" for name, n in sorted(done.found.items())) or "nothing"
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(done.skipped.items()) if n)
    counts = _counted(report, ("created", "updated", "unchanged", "proposed"))
    session.output.confirm(
        report,
        f"{_done(dry_run)} into space {done.space}: {counts} (read {files}{f'; skipped {skipped}' if skipped else ''})"
        f"{redaction_note(done.redactions)}",
    )


def _done(dry_run: bool) -> str:
    return "would import" if dry_run else "imported"


def _counted(data: Mapping[str, object], names: tuple[str, ...]) -> str:
    return ", ".join(f"{data[name]} {name}" for name in names if data[name]) or "nothing new"
