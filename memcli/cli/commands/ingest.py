"""`memcli ingest`"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from memcli.cli.options import DRY_RUN, Options, argument, flag, option
from memcli.cli.output import ProgressBar, has_input, is_terminal, read_input, redaction_note
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import MemcliError, UsageError, reporting_done
from memcli.ports import Source

if TYPE_CHECKING:
    from memcli.app.ingest import Prepared
    from memcli.app.workspace import Workspace


class IngestOptions(Options):
    """The options of `memcli ingest`."""

    files: list[str] = argument("[FILE...]", "Files and folders to ingest.", many=True)
    git: str | None = option(metavar="RANGE", help="Ingest commits: HEAD~5.., v1..v2; HEAD for the whole history.")
    since: str | None = option(metavar="REV", help="Ingest commits after REV.")
    staged: bool = flag(help="Ingest the staged changes.")
    stdin0: bool = flag(help="Read NUL-terminated file names from standard input.")
    propose: bool = flag(help="Put the memories into the inbox for review.")
    dry_run: bool = DRY_RUN


@verb(IngestOptions, section=SHARE, line="Read files, or the history of commits")
def command(session: CommandContext, options: IngestOptions) -> int:
    """Ingest files by section and definition, or commits by file.

    The memories go to the space `repo`, which git ignores and which can be rebuilt, unless --space names another.

    Each memory is anchored to its lines, so that recall can tell when the file has changed. Ingesting a file again updates
    its memories and removes those of removed sections. Files matched by .gitignore, .secretsignore or .env*, and binary,
    generated or huge files, are skipped and counted. Commits are read newest first and stored as they are read: interrupted,
    the next run goes on, and commits that were ingested are not read again. Then the index is brought up to date, and a few
    missing vectors are computed at once, more in the background, unless MEMCLI_BACKGROUND=off or the clock is frozen; see
    `store index embed`.

    Example: memcli ingest --git HEAD~20.. && memcli recall "what changed in the parser?"

    >>> memory.ingest('guide.md')['created']
    1
    """
    from memcli.store.layout import find_work_tree
    from memcli.wiring.roots import locate, make_store
    from memcli.wiring.sources import is_own_repository

    propose = options.propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    with ExitStack() as temporary:
        is_store_missing = options.dry_run and not locate(session.options, os.environ)
        if is_store_missing and find_work_tree(os.getcwd(), os.path.expanduser("~")):
            # A dry run makes no store in the work tree: a temporary one stands in for it.
            folder = temporary.enter_context(tempfile.TemporaryDirectory(prefix="memcli-"))
            opened = session.open(root=make_store({"root": folder}, os.environ)[0])
        else:
            opened = session.open(create=not options.dry_run)
        if not _is_named(session) and is_own_repository(opened.root) is False:
            # Its files and commits would take the places of those of the repository that has the store.
            raise UsageError(
                f"this folder is in another repository than the store at {opened.root}",
                "run `memcli init` here",
            )
        workspace = opened if propose else opened.over_repo()  # an accepted proposal is stored in `main`, not in `repo`
        source = _source(workspace, options, reads_all=propose or options.dry_run)
        return _ingest(session, workspace, source, options.dry_run, propose)


def _is_named(session: CommandContext) -> bool:
    """Whether a user names the store, which is not just the nearest one."""
    return bool(session.options.get("root") or os.environ.get("MEMCLI_ROOT") or session.options.get("store"))


_MANY = 50
"""From more commits than this on, a process of its own reads them: to start it takes as long as to read a few."""
_MAX_LIST = 64 << 20
"""The most bytes of file names that are read of standard input."""


def _source(workspace: Workspace, options: IngestOptions, *, reads_all: bool) -> Source:
    """The source that the options name; with `reads_all`, it includes commits that were ingested before. Raises UsageError
    unless the options name exactly one."""
    from memcli.wiring.sources import commit_source, file_source, staged_source

    git, since = options.git, options.since
    if sum(map(bool, (options.files, git is not None, since is not None, options.staged, options.stdin0))) != 1:
        raise UsageError(
            "give exactly one of files, --stdin0, --git RANGE, --since REV and --staged",
            "for example `memcli ingest docs/` or `memcli ingest --git HEAD~5..`",
        )
    if options.staged:
        return staged_source()
    if git is not None:
        return commit_source(workspace, git, whole=reads_all)
    if since is not None:
        if not since or ".." in since:
            raise UsageError(
                "--since takes one revision", "for example --since HEAD~5 or --since v1.0; use --git for ranges"
            )
        return commit_source(workspace, f"{since}..HEAD", whole=reads_all)
    if not options.stdin0:
        return file_source(workspace, options.files, may_be_gone=False)
    if not has_input():
        raise UsageError(
            "--stdin0 needs a pipe with file names", "for example `git diff --name-only -z | memcli ingest --stdin0`"
        )
    data = read_input(_MAX_LIST + 1)
    if len(data) > _MAX_LIST:
        raise UsageError("the list on standard input is longer than 64 MB", "give fewer names, or a folder")
    return file_source(workspace, [os.fsdecode(name) for name in data.split(b"\0") if name], may_be_gone=True)


def _progress(source: Source, bar: ProgressBar) -> Callable[[Prepared], None]:
    """Shows the number of commits or files that have been read."""
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource

    if not bar.is_shown or not isinstance(source, CommitSource | FileSource):
        return lambda _: None
    total, read = source.total(), 0

    def show(item: Prepared) -> None:
        nonlocal read
        read = source.done() if isinstance(source, FileSource) else read + bool(item.read)
        bar(read - 1, total)  # the last one that was begun may not be finished

    return show


def _ingest(session: CommandContext, workspace: Workspace, source: Source, dry_run: bool, propose: bool) -> int:
    """Ingests the source, prints the result and returns the exit code. Raises what the source raises, LockedError, CorruptError,
    StoreError."""
    from memcli.app.ingest import Ingested, ingest, retire_missing
    from memcli.app.repo import sync_behind
    from memcli.app.workspace import opened
    from memcli.cli.background import embed_missing
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource
    from memcli.wiring.sources import lost_commits, state_of_commits

    bar = ProgressBar("ingesting", session.output.quiet)
    done = Ingested()
    is_long = isinstance(source, CommitSource) and source.total() > _MANY
    more = {}
    if is_long:
        from memcli.ahead import ahead

        more = {"ahead": ahead}
        with suppress(MemcliError):  # the reading reports an invalid policy
            workspace.redactor.detector(workspace.space)  # warns here, and so once for both processes
    try:
        # Memories are stored as the source is read: an error names how many were stored before it.
        with reporting_done(done.stored):
            ingest(workspace, source, dry_run, propose, _progress(source, bar), done, **more)
            if isinstance(source, FileSource) and source.may_miss_files and not dry_run and not propose:
                done.retired += retire_missing(workspace, source.misses)
            if not dry_run and not propose:
                done.retired += sync_behind(workspace, lost_commits(workspace.root), state_of_commits(workspace))
    finally:
        bar.close()
    retired = f"{done.retired} retired, " if done.retired else ""
    text = f"{done.created} created, {done.updated} updated, {retired}{done.deduplicated} unchanged"
    if done.proposed:
        text = f"{done.proposed} proposed, {text}; review with `memcli inbox`"
    if dry_run:
        text = "\n".join([*done.paths, f"{len(done.paths)} would be ingested"])
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(done.skipped.items()) if n)
    text += f"{f'; skipped {skipped}' if skipped else ''}{redaction_note(done.redactions)}"
    session.output.confirm({**done.to_json(), "dry_run": dry_run}, text)
    is_changed = bool(done.created + done.updated)
    if is_changed and not dry_run:
        with suppress(MemcliError), opened(workspace):
            pass  # the index is made now and not by the first recall, which is to be quick
    # Also if nothing is new: the process that computed the vectors of an earlier run may have been stopped.
    if (is_changed or done.deduplicated) and not dry_run:
        embed_missing(session, workspace, few_at_once=is_changed)
    if is_changed and is_terminal() and not dry_run and not propose:
        from memcli.git.hooks import find_hooks

        with suppress(MemcliError):  # there is no repository
            if find_hooks(os.getcwd()).status("post-commit")[0] != "installed":
                text = 'next: `memcli recall "QUESTION"` searches it; `memcli hook install` ingests new commits as they are made'
                session.output.note(text)
    for failure in done.failed:
        session.output.note(f"skipped {failure.place}: {failure.reason}; the rest was ingested")
    return MemcliError.exit_code if done.failed else 0
