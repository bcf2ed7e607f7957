"""The budget of a bundle: which memories appear, and how fully, so that the most relevance fits into so many tokens.

A multiple-choice knapsack (Kellerer, Pferschy, Pisinger: "Knapsack Problems", 2004, chapter 11), solved by dynamic
programming over the budget in at most STEPS equal parts. Costs are rounded up to whole parts, so the plan never
exceeds the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memcli.model.recall import LEVELS

STEPS = 400
FIDELITY = (0.45, 0.7, 0.9, 1.0)
"""What of a memory's relevance each of LEVELS conveys: micro, short, long, raw."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that may appear: its relevance (above 0), and what each of LEVELS costs in tokens."""

    value: float
    costs: tuple[int, ...]


def fill(items: Sequence[Item], budget: int) -> list[str | None]:
    """The level at which each item appears, or None when it does not. The costs add up to at most `budget`."""
    unit = max(1, -(-budget // STEPS))
    room = max(0, budget) // unit
    best = [0.0] * (room + 1)
    choices: list[list[int]] = []
    for item in items:
        before, chosen = best, [-1] * (room + 1)
        best = list(before)
        for level, (cost, fidelity) in enumerate(zip(item.costs, FIDELITY, strict=True)):
            size, value = -(-cost // unit), item.value * fidelity
            for space in range(size, room + 1):
                if before[space - size] + value > best[space] + 1e-9:
                    best[space], chosen[space] = before[space - size] + value, level
        choices.append(chosen)
    return _levels(items, choices, room, unit)


def _levels(items: Sequence[Item], choices: Sequence[Sequence[int]], room: int, unit: int) -> list[str | None]:
    levels: list[str | None] = []
    for item, chosen in zip(reversed(items), reversed(choices), strict=True):
        level = chosen[room]
        levels.append(None if level < 0 else LEVELS[level])
        if level >= 0:
            room -= -(-item.costs[level] // unit)
    return levels[::-1]
