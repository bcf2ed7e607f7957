"""`memcli merge-driver`"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from memcli.cli.options import REQUIRED, Options, argument, flag, option
from memcli.cli.verb import PLUMBING, CommandContext, verb
from memcli.errors import CorruptError, UsageError

if TYPE_CHECKING:
    from memcli.codec.window import ByteWindow
    from memcli.model.space import Space


class MergeDriverOptions(Options):
    """The options of `memcli merge-driver`."""

    base: str = argument("FILE", "The common ancestor; with --textconv, the file to print.", default=REQUIRED)
    ours: str = argument("[FILE]", "Our version; receives the result.", default="")
    theirs: str = argument("[FILE]", "Their version.", default="")
    textconv: bool = flag(help="Print a space file as text that `git diff` compares, and merge nothing.")
    path: str = option(metavar="PATH", help="The path of the file in the repository.", default="")


@verb(MergeDriverOptions, section=PLUMBING, line="Merge two versions of a space file; git calls it")
def command(session: CommandContext, options: MergeDriverOptions) -> int:
    """Merge two versions of a space file with their common ancestor, and write the result to OURS.

    Git calls it after `memcli init --git`, and with --textconv to show differences. Exits with 1 if a version is not a
    valid space file: OURS then holds git's line-based merge, with conflict markers to resolve by hand.
    """
    # The git configuration of every clone has this command line, which therefore never changes.
    if options.textconv:
        session.output.raw(_text_of(options.base))
        return 0
    if not options.theirs:
        raise UsageError("a merge takes three files", "`memcli merge-driver BASE OURS THEIRS`")

    from memcli.cli.arguments import open_file
    from memcli.codec.merge import merge_files
    from memcli.model.names import show
    from memcli.store.atomic import write_file

    # The path is from the repository, which a stranger may have made.
    for path in (options.base, options.ours, options.theirs, options.path):
        if ".." in path.split("/"):
            raise UsageError(f"{path!r} may lead out of the repository", "use a path without `..`")
    with ExitStack() as files:
        versions = [files.enter_context(open_file(file)) for file in (options.base, options.ours, options.theirs)]
        try:
            merged, pieces = merge_files(*versions)
            name = os.path.basename(options.path).removesuffix(".json")
            if options.path and merged.space.name != name:
                raise CorruptError(
                    f"it would contain space {show(merged.space.name)}", f'set "space" to {show(name)} in it'
                )
        except (CorruptError, UsageError) as error:  # UsageError: the JSON is nested too deeply to be written
            from memcli.git.hooks import merge_lines

            # Git takes OURS as it is after a driver has failed, without markers of the conflict.
            if (lines := merge_lines(options.base, options.ours, options.theirs)) is not None:
                write_file(options.ours, lines)
            session.output.note(
                f"{options.path or options.ours} was merged line by line: {error.message} ({error.hint})"
            )
            return 1
        back = _purged_here(options.path, merged.space, versions[1])
        # While the versions are open: the pieces are read from them as they are written.
        write_file(options.ours, pieces)
    if back:
        paths = ", ".join(show(path) for path in back[:5])
        session.output.note(f"{options.path}: the merge brings back what was purged here: {paths} (purge it again)")
    if merged.conflicts or merged.moved:
        from memcli.render.reports import merged_text

        session.output.note(f"{options.path or options.ours}: {merged_text(merged)}")
    return 0


def _text_of(path: str) -> str:
    """A space file as text for `git diff`; a damaged one as its lines."""
    from memcli.cli.arguments import open_file
    from memcli.codec.space import decode_space
    from memcli.render.clean import escape
    from memcli.render.reports import space_text

    with open_file(path) as file:
        data = file[:]
    try:
        return space_text(decode_space(data, path))
    except (CorruptError, UsageError):  # if this command failed, git would show no diff at all
        return "".join(f"{escape(line)}\n" for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n"))


def _purged_here(file: str, merged: Space, ours: ByteWindow) -> list[str]:
    """The paths of memories that were purged according to the audit log of this machine, and that the merge would restore."""
    from memcli.codec.audit import purged
    from memcli.codec.space import decode_space
    from memcli.store.atomic import read_regular
    from memcli.store.layout import Layout

    folder, _, name = file.rpartition("/spaces/")
    if not folder or not name.endswith(".json"):
        return []
    with suppress(OSError):
        log = read_regular(Layout(os.path.abspath(folder)).audit(f"{name.removesuffix('.json')}.jsonl"), -1) or b""
        gone = purged(log)
        # One that was created after its purge has been stored again: ids follow from paths.
        found = [m for m in merged.objects if m.id in gone and m.created_at <= gone[m.id]]
        there = {memory.id for memory in decode_space(ours[:], "ours").objects} if found else set()
        return [m.path for m in found if m.id not in there]
    return []
