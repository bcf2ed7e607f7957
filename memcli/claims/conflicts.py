"""Conflicts: in what two statements about the same thing differ.

Two statements side by side: what they share, and whether they speak of the same thing.

Comparing two claims: do they contradict each other, or say the same?
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from memcli.claims.claim import Claim
from memcli.claims.lexicon import LIGHT, ROLES, SCOPED, SOFT_SCOPES
from memcli.claims.statement import Statement
from memcli.claims.values import CODE, Quantity, differ, missing, share_value, values_of
from memcli.claims.words import change_places
from memcli.model.findings import CONTRADICTS, DUPLICATES
from memcli.record import Record


class StatementPair(NamedTuple):
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
        """How many terms each side has at least that the other has not."""
        return min(len(self.left - LIGHT), len(self.right - LIGHT))


def pairs(new: Claim, old: Claim) -> Iterator[StatementPair]:
    """Each statement of one claim beside each of the other that shares a term with it, but for those that both make."""
    mine = {_content(one) for one in new.statements}
    theirs = {_content(one) for one in old.statements}
    for one in new.statements:
        for other in old.statements:
            if one.terms.isdisjoint(other.terms):
                continue
            if _content(one) in theirs or _content(other) in mine:
                continue
            values = _values(one, other)
            same = same_terms(one.terms - values, other.terms - values)
            common = frozenset(a for a, _ in same)
            left = _unmatched(one.terms - values - common, other.conditions)
            right = _unmatched(other.terms - values - {b for _, b in same}, one.conditions)
            subject = _other_subject(one, other, new, old, values, left, right)
            yield StatementPair(one, other, common, left, right, subject)


def _content(statement: Statement) -> Hashable:
    quantities = tuple((quantity.dimension, quantity.key) for quantity in statement.quantities)
    return statement.stems, quantities, statement.conditions, statement.denies_limits


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
    if any(
        _is_about(one, kind) and _is_about(other, kind) for kind in SCOPED & one.choices.keys() & other.choices.keys()
    ):
        return "head"
    if one.labels and other.labels and one.labels.isdisjoint(other.labels):
        return "head"
    if one.scopes ^ other.scopes and not one.scopes & other.scopes:
        hard = (one.scopes | other.scopes) - SOFT_SCOPES
        if hard & (one.scopes ^ other.scopes) or (one.scopes and other.scopes):
            return "scope"
    if _is_elsewhere(one.conditions, old.terms | other.conditions) or _is_elsewhere(
        other.conditions, new.terms | one.conditions
    ):
        return "condition"
    before, after = _neighbours(one, -1), _neighbours(other, -1)
    for term in before.keys() & after.keys():
        if before[term] & left and after[term] & right:
            return "modifier"
    for preposition in one.places.keys() & other.places.keys():
        mine, theirs = one.places[preposition] - values, other.places[preposition] - values
        if mine and theirs and mine <= left and theirs <= right:
            return "place"
    return ""


def _is_about(statement: Statement, kind: str) -> bool:
    """Whether its subject is a name of the class, rather than its value: without a verb that is known, what it begins with."""
    subject = statement.head or frozenset(statement.stems[:1])
    return not subject.isdisjoint(statement.choices[kind].values())


def is_of_others(pair: StatementPair) -> bool:
    """Whether what both do is done to one thing in one, and to another in the other: `retry e-mails`, `retry webhooks`."""
    mine, theirs = _neighbours(pair.new, 1), _neighbours(pair.old, 1)
    return any(mine[term] & pair.left and theirs[term] & pair.right for term in mine.keys() & theirs.keys())


def _neighbours(statement: Statement, step: int) -> dict[str, set[str]]:
    """For each stem those that stand right behind it (`step` 1), or right before it (-1)."""
    found: dict[str, set[str]] = {}
    for first, second in pairwise(statement.stems[::step]):
        found.setdefault(first, set()).add(second)
    return found


def _is_elsewhere(conditions: frozenset[str], there: frozenset[str]) -> bool:
    return bool(conditions) and _unmatched(conditions, there) == conditions


def _unmatched(terms: frozenset[str], there: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in terms if t not in there and not any(_is_same(t, u) for u in there))


def _values(one: Statement, other: Statement) -> frozenset[str]:
    """The terms in which the two are to be compared, and not by which they are matched."""
    found: set[str] = set()
    for axis in one.poles.keys() & other.poles.keys():
        found |= {one.poles[axis][1], other.poles[axis][1]}
    kinds = (one.choices.keys() | one.replaced.keys()) & (other.choices.keys() | other.replaced.keys())
    for kind in kinds:
        both = one.choices.get(kind, {}).keys() & other.choices.get(kind, {}).keys()
        named = (*_named(one, kind).items(), *_named(other, kind).items())
        found |= {stem for name, stem in named if name not in both}
    mine, theirs = by_dimension(one, other), by_dimension(other, one)
    found |= {q.stem for dimension in mine.keys() & theirs.keys() for q in (*mine[dimension], *theirs[dimension])}
    return frozenset(found)


def by_dimension(one: Statement, other: Statement) -> dict[str, list[Quantity]]:
    """The quantities of a statement by what they measure, to be compared with those of another. Where both speak of what
    stands for one thing alone, such as a model, all codes measure the same."""
    is_role = bool(one.head & other.head & ROLES)
    found: dict[str, list[Quantity]] = {}
    for each in one.quantities:
        found.setdefault(CODE if is_role and each.dimension.startswith(CODE) else each.dimension, []).append(each)
    return found


def _named(statement: Statement, kind: str) -> dict[str, str]:
    return {**statement.choices.get(kind, {}), **statement.replaced.get(kind, {})}


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
        yield from found or [*_slots(pair), *_roles_and_names(pair)]


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
        counts_other = (
            dimension == "number"
            and a.nouns
            and b.nouns
            and not (a.nouns & b.nouns or a.nouns & pair.old.terms or b.nouns & pair.new.terms)
        )
        if a.is_approximate == b.is_approximate and not counts_other:
            yield ClaimConflict(QUANTITY, f"{a.text} here, {b.text} there", pair)


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


def _roles_and_names(pair: StatementPair) -> Iterator[ClaimConflict]:
    """Another value of what has one alone, such as a level or a format; another name in the same place."""
    one, other = pair.new, pair.old
    same_head = one.head and other.head and not (pair.left & one.head) and not (pair.right & other.head)
    if same_head and pair.left and pair.right and one.head & other.head & ROLES and pair.both <= _FEW:
        yield ClaimConflict(SLOT, f"{_listed(pair.left)} here, {_listed(pair.right)} there", pair)
    mine, theirs = pair.left & one.names, pair.right & other.names
    if mine and theirs and len(pair.left) <= 2 and len(pair.right) <= 2 and len(pair.common) >= 2:
        yield ClaimConflict("name", f"{_listed(mine)} here, {_listed(theirs)} there", pair)


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
    if not _is_close(new, old, cosine) or not is_compatible(new, old):
        return None
    adds = missing(values_of(old.text), values_of(new.text))
    reason = "the same words" if cosine is None else "the same claim in other words"
    return Relation(DUPLICATES, f"{reason}, but it lacks {adds}" if adds else reason, adds=adds)


def is_compatible(new: Claim, old: Claim) -> bool:
    """Whether nothing in two texts keeps them from saying the same: they are read whole, do not differ in what could be a
    contradiction, speak of the same thing, in the same order, and not each has a value that the other has not."""
    return (
        new.is_whole
        and old.is_whole
        and next(conflicts(new, old), None) is None
        and not any(
            pair.other_subject
            or (
                pair.new.sign != pair.old.sign and not pair.new.poles
            )  # the one denies the other, be it as an exception
            or pair.new.denies_limits != pair.old.denies_limits
            for pair in pairs(new, old)
            if pair.alignment >= _SAME
        )
        and not differ(values_of(new.text), values_of(old.text))
        and not change_places(new.text, old.text)
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
    if pair.other_subject not in ("", "place") or pair.new.is_event or pair.old.is_event or pair.both > _FEW_SHARED:
        return False
    if cosine is None:
        return len(pair.common) >= 2 and pair.alignment >= 0.6
    return cosine >= 0.7 and (len(pair.common) >= 2 or cosine >= 0.8)


_FEW_SHARED = 2


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
