"""Make a bundle fit into a number of tokens, in the very form in which it will be printed."""

from __future__ import annotations

from dataclasses import replace

from memcli.errors import UsageError
from memcli.model.recall import LEVELS, Bundle, Section
from memcli.model.tokens import count_tokens
from memcli.policy.budget import Item, fill
from memcli.ports import Renderer

_LEAST_VALUE = 0.05


def fit(bundle: Bundle, render: Renderer, budget: int) -> Bundle:
    """`bundle` with as much relevance as `budget` tokens hold when `render` prints it; never more.

    Each memory appears as micro, short or long summary or raw, or is withheld. Raises UsageError when not even
    an empty bundle fits.
    """
    least = count_tokens(render(replace(bundle, sections=())))
    if least > budget:
        raise UsageError(f"a budget of {budget} tokens is too small", f"the frame alone takes {least}")
    items, frame = _items(bundle, render)
    room = budget - frame
    while room > 0:
        levels = fill(items, room)
        chosen = [replace(s, level=level) for s, level in zip(bundle.sections, levels, strict=True) if level]
        fitted = replace(bundle, sections=tuple(chosen))
        excess = count_tokens(render(fitted)) - budget
        if chosen and excess <= 0:
            return fitted
        # What stands around the memories (a summary, counts) may grow with them: try again with less room.
        room -= max(1, excess)
    return replace(bundle, sections=())


def _items(bundle: Bundle, render: Renderer) -> tuple[list[Item], int]:
    """What each memory is worth and costs at each level, and what stands around them in any case."""
    top = max((section.score for section in bundle.sections), default=0.0) or 1.0
    items, frame = [], 0
    for section in bundle.sections:
        costs = []
        for level in LEVELS:
            one = count_tokens(render(replace(bundle, sections=(replace(section, level=level),))))
            two = count_tokens(render(replace(bundle, sections=(replace(section, level=level),) * 2)))
            costs.append(two - one)
            frame = max(frame, one - (two - one))
        items.append(Item(_value(section, top), tuple(costs)))
    return items, frame


def _value(section: Section, top: float) -> float:
    return 1.0 if section.memory.pinned or section.is_lead else max(_LEAST_VALUE, section.score / top)
