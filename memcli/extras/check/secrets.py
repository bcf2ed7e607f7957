"""`memcli check secrets`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.verb import CommandContext, verb
from memcli.errors import CorruptError, UsageError
from memcli.model.names import counted


class CheckSecretsOptions(Options):
    """The options of `memcli check secrets`."""

    files: list[str] = argument("[FILE...]", "Files to scan [default: the files of the store].", many=True)
    history: bool = flag(help="Scan every version of the store in git, on all branches.")
    staged: bool = flag(help="Scan the staged files of the store.")


@verb(CheckSecretsOptions)
def command(session: CommandContext, options: CheckSecretsOptions) -> int:
    """Scan for secrets; by default, in all files of the store, and in its spaces on a server.

    Prints the place, kind and mark of each secret, never the secret itself. Exits with 6 if there are any.

    Marks are keyed hashes. Set MEMCLI_REDACTION_KEY to a text of at least 16 characters to get the same marks on all
    machines of a team, in stored memories too.

    Example: memcli check secrets --staged

    >>> memory.check_secrets('guide.md')['found']
    []
    """
    from memcli.app.scan import scan
    from memcli.cli.documents import documents, open_rules, served

    if sum(map(bool, (options.files, options.history, options.staged))) > 1:
        raise UsageError("files, --history and --staged cannot be combined", "use one of them")
    rules, root = open_rules(session, must_exist=not options.files)
    seen = 0
    leaks = []
    for document in documents(root, options.files or (), history=options.history, staged=options.staged):
        seen += 1
        leaks += scan(document, rules)
    # A store on a server has no files: each of its spaces is read as a document.
    spaces = [] if options.files or options.history or options.staged else list(served(session))
    leaks += [leak for document in spaces for leak in scan(document, rules)]
    beside = f" and {counted(len(spaces), 'space')} on the server" if spaces else ""
    text = "\n".join(map(str, leaks)) or f"no secrets in {counted(seen, 'file')}{beside}"
    data = {"files": seen, "found": [leak.to_json() for leak in leaks]}
    if len(options.files) > seen:
        session.output.note("only files are scanned: name those of a folder, as `git ls-files -z | xargs -0` does")
    if not leaks:
        session.output.confirm(data, text)
        return 0
    session.output.answer(data, text)
    session.output.note(_HISTORY if options.history else _MEND)
    return CorruptError.exit_code


_MEND = (
    "rotate the secret, then remove it: `memcli edit ID --set raw=...` redacts what it writes; "
    "for a false positive, add its mark to pii_redaction.allow (`memcli space policy`)"
)
_HISTORY = (
    "rotate these secrets, since they may have been pushed; "
    "`git filter-repo --replace-text` removes them from the history"
)
