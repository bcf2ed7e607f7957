"""What upkeep did or would do, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from memcli.extras.upkeep.plan import Maintained
from memcli.extras.upkeep.step import UpkeepStep
from memcli.model.memory import Json

MOST_SHOWN = 10
"""How many steps of one task the text lists."""


_WIDTH = 40


def upkeep_text(done: Sequence[Maintained], *, dry_run: bool) -> str:
    """The steps by space and task, then what became of each space; empty when there is nothing to say."""
    eventful = [one for one in done if one.plan.steps or one.skipped or one.plan.undone]
    lines: list[str] = []
    for one in eventful:
        if len(eventful) > 1:
            lines += [*([""] if lines else []), f"space {one.space}"]
        for task, steps in groupby(one.plan.steps, key=lambda step: step.task):
            lines += _task_lines(task, list(steps))
        lines += [f"skipped {step.path}: changed by another process meanwhile ({step.task})" for step in one.skipped]
        lines += [_summary(one, dry_run=dry_run)] if one.plan.after or one.plan.undone else []
    return "\n".join(lines)


def upkeep_json(done: Sequence[Maintained], *, dry_run: bool) -> Json:
    """The same as JSON, with every step."""
    return {
        "dry_run": dry_run,
        "changed": sum(len(one.plan.after) for one in done),
        "tokens": sum(one.plan.tokens for one in done),
        "spaces": [
            {
                "space": one.space, "run": one.run, "changed": len(one.plan.after), "tokens": one.plan.tokens,
                "steps": _steps_json(one.plan.steps), "skipped": _steps_json(one.skipped), "undone": one.plan.undone,
            }
            for one in done
        ],
    }  # fmt: skip


def _task_lines(task: str, steps: Sequence[UpkeepStep]) -> list[str]:
    tokens = sum(step.tokens for step in steps)
    head = f"{task} ({len(steps)}{f', {tokens:,} tokens' if tokens else ''})"
    shown = steps[:MOST_SHOWN]
    width = min(_WIDTH, max(len(step.path) for step in shown))
    lines = [f"  {step.path:<{width}}  {_outcome(step)}" for step in shown]
    return [head, *lines, *([f"  and {len(steps) - len(shown)} more"] if len(steps) > len(shown) else [])]


def _outcome(step: UpkeepStep) -> str:
    changes = [
        f"{name} {was} -> {becomes}"
        for name, (was, becomes) in step.fields.items()
        if name in ("confidence", "relevance", "strength")
    ]
    if step.task == "tags":
        before, after = step.fields["tags"]
        changes += [f"+{tag}" for tag in after if tag not in before]
    if changes:
        return f"{', '.join(changes)}; {step.reason}"
    return step.reason if step.memories else f"{step.action}: {step.reason}"


def _summary(one: Maintained, *, dry_run: bool) -> str:
    count = len(one.plan.after)
    changed = f"{'would change' if dry_run else 'changed'} {count} {'memory' if count == 1 else 'memories'}"
    parts = [changed if count else "nothing to do"]
    if one.plan.tokens:
        parts.append(f"{'would reclaim' if dry_run else 'reclaimed'} {one.plan.tokens:,} tokens")
    if one.plan.undone:
        parts.append(f"{one.plan.undone} undone or rejected before, and left until they change")
    if one.run:
        parts.append(f"undo with `memcli restore --run {one.run}`")
    return "; ".join(parts)


def _steps_json(steps: Iterable[UpkeepStep]) -> list[Json]:
    return [
        {
            "task": step.task, "id": step.id, "path": step.path, "action": step.action, "reason": step.reason,
            "fields": {name: {"before": was, "after": becomes} for name, (was, becomes) in step.fields.items()},
            "others": list(step.others), "tokens": step.tokens,
        }
        for step in steps
    ]  # fmt: skip
