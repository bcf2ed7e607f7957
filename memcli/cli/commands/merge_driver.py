"""`memcli merge-driver`"""

from __future__ import annotations

from memcli.cli.options import REQUIRED, Options, argument, option
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import CorruptError, UsageError


class MergeDriverOptions(Options):
    """What `memcli merge_driver` takes."""

    base: str = argument("FILE", default=REQUIRED)
    ours: str = argument("FILE", default=REQUIRED)
    theirs: str = argument("FILE", default=REQUIRED)
    path: str = option(metavar="PATH", help="What the file is called in the repository.", default="")


@verb(MergeDriverOptions)
def command(session: Session, options: MergeDriverOptions) -> int:
    """Merge two versions of a space file, BASE being the one that both came from, and write the result over OURS.

    Git calls it once `memcli init --git` has been run. Exits with 1 when a side is no space: then OURS is left as git
    merges lines, with conflict markers, to be mended by hand.
    """
    from memcli.app.merge import merge_versions
    from memcli.cli.input import read_file
    from memcli.codec.space import encode_space
    from memcli.store.atomic import write_file

    versions = [read_file(file) for file in (options.base, options.ours, options.theirs)]
    try:
        merged = merge_versions(*versions)
        result = encode_space(merged.space)
    except (CorruptError, UsageError) as error:  # the latter for what is too deep to be written
        _merge_lines(options.base, options.ours, options.theirs)
        session.output.note(f"{options.path or options.ours} is merged line by line: {error.message} ({error.hint})")
        return 1
    write_file(options.ours, result)
    if merged.conflicts or merged.moved:
        from memcli.render.changes import merged_text

        session.output.note(f"{options.path or options.ours}: {merged_text(merged)}")
    return 0


def _merge_lines(base: str, ours: str, theirs: str) -> None:
    """Leaves what git would have made of the files by itself; ours as it is when even git cannot."""
    from memcli.git.driver import merge_lines
    from memcli.store.atomic import write_file

    lines = merge_lines(base, ours, theirs)
    if lines is not None:
        write_file(ours, lines)
