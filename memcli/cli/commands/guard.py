"""`memcli guard`"""

from __future__ import annotations

from memcli.cli.options import Options, flag, option
from memcli.cli.verb import CHECK, CommandContext, verb
from memcli.errors import CorruptError, NoStoreError, RefusedError, UsageError


class GuardOptions(Options):
    """The options of `memcli guard`."""

    staged: bool = flag(help="Check the staged changes [default].")
    diff: str | None = option(metavar="FILE", help="Check this diff; `-` reads standard input.")
    changed: str | None = option(metavar="REV", help="Check what was committed and staged since REV.")
    format: str | None = option(metavar="text|json|sarif|github", help="text, json, sarif or github [default: text].")


@verb(GuardOptions, section=CHECK, line="Fail a commit that breaks a rule", returns="Any")
def command(session: CommandContext, options: GuardOptions) -> int:
    """Check a change against memories with triggers.

    For each added line that matches a trigger of a negative, constraint or procedure, print `file:line: kind id path: text`.
    Exits with 5 if one of these memories was stored with --enforce; its line then says "enforced". Exits with 6 if an
    enforced memory could not be checked, because a trigger of it is invalid. Without a store nothing is checked.

    A trigger is an RE2 pattern, symbol:NAME, or a file glob such as path:src/**/*.py, which matches any change of a file, also
    its deletion and its renaming. If a memory has both globs and other triggers, the others apply only to files that match a
    glob.

    Example: memcli guard --changed origin/main --format github

    >>> diff = ['--- a/x.sh', '+++ b/x.sh', '@@ -0,0 +1 @@', '+git push --force']
    >>> memory.guard(diff=diff)['findings'][0]['path']
    'rules/force-push'
    """
    from memcli.app.guard import GuardVerdict, guard
    from memcli.cli.arguments import check_known, read_edits
    from memcli.render.clean import fitted
    from memcli.render.findings import FORMATS

    if sum([options.staged, options.diff is not None, options.changed is not None]) > 1:
        raise UsageError("--staged, --diff and --changed cannot be combined", "use one of them")
    name = "json" if session.output.json else options.format or "text"
    check_known("format", name, sorted([*FORMATS, "json"]))
    edits = read_edits(diff=options.diff, changed=options.changed)
    try:
        verdict = guard(session.open(), edits)
    except NoStoreError as error:
        # The hooks of a repository run in all of its work trees, also in those of branches without a store.
        session.output.note(f"{error.message}, so no rules")
        verdict = GuardVerdict(files=len(edits), lines=sum(len(edit.added) for edit in edits))
    if name == "json":
        session.output.json = True
        session.output.answer(verdict.to_json(), "")
    else:
        found = FORMATS[name](verdict.findings)
        session.output.write(fitted(found, "  ") if name == "text" else found)
    if verdict.withheld:
        session.output.note(
            f"skipped {verdict.withheld} that contain instructions to an agent; `memcli trust --status` counts them"
        )
    if verdict.is_from_clone and verdict.findings:
        session.output.note("this store was cloned: its memories cannot fail a check until you run `memcli trust`")
    if verdict.enforced:
        session.output.note(f"{verdict.enforced} enforced: change these lines; `memcli get ID` shows the reason")
    if verdict.unchecked:
        what = f"enforced, but not checked, because a trigger is invalid: {', '.join(verdict.unchecked)}"
        raise CorruptError(what, "`memcli edit ID --set triggers=PATTERN` corrects it")
    return RefusedError.exit_code if verdict.enforced else 0
