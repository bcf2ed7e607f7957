"""`memcli gc`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import DRY_RUN, Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, Http, verb
from memcli.model.memory import Json, Memory
from memcli.model.space import ADMIN

if TYPE_CHECKING:
    from memcli.app.trash import Collected


class GcOptions(Options):
    """The options of `memcli gc`."""

    name: str | None = argument("[SPACE]", "The space to collect [default: the current one].")
    ttl_days: float | None = option(
        metavar="N", help="Use N instead of the policy's ttl_days, for this run.", type=float, low=0
    )
    dry_run: bool = DRY_RUN
    trust_clock: bool = flag(help="Proceed despite clock skew.")


@verb(
    GcOptions,
    section=SHARE,
    line="Delete what has expired; `restore` brings it back",
    role=ADMIN,
    http=(Http(method="POST", path="/api/gc", summary="Delete expired memories", fields=("ttl_days", "dry_run")),),
)
def command(session: CommandContext, options: GcOptions) -> None:
    """Delete memories that have expired under the space's policy, and those of scope session whose session has ended. Pinned
    memories are kept.

    Deleted memories stay in the trash for the policy's grace_days; `memcli restore` restores them.

    >>> memory.gc()['purged']
    []
    """
    from memcli.app.living import collect_ended
    from memcli.app.space import check_exists
    from memcli.app.trash import collect

    workspace = session.open(space=options.name)
    if options.name is not None:
        check_exists(workspace, options.name)
    done = collect(workspace, options.ttl_days, options.dry_run, options.trust_clock)
    ended: Sequence[Memory] = ()
    # Expired memories have been deleted: a failure here is a warning.
    with workspace.behind_the_write():
        ended = collect_ended(workspace, dry_run=options.dry_run)
    data, lines = _report(done, ended, workspace.space, options.dry_run)
    session.output.confirm(data, "\n".join(lines))


def _report(done: Collected, ended: Sequence[Memory], space: str, dry_run: bool) -> tuple[dict[str, Json], list[str]]:
    """The report of what was deleted, or would be in a dry run: as JSON, and as lines."""
    plan, verb = done.plan, "would purge" if dry_run else "purged"
    lines = [f"{verb} {m.id} {m.path} (its session has ended)" for m in ended]
    for one in plan.removals:
        limit = f"{one.reason}={one.limit:g}"
        why = f"more than {limit}" if one.reason == "max_objects" else f"{one.age_days:.0f} days old, {limit}"
        lines.append(f"{verb} {one.memory.id} {one.memory.path} (updated {one.memory.updated_at[:10]}; {why})")
    lines += [f"kept {m.id} {m.path}: its timestamp is in the future ({m.updated_at})" for m in plan.future]
    if not plan.rules:
        lines.append(f"nothing expires in space {space!r}: its policy has no ttl_days, retention or max_objects")
    else:
        pinned = f"; {len(plan.pinned)} expired but pinned" if plan.pinned else ""
        lines.append(f"{verb} {len(plan.removals)} under {', '.join(f'{n}={v:g}' for n, v in plan.rules)}{pinned}")
    if done.emptied:
        count = sum(len(run.space.objects) for run in done.emptied)
        lines.append(f"{'would erase' if dry_run else 'erased'} {count} from the trash: grace_days have passed")
    if done.refusal is not None:
        lines.append(f"would be refused: {done.refusal.message} ({done.refusal.hint})")
    purged = [*((one.memory, one.reason) for one in plan.removals), *((m, "session") for m in ended)]
    data: dict[str, Json] = {
        "space": space, "dry_run": dry_run, "rules": dict(plan.rules), "run": done.run,
        "purged": [{"id": m.id, "path": m.path, "updated_at": m.updated_at, "why": why} for m, why in purged],
        "pinned": [one.memory.id for one in plan.pinned], "future": [m.id for m in plan.future],
        "erased": [{"run": run.name, "memories": len(run.space.objects)} for run in done.emptied],
        "refused": "" if done.refusal is None else done.refusal.message,
    }  # fmt: skip
    return data, lines
