"""`memcli diff`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.verb import CHECK, CommandContext, verb
from memcli.errors import UsageError
from memcli.model.space import READER, STORE


class DiffOptions(Options):
    """The options of `memcli diff`."""

    rev: str = argument("[REV]", "The commit to compare with, or REV..REV.", default="HEAD")
    rev2: str | None = argument("[REV]", "Compare with this commit instead of the current state.")
    stat: bool = flag(help="Show only the number of changes per space.")
    exit_code: bool = flag(help="Exit with 1 if anything changed.")


@verb(
    DiffOptions, reach=STORE, section=CHECK, line="Show how memories changed since a commit", role=READER, returns="Any"
)
def command(session: CommandContext, options: DiffOptions) -> int:
    """Show how memories changed since a commit, or between two commits, in all spaces or in --space.

    Removed words are shown as [-removed-], added words as {+added+}.

    Example: memcli diff main..HEAD --stat

    >>> [change['status'] for change in memory.diff()[0]['memories']]
    ['added', 'added', 'added']
    """
    from memcli.extras.history import changes as history
    from memcli.extras.history.rendering import diff_json, diff_text, stat_text
    from memcli.render.clean import fitted

    workspace = session.open()
    if "..." in options.rev:
        raise UsageError("REV...REV is not supported", "use two dots: REV..REV")
    first, dots, last = options.rev.partition("..") if options.rev2 is None else (options.rev, "", options.rev2)
    after = session.open(rev=last or "HEAD").store if last or dots else workspace.store
    named = session.options["space"]
    before = session.open(rev=first or "HEAD").store
    found = history.diff(before, after, None if named is None else [named])
    changes = history.shown(found, workspace.redactor, before, after)
    session.output.answer(diff_json(changes), stat_text(changes) if options.stat else fitted(diff_text(changes)))
    if options.exit_code and changes:
        return 1
    return 0
