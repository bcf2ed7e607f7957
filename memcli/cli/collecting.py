"""What `memcli gc` says of a collection."""

from __future__ import annotations

from memcli.app.gc import Collected
from memcli.model.memory import Json
from memcli.policy.retention import Removal


def told(done: Collected, space: str, dry_run: bool) -> str:
    """Each memory that goes and why, then the counts."""
    plan, verb = done.plan, "would purge" if dry_run else "purged"
    lines = [
        f"{verb} {r.memory.id} {r.memory.path} (updated {r.memory.updated_at[:10]}; {_why(r)})" for r in plan.removals
    ]
    lines += [f"left {m.id} {m.path}: it comes from the future ({m.updated_at})" for m in plan.future]
    if not plan.rules:
        lines.append(f"nothing expires in space {space!r}: its policy has no ttl_days, retention or max_objects")
    else:
        pinned = f"; {len(plan.pinned)} expired but pinned" if plan.pinned else ""
        lines.append(f"{verb} {len(plan.removals)} under {', '.join(f'{n}={v:g}' for n, v in plan.rules)}{pinned}")
    if done.emptied:
        count = sum(len(run.space.objects) for run in done.emptied)
        lines.append(f"{'would erase' if dry_run else 'erased'} {count} from the trash: their grace is over")
    if done.refusal is not None:
        lines.append(f"it would be refused: {done.refusal.message} ({done.refusal.hint})")
    return "\n".join(lines)


def told_json(done: Collected, space: str, dry_run: bool) -> Json:
    """The same for programs."""
    plan = done.plan
    return {
        "space": space, "dry_run": dry_run, "rules": dict(plan.rules), "run": done.run,
        "purged": [
            {"id": r.memory.id, "path": r.memory.path, "updated_at": r.memory.updated_at, "why": r.reason}
            for r in plan.removals
        ],
        "pinned": [r.memory.id for r in plan.pinned],
        "future": [m.id for m in plan.future],
        "erased": [{"run": run.name, "memories": len(run.space.objects)} for run in done.emptied],
        "refused": "" if done.refusal is None else done.refusal.message,
    }  # fmt: skip


def _why(removal: Removal) -> str:
    if removal.reason == "max_objects":
        return f"more than max_objects={removal.limit:g}"
    return f"{removal.age_days:.0f} days old, {removal.reason}={removal.limit:g}"
