"""Fits a bundle into a number of tokens, measured in the format in which it will be printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memcli.errors import UsageError
from memcli.model.recall import BUDGET_TOO_SMALL, PASSAGES, Bundle, Section
from memcli.model.tokens import count_tokens
from memcli.policy.answer import Forms, Step, fill, forms
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Renderer

WEAK_SHARE = 2
"""A bundle of weak evidence gets one token in so many."""
_PINS = 4
"""Pinned memories that do not match get at most one token in so many of the budget."""

Measure = Callable[[tuple[Section, ...]], int]
"""The number of tokens of the bundle with these sections."""


def fit(bundle: Bundle, render: Renderer, budget: int) -> Bundle:
    """The bundle, shortened so that its output of `render` is at most `budget` tokens.

    Sections are shown at a lower level, or left out. Where no section fits, the bundle has the reason BUDGET_TOO_SMALL. Raises
    UsageError when not even that fits.
    """

    def measure(sections: tuple[Section, ...], always: tuple[Section, ...] = ()) -> int:
        return count_tokens(render(replace(bundle, sections=sections, always=always)))

    # Not a bundle without matches: the caller may raise the budget, and has to know that.
    nothing = replace(bundle, sections=(), always=(), reason=bundle.reason or BUDGET_TOO_SMALL)
    least = count_tokens(render(nothing))
    if least > budget:
        raise UsageError(f"a budget of {budget} tokens is too small", f"use at least {least}")
    is_raw = bundle.query.include_raw
    first = bundle.sections[:1]
    bare = measure(first)
    reserved = min(budget // _PINS, measure(first, bundle.always) - bare) if bundle.always else 0
    share = budget // WEAK_SHARE if bundle.is_weak else budget
    sections = _chosen(bundle.sections, measure, share - reserved, is_raw)
    # The best memory is worth more than the reserve for pinned ones, and than a small bundle.
    if bundle.sections and not sections:
        sections, reserved = _chosen(bundle.sections, measure, budget, is_raw), 0
    if bundle.sections and not sections:
        return nothing
    always = _chosen(bundle.always, lambda pins: measure(first, pins) - bare, reserved, is_raw)
    # Both were measured apart, and their headings may exceed the budget together.
    while always and measure(sections, always) > budget:
        always = always[:-1]
    return replace(bundle, sections=sections, always=always)


def _chosen(sections: Sequence[Section], measure: Measure, room: int, is_raw: bool) -> tuple[Section, ...]:
    """The sections that fit into `room` tokens, each at its level."""
    if not sections:
        return ()
    one = replace(sections[0], level=forms(sections[0], is_raw)[0][0])
    # The tokens around the memories: the difference of two bundles is one memory.
    frame = 2 * measure((one,)) - measure((one, one))

    def cost(section: Section, level: str, steps: int = 0) -> int:
        return measure((replace(section, level=level, steps=steps),)) - frame

    def after(steps: Sequence[Step]) -> tuple[Section, ...]:
        reached = {place: (level, more) for place, level, more in steps}
        return tuple(replace(sections[place], level=level, steps=more) for place, (level, more) in reached.items())

    costs = []
    for section in sections:
        usual, fuller = ([(level, cost(section, level)) for level in levels] for levels in forms(section, is_raw))
        costs.append(Forms(usual, fuller, [place for _, place in section.more], partial(cost, section, PASSAGES)))
    # The order of the steps does not depend on the budget, so that a larger one never shows less.
    steps = fill(costs, room - frame) or [(0, one.level or "", 0)]
    # Each memory is measured alone, but the lines around them may grow with their number.
    while steps and measure(after(steps)) > room:
        steps.pop()
    return after(steps)
