"""`memcli merge-driver`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import CorruptError, UsageError

_File = Annotated[str, typer.Argument(metavar="FILE")]


@verb
def command(
    session: Session,
    base: _File,
    ours: _File,
    theirs: _File,
    path: Annotated[str, typer.Option(metavar="PATH", help="What the file is called in the repository.")] = "",
) -> None:
    """Merge two versions of a space file, BASE being the one that both came from, and write the result over OURS.

    Git calls it once `memcli init --git` has been run. Exits with 1 when a side is no space: then OURS is left as git
    merges lines, with conflict markers, to be mended by hand.
    """
    from memcli.app.merge import merge_versions
    from memcli.cli.text import read_file
    from memcli.codec.space import encode_space
    from memcli.store.atomic import write_file

    versions = [read_file(file) for file in (base, ours, theirs)]
    try:
        merged = merge_versions(*versions)
        result = encode_space(merged.space)
    except (CorruptError, UsageError) as error:  # the latter for what is too deep to be written
        _merge_lines(base, ours, theirs)
        session.output.note(f"{path or ours} is merged line by line: {error.message} ({error.hint})")
        raise typer.Exit(1) from None
    write_file(ours, result)
    if merged.conflicts or merged.moved:
        from memcli.render.changes import merged_text

        session.output.note(f"{path or ours}: {merged_text(merged)}")


def _merge_lines(base: str, ours: str, theirs: str) -> None:
    """Leaves what git would have made of the files by itself; ours as it is when even git cannot."""
    from memcli.git.driver import merge_lines
    from memcli.store.atomic import write_file

    lines = merge_lines(base, ours, theirs)
    if lines is not None:
        write_file(ours, lines)
