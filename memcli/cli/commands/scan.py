"""`memcli scan`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import RefusedError, UsageError


@verb
def command(
    session: Session,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE...]", help="These files, as a pre-commit hook names them.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Every version in git, on any branch.")] = False,
    staged: Annotated[bool, typer.Option("--staged", help="What the next commit would take.")] = False,
) -> None:
    """Look for secrets in what is stored; without arguments, in all files of the store.

    Says where each is, of what kind, and its mark; never the secret. Exits with 5 when there are any.

    Example: memcli scan --staged
    """
    from memcli.app.scan import scan
    from memcli.cli.scanning import documents, open_rules

    if sum(map(bool, (files, history, staged))) > 1:
        raise UsageError("files, --history and --staged are given together", "give one of them")
    rules, root = open_rules(session, must_exist=not files)
    seen = 0
    leaks = []
    for document in documents(root, files or (), history=history, staged=staged):
        seen += 1
        leaks += scan(document, rules)
    text = "\n".join(map(str, leaks)) or f"no secrets in {seen} {'file' if seen == 1 else 'files'}"
    data = {"files": seen, "found": [leak.to_json() for leak in leaks]}
    if not leaks:
        session.output.confirm(data, text)
        return
    session.output.answer(data, text)
    session.output.note(_HISTORY if history else _MEND)
    raise typer.Exit(RefusedError.exit_code)


_MEND = (
    "change the secret where it is used, then take it out: `memcli edit ID --set raw=...` redacts what it writes; "
    "one that is none: add its mark to pii_redaction.allow (`memcli space policy`)"
)
_HISTORY = (
    "change these secrets where they are used: what was pushed is known; "
    "`git filter-repo --replace-text` takes them out of the history"
)
