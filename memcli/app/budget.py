"""Make a bundle fit into a number of tokens, in the very form in which it will be printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
"""Evidence that is weak gets one token in so many."""
_PINS = 4
"""Pinned memories that do not match get at most one token in so many."""

Measure = Callable[[tuple[Section, ...]], int]
"""How many tokens a bundle takes with these sections."""


def fit(bundle: Bundle, render: Renderer, budget: int) -> Bundle:
    """`bundle` with as much of the best as `budget` tokens hold when `render` prints it; never more.

    What does not fit appears shorter, or is withheld. When nothing fits, the bundle says so. Raises UsageError when not
    even that fits.
    """

    def measure(sections: tuple[Section, ...], always: tuple[Section, ...] = ()) -> int:
        return count_tokens(render(replace(bundle, sections=sections, always=always)))

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
    if bundle.sections and not sections:
        sections, reserved = _chosen(bundle.sections, measure, budget, is_raw), 0
    if bundle.sections and not sections:
        return nothing
    always = _chosen(bundle.always, lambda pins: measure(first, pins) - bare, reserved, is_raw)
    while always and measure(sections, always) > budget:
        always = always[:-1]
    return replace(bundle, sections=sections, always=always)


def _chosen(sections: Sequence[Section], measure: Measure, room: int, is_raw: bool) -> tuple[Section, ...]:
    """The sections that `room` tokens hold, each at its level.

    The steps are counted one memory at a time. What stands around the memories may grow with them, so the last steps are
    taken back until the whole fits.
    """
    if not sections:
        return ()
    one = _at(sections[0], forms(sections[0], is_raw)[0][0])
    frame = 2 * measure((one,)) - measure((one, one))
    steps = fill(_forms(sections, measure, frame, is_raw), room - frame) or [(0, one.level or "", 0)]
    while steps and measure(_after(sections, steps)) > room:
        steps.pop()
    return _after(sections, steps)


def _forms(sections: Sequence[Section], measure: Measure, frame: int, is_raw: bool) -> Iterator[Forms]:
    for section in sections:
        usual, fuller = (
            [(level, measure((_at(section, level),)) - frame) for level in levels] for levels in forms(section, is_raw)
        )
        cost_of = partial(_cost_of_more, section, measure, frame)
        yield Forms(usual, fuller, [place for _, place in section.more], cost_of)


def _cost_of_more(section: Section, measure: Measure, frame: int, steps: int) -> int:
    return measure((_at(section, PASSAGES, steps),)) - frame


def _after(sections: Sequence[Section], steps: Sequence[Step]) -> tuple[Section, ...]:
    reached = {place: (level, more) for place, level, more in steps}
    return tuple(_at(sections[place], *form) for place, form in reached.items())


def _at(section: Section, level: str, steps: int = 0) -> Section:
    return replace(section, level=level, steps=steps)
