"""Comparing two claims: do they contradict each other, or say the same?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memcli.claims.claim import Claim, Statement
from memcli.claims.lexicon import SOFT_SCOPES
from memcli.claims.quantities import Quantity
from memcli.model.findings import CONTRADICTS, DUPLICATES
from memcli.record import Record


class Finding(Record):
    """What two memories have to do with each other. `kind` is `contradicts` or `duplicates`; `reason` says in what they
    differ, or agree; `newer_holds`: the newer one says that it takes the place of the other."""

    kind: str
    reason: str
    newer_holds: bool = False


class Pair(NamedTuple):
    """Two statements side by side, and how much they are about the same."""

    new: Statement
    old: Statement
    common: frozenset[str]
    left: frozenset[str]
    right: frozenset[str]
    other_subject: str

    @property
    def alignment(self) -> float:
        total = 2 * len(self.common) + len(self.left) + len(self.right)
        return 2 * len(self.common) / total if total else 0.0

    @property
    def both(self) -> int:
        return min(len(self.left), len(self.right))


class Conflict(NamedTuple):
    kind: str
    reason: str
    pair: Pair


def pairs(new: Claim, old: Claim) -> Iterator[Pair]:
    for one in new.statements:
        for other in old.statements:
            yield _pair(one, other, new, old)


def _pair(one: Statement, other: Statement, new: Claim, old: Claim) -> Pair:
    values = _values(one, other)
    mine, theirs = one.terms - values, other.terms - values
    same = _same(mine, theirs)
    common = frozenset(a for a, _ in same)
    left = _unmatched(mine - common, other.conditions)
    right = _unmatched(theirs - {b for _, b in same}, one.conditions)
    subject = _other_subject(one, other, new, old, values, left, right)
    return Pair(one, other, common, left, right, subject)


def _other_subject(
    one: Statement,
    other: Statement,
    new: Claim,
    old: Claim,
    values: frozenset[str],
    left: frozenset[str],
    right: frozenset[str],
) -> str:
    """Why the two speak of different things; empty where nothing says so."""
    if _unmatched(one.head - values, old.terms | other.conditions) and _unmatched(
        other.head - values, new.terms | one.conditions
    ):
        return "head"
    if one.scopes ^ other.scopes:
        hard = (one.scopes | other.scopes) - SOFT_SCOPES
        if hard & (one.scopes ^ other.scopes) or (one.scopes and other.scopes):
            return "scope"
    if _is_elsewhere(one.conditions, old.terms | other.conditions) or _is_elsewhere(
        other.conditions, new.terms | one.conditions
    ):
        return "condition"
    before, after = _before(one), _before(other)
    for term in before.keys() & after.keys():
        if before[term] & left and after[term] & right:
            return "modifier"
    for preposition in one.places.keys() & other.places.keys():
        mine, theirs = one.places[preposition] - values, other.places[preposition] - values
        if mine and theirs and mine <= left and theirs <= right:
            return "place"
    return ""


def _is_elsewhere(conditions: frozenset[str], there: frozenset[str]) -> bool:
    return bool(conditions) and _unmatched(conditions, there) == conditions


def _before(statement: Statement) -> dict[str, set[str]]:
    """For each stem those that stand right before it."""
    found: dict[str, set[str]] = {}
    for first, second in zip(statement.stems, statement.stems[1:], strict=False):
        found.setdefault(second, set()).add(first)
    return found


def _unmatched(terms: frozenset[str], there: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in terms if t not in there and not any(_is_same(t, u) for u in there))


def _values(one: Statement, other: Statement) -> frozenset[str]:
    """The terms in which the two are to be compared, and not by which they are matched."""
    found: set[str] = set()
    for axis in one.poles.keys() & other.poles.keys():
        found |= {one.poles[axis][1], other.poles[axis][1]}
    kinds = (one.choices.keys() | one.replaced.keys()) & (other.choices.keys() | other.replaced.keys())
    for statement in (one, other):
        for kind in kinds:
            found |= {*statement.choices.get(kind, {}).values(), *statement.replaced.get(kind, {}).values()}
    return frozenset(found)


def _same(mine: frozenset[str], theirs: frozenset[str]) -> list[tuple[str, str]]:
    exact = mine & theirs
    found = [(t, t) for t in exact]
    rest = sorted(theirs - exact)
    for term in sorted(mine - exact):
        match = next((other for other in rest if _is_same(term, other)), None)
        if match is not None:
            rest.remove(match)
            found.append((term, match))
    return found


def _is_same(a: str, b: str) -> bool:
    """Whether one is the beginning of the other, as of a word and its derivation."""
    if a == b:
        return True
    short, long = (a, b) if len(a) < len(b) else (b, a)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 5


def conflicts(new: Claim, old: Claim) -> Iterator[Conflict]:
    for pair in pairs(new, old):
        found = [*_quantities(pair), *_choices(pair), *_poles(pair)]
        yield from found or _signs(pair)
        if not found and not [*_signs(pair)]:
            yield from _names(pair)


def _quantities(pair: Pair) -> Iterator[Conflict]:
    mine_all, theirs_all = pair.new.quantities, pair.old.quantities
    for dimension in sorted({q.dimension for q in mine_all} & {q.dimension for q in theirs_all}):
        mine = [q for q in mine_all if q.dimension == dimension]
        theirs = [q for q in theirs_all if q.dimension == dimension]
        if {q.value for q in mine} & {q.value for q in theirs}:
            mine, theirs = [q for q in mine if not q.bound], [q for q in theirs if not q.bound]
            if not mine or not theirs or {q.value for q in mine} & {q.value for q in theirs}:
                continue
        a, b = max(((x, y) for x in mine for y in theirs), key=lambda two: len(two[0].beside & two[1].beside))
        if a.is_approximate == b.is_approximate and (dimension != "number" or _count_same(a, b, pair)):
            yield Conflict("quantity", f"{a.text} here, {b.text} there", pair)


def _count_same(a: Quantity, b: Quantity, pair: Pair) -> bool:
    """Whether two plain numbers stand for the same."""
    if a.noun and b.noun:
        return a.noun == b.noun or a.noun in pair.old.terms or b.noun in pair.new.terms
    return True


def _choices(pair: Pair) -> Iterator[Conflict]:
    one, other = pair.new, pair.old
    for kind in sorted((one.choices.keys() | one.replaced.keys()) & (other.choices.keys() | other.replaced.keys())):
        mine, theirs = one.choices.get(kind, {}), other.choices.get(kind, {})
        gone = one.replaced.get(kind, {}).keys() & theirs.keys()
        back = other.replaced.get(kind, {}).keys() & mine.keys()
        if gone:
            yield Conflict("replaced", f"{_listed(gone)} there, no longer here", pair)
        elif back:
            yield Conflict("replaced", f"{_listed(back)} here, no longer there", pair)
        elif mine and theirs and not mine.keys() & theirs.keys():
            yield Conflict(f"choice {kind}", f"{_listed(mine)} here, {_listed(theirs)} there", pair)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _poles(pair: Pair) -> Iterator[Conflict]:
    one, other = pair.new, pair.old
    for axis in sorted(one.poles.keys() & other.poles.keys()):
        mine, theirs = one.poles[axis], other.poles[axis]
        if mine[0] != theirs[0] and one.sign == other.sign:
            yield Conflict("pole", f"{mine[1]} here, {theirs[1]} there", pair)


def _signs(pair: Pair) -> Iterator[Conflict]:
    one, other = pair.new, pair.old
    turns = sum(one.poles[axis][0] != other.poles[axis][0] for axis in one.poles.keys() & other.poles.keys())
    if one.sign == other.sign or turns or one.has_exception or other.has_exception:
        return
    denied, affirmed, more = (one, other, pair.right) if one.sign < 0 else (other, one, pair.left)
    if denied.is_refusal and not affirmed.is_affirmed and more:
        return
    yield Conflict("sign", "denied here" if one.sign < 0 else "denied there", pair)


def _names(pair: Pair) -> Iterator[Conflict]:
    """Another name in the same place."""
    mine, theirs = pair.left & pair.new.names, pair.right & pair.old.names
    if mine and theirs and len(pair.left) <= 2 and len(pair.right) <= 2 and len(pair.common) >= 2:
        yield Conflict("name", f"{_listed(mine)} here, {_listed(theirs)} there", pair)


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


def closeness(new: Claim, old: Claim) -> tuple[float, float]:
    mine, theirs = evidence(new), evidence(old)
    common = len(_same(mine, theirs))
    return 2 * common / (len(mine) + len(theirs) or 1), common / (min(len(mine), len(theirs)) or 1)


def _duplicate(new: Claim, old: Claim, cosine: float | None) -> Finding | None:
    dice, part = closeness(new, old)
    if cosine is None:
        return Finding(DUPLICATES, "the same words") if dice >= 0.75 else None
    return Finding(DUPLICATES, "the same claim") if cosine + dice >= 1.35 else None
