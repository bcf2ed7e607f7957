"""Conflicts: the values in which two statements about the same thing differ, and plain negation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memcli.claims.claim import Claim
from memcli.claims.statement import Statement
from memcli.claims.values import CODE, Quantity
from memcli.record import NamedTuple

_NONE: frozenset[str] = frozenset()


class ClaimConflict(NamedTuple):
    """In what two statements differ. `values` are the stems in which they do, of `is_name` those of names of one class."""

    reason: str
    one: Statement
    other: Statement
    values: frozenset[str] = _NONE
    keys: frozenset[str] = frozenset([""])
    is_name: bool = False
    is_sign: bool = False


def conflicts(new: Claim, old: Claim) -> Iterator[ClaimConflict]:
    """In what the statements of two claims differ, but for those that both make."""
    mine, theirs = ({_content(one) for one in claim.statements} for claim in (new, old))
    both = _keys(new) & _keys(old)
    for one in new.statements:
        for other in old.statements:
            if not _are_of_others(one, other) and _content(one) not in theirs and _content(other) not in mine:
                found = [*_quantities(one, other), *_names(one, other)]
                yield from (
                    [each for each in found if not each.keys <= both]
                    if found
                    else [*_signs(one, other)] or [*_others(one, other)]
                )


def _are_of_others(one: Statement, other: Statement) -> bool:
    """Whether a label or a scope tells what two statements are about apart: rack 7 and rack 8, staging and production."""
    return any(
        mine and theirs and mine.isdisjoint(theirs)
        for mine, theirs in ((one.labels, other.labels), (one.scopes, other.scopes))
    )


def _keys(claim: Claim) -> frozenset[str]:
    """The values that a text has, whether it chooses them or not."""
    return frozenset(
        key
        for one in claim.statements
        for key in (
            *(f"{quantity.dimension} {quantity.key}" for quantity in one.quantities),
            *(name for names in (*one.choices.values(), *one.rejected.values()) for name in names),
        )
    )


def _content(one: Statement) -> object:
    return one.stems, tuple((quantity.dimension, quantity.key) for quantity in one.quantities), one.limits


def _quantities(one: Statement, other: Statement) -> list[ClaimConflict]:
    mine_all, theirs_all = _by_dimension(one), _by_dimension(other)
    found = []
    for dimension in sorted(mine_all.keys() & theirs_all.keys()):
        mine, theirs = mine_all[dimension], theirs_all[dimension]
        if any(_is_equal(x, y) for x in mine for y in theirs) or (len(mine) > 1 and len(theirs) > 1):
            continue
        a, b = max(((x, y) for x in mine for y in theirs), key=lambda two: len(two[0].beside & two[1].beside))
        if a.is_approximate == b.is_approximate:
            keys = frozenset(f"{each.dimension} {each.key}" for each in (a, b))
            found.append(ClaimConflict(f"{a.text} here, {b.text} there", one, other, frozenset((a.stem, b.stem)), keys))
    return found if len(found) == 1 else []  # where all numbers differ, they are of another case


def _is_equal(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities of a dimension are equal, or as near as 30 days and a month, or 1 MB and 1 MiB."""
    if isinstance(one.value, str) or isinstance(other.value, str) or one.dimension not in _ROUNDED:
        return one.value == other.value
    return abs(one.value - other.value) <= _ROUNDED[one.dimension] * max(one.value, other.value)


_ROUNDED = {"time": 0.02, "period": 0.02, "size": 0.05}
"""By how much two values may differ that are written in other units."""


def _by_dimension(one: Statement) -> dict[str, list[Quantity]]:
    found: dict[str, list[Quantity]] = {}
    for each in one.quantities:
        found.setdefault(CODE if each.dimension.startswith(CODE) else each.dimension, []).append(each)
    return found


def _names(one: Statement, other: Statement) -> Iterator[ClaimConflict]:
    for kind in sorted((one.choices.keys() | one.rejected.keys()) & (other.choices.keys() | other.rejected.keys())):
        mine, theirs = one.choices.get(kind, {}), other.choices.get(kind, {})
        gone = one.rejected.get(kind, {}).keys() & theirs.keys()
        back = other.rejected.get(kind, {}).keys() & mine.keys()
        reason = ""
        if gone and back:
            continue
        if gone:
            reason = f"{_listed(gone)} there, no longer here"
        elif back:
            reason = f"{_listed(back)} here, no longer there"
        elif mine and theirs and mine.keys().isdisjoint(theirs):
            reason = f"{_listed(mine)} here, {_listed(theirs)} there"
        if reason:
            named = (names.get(kind, {}) for names in (one.choices, one.rejected, other.choices, other.rejected))
            stems = frozenset(stem for names in named for stem in names.values())
            yield ClaimConflict(
                reason, one, other, stems, frozenset([*(mine or gone), *(theirs or back)]), is_name=True
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _signs(one: Statement, other: Statement) -> Iterator[ClaimConflict]:
    """Plain negation: one says what the other denies, in the same words but for one at most."""
    is_limited = (
        one.scopes != other.scopes
        or bool(one.limits) != bool(other.limits)
        or one.denies_limits != other.denies_limits
        or one.excepts != other.excepts
    )
    if one.denies == other.denies or is_limited:
        return
    shared = same_terms(one.terms, other.terms)
    more = sorted(len(each.terms) - len(shared) for each in (one, other))
    if more == [0, 0] or (more == [0, 1] and len(shared) > 1):
        yield ClaimConflict("denied here" if one.denies else "denied there", one, other, is_sign=True)


def _others(one: Statement, other: Statement) -> Iterator[ClaimConflict]:
    """Another name in the same place: little but the two names is not the same."""
    shared = same_terms(one.terms, other.terms)
    left, right = one.terms - {a for a, _ in shared}, other.terms - {b for _, b in shared}
    mine, theirs = left & one.names, right & other.names
    is_little = max(len(left), len(right)) <= _LITTLE <= len(shared)
    if len(mine) == len(theirs) == 1 and is_little and one.denies == other.denies:
        yield ClaimConflict(f"{_listed(mine)} here, {_listed(theirs)} there", one, other, mine | theirs, is_name=True)


_LITTLE = 2


def same_terms(mine: frozenset[str], theirs: frozenset[str]) -> list[tuple[str, str]]:
    """The terms that two sets share, each with that of the other set; of two sets the same pairs whichever comes first."""
    if sorted(theirs) < sorted(mine):
        return [(a, b) for b, a in same_terms(theirs, mine)]
    exact = mine & theirs
    rest = sorted(theirs - exact)
    found = [(term, term) for term in sorted(exact)]
    for term in sorted(mine - exact):
        match = next((other for other in rest if _is_same(term, other)), None)
        if match is not None:
            rest.remove(match)
            found.append((term, match))
    return found


def _is_same(a: str, b: str) -> bool:
    """Whether one is the beginning of the other, as of a word and its derivation."""
    if a == b or a[:1] != b[:1]:
        return a == b
    short, long = (a, b) if len(a) < len(b) else (b, a)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 5
