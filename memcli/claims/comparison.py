"""Comparing two claims: do they contradict each other, or say the same?"""

from __future__ import annotations

from memcli.claims.alignment import StatementPair, is_of_others, pairs, same_terms
from memcli.claims.claim import Claim
from memcli.claims.conflicts import OWNER, QUANTITY, SLOT, ClaimConflict, conflicts
from memcli.claims.values import differ, missing, share_value, values_of
from memcli.claims.words import change_places
from memcli.model.findings import CONTRADICTS, DUPLICATES
from memcli.record import Record


class Relation(Record):
    """What two memories have to do with each other. `kind` is `contradicts` or `duplicates`; `reason` says in what they
    differ, or agree; `newer_holds`: the newer one says that it takes the place of the other. `adds` is what the newer one
    of two that say the same has alone: it would be lost if only the older one were kept."""

    kind: str
    reason: str
    newer_holds: bool = False
    adds: str = ""


def compare(new: Claim, old: Claim, cosine: float | None = None) -> Relation | None:
    """What the newer claim has to do with the older one; None where they go together.

    `cosine` is the nearness of the two texts by meaning, if that is known. Whether two claims contradict each other may
    depend on it; but of two that do for one cosine, or for none, it says for no other that they are duplicates.
    """
    if not new.statements or not old.statements or (cosine is not None and cosine < _LEAST_COSINE):
        return None
    found = (conflict for conflict in conflicts(new, old) if _is_enough(conflict, cosine))
    best = max(found, key=lambda one: (one.pair.alignment, one.reason), default=None)
    if best is not None:
        return Relation(CONTRADICTS, best.reason, new.is_newer)
    return _duplicate(new, old, cosine) if _is_close(new, old, cosine) and is_compatible(new, old) else None


def is_compatible(new: Claim, old: Claim) -> bool:
    """Whether nothing in two texts keeps them from saying the same: they are read whole, do not differ in what could be a
    contradiction, speak of the same thing, in the same order, and not each has a value that the other has not."""
    return (
        new.is_whole
        and old.is_whole
        and next(conflicts(new, old), None) is None
        and not _is_other(new, old)
        and not differ(values_of(new.text), values_of(old.text))
        and not change_places(new.text, old.text)
    )


def _is_other(new: Claim, old: Claim) -> bool:
    """Whether what is most alike in the two denies the other, be it as an exception, or speaks of another thing."""
    return any(
        pair.other_subject
        or (pair.new.sign != pair.old.sign and not pair.new.poles)
        or pair.new.denies_limits != pair.old.denies_limits
        for pair in pairs(new, old)
        if pair.alignment >= _SAME
    )


_SAME = 0.5
_LEAST_COSINE = 0.5


def _is_enough(conflict: ClaimConflict, cosine: float | None) -> bool:
    """Whether what the two share is enough to call a difference a contradiction."""
    pair = conflict.pair
    if conflict.kind == SLOT:
        return _is_enough_for_slot(pair, cosine)
    if pair.other_subject or not pair.common:
        return False
    if conflict.kind == OWNER:
        return pair.both <= 1
    if conflict.kind == QUANTITY and (pair.new.is_event or pair.old.is_event):
        return False
    if cosine is None:
        is_other = conflict.kind == QUANTITY and is_of_others(pair)
        return pair.alignment >= 0.6 and pair.both <= 1 and not is_other
    if pair.both:
        return (cosine >= 0.65 and pair.alignment >= 0.5) or (cosine >= 0.75 and pair.alignment >= 0.4)
    return pair.alignment >= 0.6 or (pair.alignment >= 0.4 and cosine >= 0.52)


def _is_enough_for_slot(pair: StatementPair, cosine: float | None) -> bool:
    """Whether all but the value is the same: no word says that the two values exclude each other."""
    if pair.other_subject not in ("", "place") or pair.new.is_event or pair.old.is_event or pair.both > _FEW:
        return False
    if cosine is None:
        return len(pair.common) >= 2 and pair.alignment >= 0.6
    return cosine >= 0.7 and (len(pair.common) >= 2 or cosine >= 0.8)


_FEW = 2


def evidence(claim: Claim) -> frozenset[str]:
    """All that a claim is made of: terms, names and values."""
    found: set[str] = set()
    for one in claim.statements:
        found |= one.terms | one.conditions
        found |= {name for names in one.choices.values() for name in names}
        found |= {f"{quantity.dimension} {quantity.key}" for quantity in one.quantities}
    return frozenset(found)


def closeness(new: Claim, old: Claim) -> float:
    """How much of two claims is the same, 0..1."""
    mine, theirs = evidence(new), evidence(old)
    return 2 * len(same_terms(mine, theirs)) / (len(mine) + len(theirs) or 1)


def _is_close(new: Claim, old: Claim, cosine: float | None) -> bool:
    """Whether the two share enough to say the same: less is enough where they share a number or an identifier."""
    lack = (_SAME_WORDS if cosine is None else _SAME_MEANING - cosine) - closeness(new, old)
    return lack <= 0 or (lack <= _SHARED and share_value(values_of(new.text), values_of(old.text)))


_SAME_WORDS, _SAME_MEANING = 0.7, 1.3
_SHARED = 0.12
"""How much less is enough then. Of labelled pairs it finds nearly a third more duplicates by words, and flags none more that
go together: what differs in a value is no duplicate however close it is."""


def _duplicate(new: Claim, old: Claim, cosine: float | None) -> Relation:
    adds = missing(values_of(old.text), values_of(new.text))
    reason = "the same words" if cosine is None else "the same claim in other words"
    return Relation(DUPLICATES, f"{reason}, but it lacks {adds}" if adds else reason, adds=adds)
