"""Comparing two claims: do they contradict each other, or say the same?"""

from __future__ import annotations

from memcli.claims.alignment import pairs, same_terms
from memcli.claims.claim import Claim
from memcli.claims.conflicts import Conflict, conflicts
from memcli.model.findings import CONTRADICTS, DUPLICATES
from memcli.record import Record


class Finding(Record):
    """What two memories have to do with each other. `kind` is `contradicts` or `duplicates`; `reason` says in what they
    differ, or agree; `newer_holds`: the newer one says that it takes the place of the other."""

    kind: str
    reason: str
    newer_holds: bool = False


def compare(new: Claim, old: Claim, cosine: float | None = None) -> Finding | None:
    """What the newer claim has to do with the older one; None where they go together.

    `cosine` is the nearness of the two texts by meaning, if that is known.
    """
    if not new.statements or not old.statements or (cosine is not None and cosine < _LEAST_COSINE):
        return None
    found = list(conflicts(new, old))
    best = max((c for c in found if _is_enough(c, cosine)), key=lambda c: (c.pair.alignment, c.reason), default=None)
    if best is not None:
        return Finding(CONTRADICTS, best.reason, new.is_newer)
    if any(c.pair.alignment >= _ALIKE for c in found) or _is_denied(new, old):
        return None
    return _duplicate(new, old, cosine)


def _is_denied(new: Claim, old: Claim) -> bool:
    """Whether one denies what the other says, be it as an exception."""
    return any(
        pair.new.sign != pair.old.sign and pair.alignment >= 0.5 and not pair.new.poles for pair in pairs(new, old)
    )


_LEAST_COSINE = 0.5
_ALIKE = 0.3


def _is_enough(conflict: Conflict, cosine: float | None) -> bool:
    pair = conflict.pair
    if pair.other_subject or not pair.common:
        return False
    if conflict.kind == "quantity" and (pair.new.is_event or pair.old.is_event):
        return False
    if cosine is None:
        return pair.alignment >= 0.6 and pair.both <= 1
    if pair.both:
        return cosine >= 0.65 and pair.alignment >= 0.5
    return pair.alignment >= 0.6 or (pair.alignment >= 0.4 and cosine >= 0.52)


def evidence(claim: Claim) -> frozenset[str]:
    found: set[str] = set()
    for one in claim.statements:
        found |= one.terms | one.conditions
        found |= {name for names in one.choices.values() for name in names}
        found |= {f"{q.dimension} {q.value:g}" for q in one.quantities}
    return frozenset(found)


def closeness(new: Claim, old: Claim) -> float:
    mine, theirs = evidence(new), evidence(old)
    common = len(same_terms(mine, theirs))
    return 2 * common / (len(mine) + len(theirs) or 1)


def _duplicate(new: Claim, old: Claim, cosine: float | None) -> Finding | None:
    dice = closeness(new, old)
    if cosine is None:
        return Finding(DUPLICATES, "the same words") if dice >= 0.75 else None
    return Finding(DUPLICATES, "the same claim") if cosine + dice >= 1.35 else None
