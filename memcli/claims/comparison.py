"""The comparison of two claims: do they contradict, repeat or concern each other?

Rules find conflicts (a value in which they differ, a plain negation); small logistic models weigh these with the terms they share.
`python tools/fit_claims.py` fits them on labelled pairs of notes and writes `weights.json`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from memcli.claims.claim import Claim, Statement
from memcli.claims.lexicon import change_places
from memcli.claims.values import CODE, Quantity, differ, missing, share_value, values_of
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED
from memcli.record import NamedTuple, Record
from memcli.safety.patterns import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WEIGHTS: Mapping[str, Mapping[str, Any]] = read_json(__package__, "weights.json")
CONFLICT, MATTER = "conflict", "matter"
"""The models beside that of DUPLICATES: whether two statements that differ in a value contradict each other, and whether two
claims are about the same matter."""


class Relation(Record):
    """How a newer memory relates to an older one. `kind` is CONTRADICTS, DUPLICATES or RELATED; `reason` is the difference or
    agreement, for messages; `newer_holds`: the newer one states that it replaces the other. `adds` is the first value that of two
    duplicates only the newer one has: it would be lost if only the older one remained. `score` is the probability that both are
    about the same matter."""

    kind: str
    reason: str
    newer_holds: bool = False
    adds: str = ""
    score: float = 0.0


def compare(new: Claim, old: Claim, cosine: float | None = None) -> Relation | None:
    """The relation of the newer claim to the older one; None if they are about different matters.

    `cosine` is the cosine of the vectors of the two texts, None without an embedder. Two claims that conflict are never duplicates,
    whatever the cosine.
    """
    if not new.statements or not old.statements:
        return None
    # Vectors hold that two texts are near, and almost nothing of whether they are opposed: values and negation
    # decide.
    found = list(conflicts(new, old))
    features = features_of(new, old, found, cosine)
    score = round(probability(MATTER, features), 4)
    weighed = ((1.0 if one.is_sign else probability(CONFLICT, features_of_conflict(one, cosine)), one) for one in found)
    claimed = [(round(each, 4), one.reason) for each, one in weighed if each >= _least(CONFLICT, cosine)]
    if claimed:
        return Relation(CONTRADICTS, max(claimed)[1], new.is_newer, score=score)
    is_likely = probability(DUPLICATES, features) >= _least(DUPLICATES, cosine) and not features["swapped"]
    # A conflict that is too weak to report still rules out a duplicate, so that the check of a write and the one of upkeep
    # never disagree.
    if is_likely and not found and is_compatible(new, old):
        adds = missing(values_of(old.text), values_of(new.text))
        reason = "the same words" if cosine is None else "the same claim in other words"
        return Relation(DUPLICATES, f"{reason}, but it lacks {adds}" if adds else reason, adds=adds, score=score)
    # Rules miss most contradictions, but whoever stores the second note on a matter can tell which one holds.
    return Relation(RELATED, "the same matter", score=score) if score >= _least(MATTER, cosine) else None


def is_compatible(new: Claim, old: Claim) -> bool:
    """Whether two texts can be duplicates: both are read whole, they do not conflict, not each has a value that the other lacks,
    both or neither have an exception, and their words are in the same order."""
    limited = [any(one.excepts or one.denies_limits for one in claim.statements) for claim in (new, old)]
    return (
        new.is_whole
        and old.is_whole
        and next(conflicts(new, old), None) is None
        and limited[0] == limited[1]
        # `The default model is gpt-7` shares nearly all words with `The default model is gpt-4o-mini`, but no value.
        and not differ(values_of(new.text), values_of(old.text))
        # `Deploy to staging before production` and its reverse share all words.
        and not change_places(new.text, old.text)
    )


def features_of(new: Claim, old: Claim, found: Sequence[ClaimConflict], cosine: float | None) -> dict[str, float]:
    """The features of two whole claims: shares of 0..1, logarithms of counts, and 0 or 1 for conditions."""
    values, others = values_of(new.text), values_of(old.text)
    sides = [claim.statements for claim in (new, old)]
    terms = [frozenset(term for one in side for term in one.terms | one.limits) for side in sides]
    scopes = [frozenset(scope for one in side for scope in one.scopes) for side in sides]
    denials = [sum(one.denies for one in side) % 2 for side in sides]
    features = {
        **_shared(terms[0], terms[1], *([one.stems for one in side] for side in sides)),
        "scope": float(scopes[0] != scopes[1]),
        "sign": float(denials[0] != denials[1]),
        "values differ": float(differ(values, others)),
        "value shared": float(share_value(values, others)),
        "value added": float(bool(missing(values, others)) != bool(missing(others, values))),
        "name": float(any(one.is_name for one in found)),
    }
    return features if cosine is None else {**features, "cosine": cosine}


def features_of_conflict(found: ClaimConflict, cosine: float | None) -> dict[str, float]:
    """The features by which `CONFLICT` decides whether two statements with different values are about the same thing."""
    one, other = found.one, found.other
    mine, theirs = one.terms - found.values, other.terms - found.values
    left, right = _unmatched(mine, theirs)
    features = {
        **_shared(
            mine, theirs, *([[stem for stem in each.stems if stem not in found.values]] for each in (one, other))
        ),
        "head": float(not left.isdisjoint(one.head) and not right.isdisjoint(other.head)),
        "scope": float(one.scopes != other.scopes),
        "subject": float(found.is_name and bool(one.head & found.values) and bool(other.head & found.values)),
    }
    return features if cosine is None else {**features, "cosine": cosine}


_Stems = Sequence[Sequence[str]]


def _shared(mine: frozenset[str], theirs: frozenset[str], stems: _Stems, others: _Stems) -> dict[str, float]:
    """Features of two sets of terms: their overlap, 0..1, and the logarithms of the counts of unshared terms. `modifier`: on both
    sides an unshared term is next to the same shared word, as in `retry e-mails` and `retry webhooks`. `swapped`: a statement of
    each side is the same but for its unshared terms."""
    left, right = _unmatched(mine, theirs)
    is_other = False
    for step in (1, -1):
        before = {a for side in stems for a, b in pairwise(side[::step]) if b in left}
        is_other |= any(a in before for side in others for a, b in pairwise(side[::step]) if b in right)
    # Two statements that differ in one word, as those of two worker time-outs, are about different things.
    frames = (
        [["" if stem in alone else stem for stem in side] for side in sides]
        for sides, alone in ((stems, left), (others, right))
    )
    is_swapped = bool(left) and bool(right) and next(frames) == next(frames)
    counts = sorted((len(left), len(right)))
    total = len(mine) + len(theirs)
    return {
        "overlap": (total - sum(counts)) / (total or 1),
        "fewest": math.log1p(counts[0]),
        "most": math.log1p(counts[1]),
        "modifier": float(is_other),
        "swapped": float(is_swapped),
    }


def _unmatched(mine: frozenset[str], theirs: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of each of two sets that the other lacks."""
    shared = same_terms(mine, theirs)
    return mine - {a for a, _ in shared}, theirs - {b for _, b in shared}


def probability(model: str, features: Mapping[str, float]) -> float:
    """The probability that a model assigns, 0..1: by its weights for features with a cosine, or for those without."""
    weights = _WEIGHTS[model]["meaning" if "cosine" in features else "words"]
    total: float = weights["bias"] + sum(weights[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-total))


def _least(model: str, cosine: float | None) -> float:
    """The probability from which on the answer of a model is yes."""
    least: float = _WEIGHTS[model]["words" if cosine is None else "meaning"]["least"]
    return least


_NONE: frozenset[str] = frozenset()


class ClaimConflict(NamedTuple):
    """A difference of two statements. `values` are the stems of the differing values, if `is_name` those of names of one class;
    `keys` identify the values; `is_sign`: one statement denies the other."""

    reason: str
    one: Statement
    other: Statement
    values: frozenset[str] = _NONE
    keys: frozenset[str] = frozenset([""])
    is_name: bool = False
    is_sign: bool = False


def conflicts(new: Claim, old: Claim) -> Iterator[ClaimConflict]:
    """The conflicts of the statements of two claims, except of statements that both make."""
    mine, theirs = ({_content(one) for one in claim.statements} for claim in (new, old))
    both = _keys(new) & _keys(old)
    for one in new.statements:
        for other in old.statements:
            # Statements about different things do not conflict: rack 7 and rack 8, staging and production.
            labels = ((one.labels, other.labels), (one.scopes, other.scopes))
            is_of_another = any(a and b and a.isdisjoint(b) for a, b in labels)
            if not is_of_another and _content(one) not in theirs and _content(other) not in mine:
                if _is_reversed(one, other):
                    reason = f"{' '.join(other.instead.values())} here, {' '.join(one.instead.values())} there"
                    yield ClaimConflict(reason, one, other, is_sign=True)
                    continue
                found = [*_quantities(one, other), *_names(one, other)]
                yield from (
                    [each for each in found if not each.keys <= both]
                    if found
                    else [*_signs(one, other)] or [*_others(one, other)]
                )


def _keys(claim: Claim) -> frozenset[str]:
    """The keys of all quantities and names of a claim, chosen or rejected."""
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
        # Two statements with several numbers of one dimension are like rows of tables: which belong together is unknown.
        if any(_is_equal(x, y) for x in mine for y in theirs) or (len(mine) > 1 and len(theirs) > 1):
            continue
        a, b = max(((x, y) for x in mine for y in theirs), key=lambda two: len(two[0].beside & two[1].beside))
        if a.is_approximate == b.is_approximate:
            keys = frozenset(f"{each.dimension} {each.key}" for each in (a, b))
            found.append(ClaimConflict(f"{a.text} here, {b.text} there", one, other, frozenset((a.stem, b.stem)), keys))
    # Statements that differ in several numbers describe different cases rather than contradict each other.
    return found if len(found) == 1 else []


def _is_equal(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities of one dimension are equal, or as close as 30 days and a month, or 1 MB and 1 MiB."""
    if isinstance(one.value, str) or isinstance(other.value, str) or one.dimension not in _ROUNDED:
        return one.value == other.value
    return abs(one.value - other.value) <= _ROUNDED[one.dimension] * max(one.value, other.value)


_ROUNDED = {"time": 0.02, "period": 0.02, "size": 0.05}
"""The relative difference up to which two values in different units are equal, by dimension."""


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
        if gone and back:  # "A instead of B" and "B instead of A"
            reason = f"{_listed(mine)} here, {_listed(theirs)} there"
        elif gone:
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


def _is_reversed(one: Statement, other: Statement) -> bool:
    """Whether each statement prefers what the other one rejects for it, as "tabs, not spaces" and "spaces, not tabs", about the
    same subject."""
    reversed_words = {*one.instead, *other.instead, *_MARKERS}
    if not one.instead or not (one.instead.keys() <= other.chosen.keys() and other.instead.keys() <= one.chosen.keys()):
        return False
    about, others = (each.terms - reversed_words for each in (one, other))
    return about == others and one.scopes == other.scopes and one.limits == other.limits


_MARKERS = ("instead", "rather")
"""The words of `instead of` and `rather than`, which are no part of the subject."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _signs(one: Statement, other: Statement) -> Iterator[ClaimConflict]:
    """Plain negation: one statement denies the other, in the same words but for at most one."""
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
    """Another name in the same position: the statements are the same except for the two names and at most one other term."""
    shared = same_terms(one.terms, other.terms)
    left, right = one.terms - {a for a, _ in shared}, other.terms - {b for _, b in shared}
    mine, theirs = left & one.names.keys(), right & other.names.keys()
    is_little = max(len(left), len(right)) <= _LITTLE <= len(shared)
    if len(mine) == len(theirs) == 1 and is_little and one.denies == other.denies:
        named = [of.names[stem] for of, stems in ((one, mine), (other, theirs)) for stem in stems]
        yield ClaimConflict(f"{named[0]} here, {named[1]} there", one, other, frozenset(mine | theirs), is_name=True)


_LITTLE = 2


def same_terms(mine: frozenset[str], theirs: frozenset[str]) -> list[tuple[str, str]]:
    """Pairs of the same term, or of a word and its derivation, one of each set; symmetric in the two sets."""
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
    """Whether two stems are equal or one is a prefix of the other, as of a word and its derivation."""
    if a == b or a[:1] != b[:1]:
        return a == b
    short, long = (a, b) if len(a) < len(b) else (b, a)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 5
