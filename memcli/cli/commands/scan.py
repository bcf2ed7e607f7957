"""`memcli scan`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import RefusedError, UsageError


class ScanOptions(Options):
    """What `memcli scan` takes."""

    files: list[str] = argument("[FILE...]", "These files, as a pre-commit hook names them.", many=True)
    history: bool = flag(help="Every version in git, on any branch.")
    staged: bool = flag(help="What the next commit would take.")


@verb(ScanOptions)
def command(session: Session, options: ScanOptions) -> int:
    """Look for secrets in what is stored; without arguments, in all files of the store.

    Says where each is, of what kind, and its mark; never the secret. Exits with 5 when there are any.

    Example: memcli scan --staged
    """
    from memcli.app.scan import scan
    from memcli.cli.scan_input import documents, open_rules

    if sum(map(bool, (options.files, options.history, options.staged))) > 1:
        raise UsageError("files, --history and --staged are given together", "give one of them")
    rules, root = open_rules(session, must_exist=not options.files)
    seen = 0
    leaks = []
    for document in documents(root, options.files or (), history=options.history, staged=options.staged):
        seen += 1
        leaks += scan(document, rules)
    text = "\n".join(map(str, leaks)) or f"no secrets in {seen} {'file' if seen == 1 else 'files'}"
    data = {"files": seen, "found": [leak.to_json() for leak in leaks]}
    if not leaks:
        session.output.confirm(data, text)
        return 0
    session.output.answer(data, text)
    session.output.note(_HISTORY if options.history else _MEND)
    return RefusedError.exit_code


_MEND = (
    "change the secret where it is used, then take it out: `memcli edit ID --set raw=...` redacts what it writes; "
    "one that is none: add its mark to pii_redaction.allow (`memcli space policy`)"
)
_HISTORY = (
    "change these secrets where they are used: what was pushed is known; "
    "`git filter-repo --replace-text` takes them out of the history"
)
