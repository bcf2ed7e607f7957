"""Two statements side by side: what they share, and whether they speak of the same thing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import NamedTuple

from memcli.claims.choices import SCOPED
from memcli.claims.claim import Claim
from memcli.claims.lexicon import LIGHT, ROLES, SOFT_SCOPES
from memcli.claims.quantities import CODE, Quantity
from memcli.claims.statement import Statement


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
            if _content(one) not in theirs and _content(other) not in mine:
                yield _pair(one, other, new, old)


def _content(statement: Statement) -> Hashable:
    quantities = tuple((quantity.dimension, quantity.key) for quantity in statement.quantities)
    return statement.stems, quantities, statement.conditions, statement.denies_limits


def _pair(one: Statement, other: Statement, new: Claim, old: Claim) -> StatementPair:
    values = _values(one, other)
    mine, theirs = one.terms - values, other.terms - values
    same = same_terms(mine, theirs)
    common = frozenset(a for a, _ in same)
    left = _unmatched(mine - common, other.conditions)
    right = _unmatched(theirs - {b for _, b in same}, one.conditions)
    subject = _other_subject(one, other, new, old, values, left, right)
    return StatementPair(one, other, common, left, right, subject)


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
    before, after = _before(one), _before(other)
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
    mine, theirs = _after(pair.new), _after(pair.old)
    return any(mine[term] & pair.left and theirs[term] & pair.right for term in mine.keys() & theirs.keys())


def _after(statement: Statement) -> dict[str, set[str]]:
    """For each stem those that stand right after it."""
    found: dict[str, set[str]] = {}
    for first, second in pairwise(statement.stems):
        found.setdefault(first, set()).add(second)
    return found


def _is_elsewhere(conditions: frozenset[str], there: frozenset[str]) -> bool:
    return bool(conditions) and _unmatched(conditions, there) == conditions


def _before(statement: Statement) -> dict[str, set[str]]:
    """For each stem those that stand right before it."""
    found: dict[str, set[str]] = {}
    for first, second in pairwise(statement.stems):
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
