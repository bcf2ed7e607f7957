"""Conflicts: in what two statements about the same thing differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memcli.claims.alignment import StatementPair, by_dimension, pairs, same_terms
from memcli.claims.claim import Claim
from memcli.claims.lexicon import ROLES
from memcli.claims.quantities import Quantity

QUANTITY, SLOT, OWNER = "quantity", "slot", "owner"
_FEW = 2


class ClaimConflict(NamedTuple):
    kind: str
    reason: str
    pair: StatementPair


def conflicts(new: Claim, old: Claim) -> Iterator[ClaimConflict]:
    """In what the statements of two claims differ, pair by pair."""
    for pair in pairs(new, old):
        counted = [*_quantities(pair)]
        values = counted if len(counted) == 1 else []  # where all numbers differ, they are of another case
        found = [*values, *_choices(pair), *_poles(pair)] or [*_signs(pair)]
        yield from found or [*_slots(pair), *_roles(pair), *_names(pair)]


def _quantities(pair: StatementPair) -> Iterator[ClaimConflict]:
    mine_all, theirs_all = by_dimension(pair.new, pair.old), by_dimension(pair.old, pair.new)
    for dimension in sorted(mine_all.keys() & theirs_all.keys()):
        mine, theirs = mine_all[dimension], theirs_all[dimension]
        if {q.value for q in mine} & {q.value for q in theirs}:
            mine, theirs = [q for q in mine if not q.bound], [q for q in theirs if not q.bound]
            if not mine or not theirs or {q.value for q in mine} & {q.value for q in theirs}:
                continue
        elif len(mine) > 1 and len(theirs) > 1:
            continue  # where all numbers differ, they are of another case
        a, b = max(((x, y) for x in mine for y in theirs), key=lambda two: len(two[0].beside & two[1].beside))
        if a.is_beyond and b.is_beyond and pair.both:
            continue  # what happens beyond one bound, and beyond another
        if a.is_approximate == b.is_approximate and (dimension != "number" or _counts_same(a, b, pair)):
            yield ClaimConflict(QUANTITY, f"{a.text} here, {b.text} there", pair)


def _counts_same(a: Quantity, b: Quantity, pair: StatementPair) -> bool:
    """Whether two plain numbers count the same."""
    if a.nouns and b.nouns:
        return bool(a.nouns & b.nouns or a.nouns & pair.old.terms or b.nouns & pair.new.terms)
    return True


def _choices(pair: StatementPair) -> Iterator[ClaimConflict]:
    one, other = pair.new, pair.old
    for kind in sorted((one.choices.keys() | one.replaced.keys()) & (other.choices.keys() | other.replaced.keys())):
        mine, theirs = one.choices.get(kind, {}), other.choices.get(kind, {})
        gone = one.replaced.get(kind, {}).keys() & theirs.keys()
        back = other.replaced.get(kind, {}).keys() & mine.keys()
        if gone:
            yield ClaimConflict("replaced", f"{_listed(gone)} there, no longer here", pair)
        elif back:
            yield ClaimConflict("replaced", f"{_listed(back)} here, no longer there", pair)
        elif mine and theirs and not mine.keys() & theirs.keys():
            yield ClaimConflict(f"choice {kind}", f"{_listed(mine)} here, {_listed(theirs)} there", pair)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _poles(pair: StatementPair) -> Iterator[ClaimConflict]:
    one, other = pair.new, pair.old
    for axis in sorted(one.poles.keys() & other.poles.keys()):
        mine, theirs = one.poles[axis], other.poles[axis]
        if mine[0] != theirs[0] and one.sign == other.sign:
            yield ClaimConflict("pole", f"{mine[1]} here, {theirs[1]} there", pair)


def _signs(pair: StatementPair) -> Iterator[ClaimConflict]:
    one, other = pair.new, pair.old
    turns = sum(one.poles[axis][0] != other.poles[axis][0] for axis in one.poles.keys() & other.poles.keys())
    is_limited = one.has_exception or other.has_exception or one.denies_limits != other.denies_limits
    if one.sign == other.sign or turns or is_limited:
        return
    denied, affirmed, more = (one, other, pair.right) if one.sign < 0 else (other, one, pair.left)
    if denied.is_refusal and not affirmed.is_affirmed and more:
        return
    yield ClaimConflict("sign", "denied here" if one.sign < 0 else "denied there", pair)


def _names(pair: StatementPair) -> Iterator[ClaimConflict]:
    """Another name in the same place."""
    mine, theirs = pair.left & pair.new.names, pair.right & pair.old.names
    if mine and theirs and len(pair.left) <= 2 and len(pair.right) <= 2 and len(pair.common) >= 2:
        yield ClaimConflict("name", f"{_listed(mine)} here, {_listed(theirs)} there", pair)


def _slots(pair: StatementPair) -> Iterator[ClaimConflict]:
    """Another value behind the same preposition, where all else is the same."""
    for group in sorted(pair.new.slots.keys() & pair.old.slots.keys()):
        mine, theirs = pair.new.slots[group], pair.old.slots[group]
        is_all = pair.left <= mine and pair.right <= theirs
        if pair.left and pair.right and is_all and not same_terms(mine & pair.left, theirs & pair.right):
            if mine & theirs and pair.other_subject == "modifier":
                pair = pair._replace(other_subject="")  # `the main thread`, `a background thread`: it is the value
            yield ClaimConflict(
                OWNER if group == "owner" else SLOT, f"{_listed(pair.left)} here, {_listed(pair.right)} there", pair
            )


def _roles(pair: StatementPair) -> Iterator[ClaimConflict]:
    """Another value of what has one alone, such as a level or a format."""
    one, other = pair.new, pair.old
    same_head = one.head and other.head and not (pair.left & one.head) and not (pair.right & other.head)
    if same_head and pair.left and pair.right and one.head & other.head & ROLES and pair.both <= _FEW:
        yield ClaimConflict(SLOT, f"{_listed(pair.left)} here, {_listed(pair.right)} there", pair)
