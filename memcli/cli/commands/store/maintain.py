"""`memcli store maintain`"""

from __future__ import annotations

from memcli.cli.options import Options, dry_run_option, flag, option
from memcli.cli.verb import CommandContext, verb
from memcli.model.roles import ADMIN, READER


class MaintainOptions(Options):
    """What `memcli store maintain` takes."""

    dry_run: bool = dry_run_option()
    only: list[str] = option(
        metavar="TASK",
        help="Only usage, archive, decay, links, clusters, merge, tags or review. Repeatable.",
        many=True,
    )
    background: bool = flag(
        help="Only what is due by the policy `upkeep: auto`, silently, at the lowest priority. Recalls start this."
    )


@verb(MaintainOptions, role=ADMIN, escalates={"dry_run": READER})
def command(session: CommandContext, options: MaintainOptions) -> None:
    """Apply feedback to confidence, and tidy up what has aged.

    In this order: `usage` applies feedback; `archive` takes old logs, episodes and inferred memories of low value out of
    recall, and what you stored only where something newer contradicts it; `decay` lowers the relevance of what nobody
    confirmed; `links` relates memories that were recalled together and judged helpful; `clusters` names clusters; `merge`
    merges near-duplicate episodes; `tags` adds tags; `review` lists contradictions and near-duplicates.
    Nothing is deleted, and pinned memories stay. `memcli restore --run RUN` undoes a run.

    With the policy `upkeep=auto` this also runs in the background, after every 50th recall and when `watch` is idle, at most
    once an hour. It then changes only derived and private spaces; a plan for the others waits in the inbox.

    Example: memcli store maintain --dry-run

    >>> memory.store_maintain(dry_run=True)['changed']
    0
    """
    from memcli.app.maintain import check_tasks, maintain, preview
    from memcli.render.reports import upkeep_json, upkeep_text

    tasks = check_tasks(options.only or ())
    if options.background:
        _maintain_behind(session)
        return
    workspace = session.open()
    done = preview(workspace, tasks) if options.dry_run else list(maintain(workspace, tasks))
    text = upkeep_text(done, dry_run=options.dry_run)
    session.output.confirm(upkeep_json(done, dry_run=options.dry_run), text or "nothing to do")


def _maintain_behind(session: CommandContext) -> None:
    import os

    from memcli.app.maintain import maintain_behind
    from memcli.cli.background import run_alone
    from memcli.store.switch import is_off

    session.output.quiet = True
    workspace = session.open()
    if not is_off(workspace.root, os.environ):
        run_alone(workspace.root, lambda _: maintain_behind(session.open()))
