"""One-sentence statements about a bundle as a whole."""

from __future__ import annotations

from memcli.model.recall import BUDGET_TOO_SMALL, EMPTY_DIFF, Bundle, Evidence
from memcli.policy.budget import texts_of

_SHOWN_TOPIC = 200


def global_summary(bundle: Bundle) -> str:
    """One line about the content of the bundle; a short one under a budget."""
    if bundle.reason == EMPTY_DIFF:
        return f"The diff is empty ({bundle.reason})."
    if bundle.reason == BUDGET_TOO_SMALL:
        return f"{bundle.matched} matched, but none fits the budget ({bundle.reason})."
    if bundle.query.budget is not None:
        missing = f"Nothing relevant ({bundle.reason}; {_count(_own(bundle))})."
        return f"{len(bundle.sections)} of {bundle.matched} matches." if bundle.sections else missing
    asked = bundle.topic if len(bundle.topic) <= _SHOWN_TOPIC else bundle.topic[:_SHOWN_TOPIC] + "…"
    topic = f"'{asked}'" if asked or not bundle.query.kinds else "kind " + ", ".join(bundle.query.kinds)
    if not bundle.sections:
        return f"Nothing relevant to {topic} ({bundle.reason}; {_count(_own(bundle))} in {_where(bundle)})."
    summaries = [texts_of(section)["micro"] for section in bundle.sections[:5]]
    told = "; ".join(text.rstrip(".") for text in summaries if text)
    more = f" ({len(bundle.sections)} of {_count(bundle.size)})"
    return f"Context bundle for {topic}{more}: {told}."


def _own(bundle: Bundle) -> int:
    """How many memories of the store itself were searched."""
    return sum(bundle.own.values()) if bundle.own else bundle.size


def _where(bundle: Bundle) -> str:
    """The spaces of the store itself that were searched."""
    if bundle.space == "*":
        return "all spaces"
    *others, last = bundle.own or (bundle.space,)
    return f"spaces {', '.join(others)} and {last}" if others else f"space {last}"


def period(bundle: Bundle) -> str:
    """The period that the topic was understood to name, under a budget by its dates alone; empty if it names none."""
    found = bundle.query.period
    if found is None:
        return ""
    return f"Period: {found.name if bundle.query.budget is None else found.dates}."


def untrusted(bundle: Bundle) -> str:
    """How many memories are withheld because they contain instructions; empty if none."""
    n = bundle.withheld_untrusted + bundle.untrusted_pins
    return f"{_count(n)} withheld because of instructions in {'it' if n == 1 else 'them'}" if n else ""


def degraded(bundle: Bundle) -> str:
    """A notice that the search used words only, or for some passages; empty if all of them have vectors."""
    degraded = "Degraded: " if bundle.degraded else ""
    if not bundle.missing:
        return f"{degraded}searched by words only." if degraded else ""
    count = f"{bundle.missing:,} passage{'' if bundle.missing == 1 else 's'}"
    return f"{degraded}{count} searched by words only (`memcli store index embed` computes the vectors)."


def verified(bundle: Bundle) -> str:
    """What a language model said of the candidates; empty if none was asked."""
    verdict = bundle.verdict
    if verdict is None:
        return ""
    is_brief = bundle.query.budget is not None
    if verdict.failure:
        return "Not verified." if is_brief else f"Not verified: {verdict.failure}."
    return f"{verdict.rejected} of {verdict.asked} rejected{'' if is_brief else f' by {verdict.model}'}."


def evidence(bundle: Bundle) -> str:
    """The match scores of each searched space, with their floors."""
    return "; ".join(f"{name}: {_spoke(found)}" for name, found in bundle.evidence.items())


def _spoke(found: Evidence) -> str:
    cosine = "no vector" if found.cosine is None else f"cosine {found.cosine:.2f}"
    return f"words {found.words:.2f}, {cosine}, together {found.together:.2f} of {found.floor:.2f}"


def _count(n: int) -> str:
    return "1 memory" if n == 1 else f"{n} memories"
