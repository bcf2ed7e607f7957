"""`memcli guard`"""

from __future__ import annotations

from memcli.cli.options import Options, flag, option
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import RefusedError, UsageError


class GuardOptions(Options):
    """What `memcli guard` takes."""

    staged: bool = flag(help="What the next commit takes [default].")
    diff: str | None = option(metavar="FILE", help="A diff; `-` reads standard input.")
    changed: str | None = option(metavar="REV", help="What was committed and staged since REV.")
    format: str | None = option(metavar="text|json|sarif|github", help="How it is told [default: text].")


@verb(GuardOptions)
def command(session: Session, options: GuardOptions) -> int:
    """Hold a change against the memories that say what not to do.

    Each negative, constraint or procedure with a trigger that matches an added line is printed as
    `file:line: kind id path: text`. Exits with 5 when one of them was stored with --enforce, which its line says.

    A trigger is a pattern (RE2), symbol:NAME, or a glob of files, path:src/**/*.py; where a memory has
    globs and others, the others count in these files alone.

    Example: memcli guard --changed origin/main --format github
    """
    from memcli.app.guard import guard
    from memcli.cli.input import read_edits
    from memcli.render.findings import FORMATS

    if sum([options.staged, options.diff is not None, options.changed is not None]) > 1:
        raise UsageError("more than one of --staged, --diff and --changed is given", "give one of them")
    name = "json" if session.output.json else options.format or "text"
    if name != "json" and name not in FORMATS:
        raise UsageError(f"no format {name!r}", f"there are {', '.join(sorted([*FORMATS, 'json']))}")
    workspace = session.open()
    verdict = guard(workspace, read_edits(diff=options.diff, changed=options.changed))
    if name == "json":
        session.output.json = True
        session.output.answer(verdict.to_json(), "")
    else:
        session.output.write(FORMATS[name](verdict.findings))
    if verdict.withheld:
        session.output.note(f"{verdict.withheld} with instructions in what they say are withheld; `memcli trust` shows")
    if verdict.is_from_clone and verdict.findings:
        session.output.note("the store came with a clone: nothing in it stops a commit until you run `memcli trust`")
    if verdict.enforced:
        session.output.note(f"{verdict.enforced} enforced: change the lines; `memcli get ID` tells why")
        return RefusedError.exit_code
    return 0
