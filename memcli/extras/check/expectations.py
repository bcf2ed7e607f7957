"""Compares the results of recall with expectations, and measures them: recall@k, MRR and the share of passed cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from memcli.code.globs import glob_expression
from memcli.errors import UsageError
from memcli.record import Record
from memcli.safety.patterns import MAX_PATTERN, compile_pattern

_WILDCARD = re.compile(r"[*?\[]")


class Case(Record, kw_only=True):
    """A topic, what its result must and must not contain, and the options of the search; None and "" stand for the defaults.

    `answers` are alternative patterns: one printed passage must match one of them. With `empty`, nothing may match. `type` is
    the label of the case in a question set.
    """

    file: str
    line: int
    topic: str
    must_include: tuple[str, ...] = ()
    must_not_include: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    empty: bool = False
    top: int | None = None
    budget: int | None = None
    kind: tuple[str, ...] = ()
    under: str = ""
    space: str = ""
    at: str | None = None
    type: str = ""
    allows_python_patterns: bool = False

    @property
    def place(self) -> str:
        """The file and line of the case, as `file:line`."""
        return f"{self.file}:{self.line}"


AnswerEntry = tuple[frozenset[str], str]
"""One entry of a result: the ids and paths that it stands for, and its printed text with white space collapsed."""


class Want(Record):
    """A condition that an entry may meet: its text matches one of `patterns` or, without patterns, one of its names is `text`
    or matches `glob`."""

    text: str
    glob: Any = None
    patterns: tuple[Any, ...] = ()


class Expectation(Record):
    """A case with compiled patterns. Each of `targets` must be met by an entry, and none of `unwanted`."""

    case: Case
    targets: tuple[Want, ...]
    unwanted: tuple[Want, ...]


class CaseVerdict(Record):
    """The comparison of a result with a case: for each target, the rank of the first entry that meets it, or None; and each
    unwanted condition that an entry meets, with its rank. `size` is the number of entries. `is_empty`: nothing matched."""

    expectation: Expectation
    places: tuple[int | None, ...]
    unwanted: tuple[tuple[Want, int], ...]
    size: int
    is_empty: bool

    @property
    def missing(self) -> list[Want]:
        """The targets that no entry meets."""
        return [want for want, place in zip(self.expectation.targets, self.places, strict=True) if place is None]

    @property
    def has_passed(self) -> bool:
        """Whether the result meets all expectations."""
        return not (self.missing or self.unwanted) and (self.is_empty or not self.expectation.case.empty)


class Measures(Record):
    """The sums over many verdicts. Of `targeted` cases, which have targets, `answered` miss none. `recall` (the mean share of
    targets that are met) and `mrr` (the mean of 1 / rank of the first) are means over these; None if there are none."""

    cases: int
    passed: int
    targeted: int
    answered: int
    recall: float | None
    mrr: float | None


def read_expectation(case: Case) -> Expectation:
    """The case with its patterns compiled. Raises UsageError naming file and line of an invalid pattern."""
    targets = [_want(text, "must_include", case) for text in case.must_include]
    if case.answers:
        shown = " or ".join(f"/{pattern}/" for pattern in case.answers)
        targets.append(Want(shown, patterns=tuple(_compiled(text, "answers", case) for text in case.answers)))
    return Expectation(
        case, tuple(targets), tuple(_want(text, "must_not_include", case) for text in case.must_not_include)
    )


def judge(expectation: Expectation, entries: Sequence[AnswerEntry], is_empty: bool) -> CaseVerdict:
    """Compares the entries of a result, best first, with an expectation."""
    unwanted = [(want, _place(want, entries)) for want in expectation.unwanted]
    return CaseVerdict(
        expectation,
        tuple(_place(want, entries) for want in expectation.targets),
        tuple((want, place) for want, place in unwanted if place is not None),
        len(entries),
        is_empty,
    )


def measure(verdicts: Sequence[CaseVerdict]) -> Measures:
    """Sums up the verdicts."""
    targeted = [verdict for verdict in verdicts if verdict.places]
    found = [[place for place in verdict.places if place is not None] for verdict in targeted]
    return Measures(
        len(verdicts),
        sum(verdict.has_passed for verdict in verdicts),
        len(targeted),
        sum(not verdict.missing for verdict in targeted),
        _mean([len(places) / len(verdict.places) for places, verdict in zip(found, targeted, strict=True)]),
        _mean([1 / min(places) if places else 0.0 for places in found]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _place(want: Want, entries: Sequence[AnswerEntry]) -> int | None:
    """The rank, from 1, of the first entry that meets a condition; None if none does."""
    for place, (names, text) in enumerate(entries, 1):
        if want.patterns:
            is_met = any(pattern.search(text) for pattern in want.patterns)
        else:
            globbed = want.glob is not None and any(map(want.glob.fullmatch, names))
            is_met = globbed or want.text in names
        if is_met:
            return place
    return None


def _want(text: str, key: str, case: Case) -> Want:
    """The condition that a text of a case stands for: a /pattern/, a glob, or a name. Raises UsageError."""
    if text.startswith("/"):
        if len(text) < 3 or not text.endswith("/"):
            raise UsageError(f"{case.place}: {key} {text[:80]!a} is not a /pattern/", "write a slash at both ends")
        return Want(text, patterns=(_compiled(text[1:-1], key, case),))
    if not _WILDCARD.search(text):
        return Want(text)
    try:
        return Want(text, compile_pattern(glob_expression(text, key), key))
    except UsageError:
        raise UsageError(
            f"{case.place}: {key} {text[:80]!a} is not a path glob", "close the brackets; {a,b} and ! are not supported"
        ) from None


def _compiled(text: str, key: str, case: Case) -> Any:
    """The compiled pattern. Raises UsageError naming file and line."""
    # By RE2, in linear time, since a file of tests may come with a clone; the slower syntax of Python is for question sets
    # alone, which only the user names.
    try:
        return compile_pattern(f"(?i){text}", key)
    except UsageError as error:
        if case.allows_python_patterns and len(text) <= MAX_PATTERN:
            with suppress(re.error, OverflowError, RecursionError):
                return re.compile(text, re.IGNORECASE)
        raise UsageError(f"{case.place}: {error.message}", error.hint) from None
