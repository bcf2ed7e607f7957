"""Runs recall tests: recalls the topic of each case, judges the result, and compares it with that of a plain word search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.extras.check.expectations import (
    AnswerEntry,
    Case,
    CaseVerdict,
    Expectation,
    Measures,
    Want,
    judge,
    measure,
    read_expectation,
)
from memcli.model.memory import Json
from memcli.model.recall import BUDGET_TOO_SMALL, DEFAULT_LIMIT, Bundle, Query, Section
from memcli.ports import Renderer
from memcli.record import Record, replace
from memcli.safety.injection import find_reasons

WORDS = "basic"
"""The backend of the plain word search."""
DEEP = 100
"""The number of entries among which a target is looked for that the result lacks, to report its rank."""

PrintEntry = Callable[[int, Section, Bundle], str]
"""Renders one entry of a bundle, from its number (from 1), its section and the bundle, as a `Renderer` prints it."""


class CaseOutcome(Record):
    """A verdict in texts that may be printed. `missing` has each target without an entry and its rank in a longer result, None
    if that lacks it, too; `unwanted` has each unwanted entry and its rank. `reason` explains a result without entries.
    `is_degraded`: recall searched by words alone."""

    verdict: CaseVerdict
    topic: str
    missing: tuple[tuple[str, int | None], ...]
    unwanted: tuple[tuple[str, int], ...]
    reason: str
    is_degraded: bool

    @property
    def case(self) -> Case:
        """What was tested."""
        return self.verdict.expectation.case

    def to_json(self) -> dict[str, Json]:
        first = [place for place in self.verdict.places if place is not None]
        return {
            "file": self.case.file,
            "line": self.case.line,
            "topic": self.topic,
            "passed": self.verdict.has_passed,
            "entries": self.verdict.size,
            "found": len(first),
            "expected": len(self.verdict.places),
            "place": min(first, default=None),
            "missing": [{"what": what, "place": place} for what, place in self.missing],
            "unwanted": [{"what": what, "place": place} for what, place in self.unwanted],
            **({"type": self.case.type} if self.case.type else {}),
        }


def run_cases(
    workspace: Workspace, cases: Iterable[Case], render: Renderer, print_entry: PrintEntry
) -> tuple[list[CaseOutcome], Measures, Measures]:
    """Recalls the topic of each case and judges the printed entries. Returns the outcomes in the order of the cases, and the
    measures of recall and of a plain word search.

    Raises UsageError naming file and line for an invalid case, CorruptError, StoreError.
    """
    expectations = [read_expectation(case) for case in cases]
    answers = _ask(workspace, expectations, render, print_entry)
    quiet = workspace.copy_with(warn=lambda _: None)  # the first search has printed all warnings
    words = _ask(quiet.copy_with(backend=WORDS), expectations, render, print_entry)
    missed = [verdict.expectation for verdict, _ in answers if verdict.missing]
    # Without the budget, so that the rank is found of a target that only the budget cut off.
    deeper = [replace(e, case=replace(e.case, top=depth_of(e.case), budget=None)) for e in missed]
    deep = iter(_ask(quiet, deeper, render, print_entry))
    redact = workspace.redactor.cleaner(workspace.store.policy(workspace.space))

    def shown(want: Want) -> str:
        """The text of an expectation, redacted, if it contains no instructions."""
        # Tests may come with a clone, and their output may be read by a language model.
        text = redact(want.text)
        return "(not shown: it contains instructions)" if find_reasons(text) else text

    outcomes = []
    for verdict, bundle in answers:
        places = (next(deep)[0] if verdict.missing else verdict).places
        ranked = zip(verdict.expectation.targets, verdict.places, places, strict=True)
        outcomes.append(
            CaseOutcome(
                verdict,
                bundle.query.topic,
                tuple((shown(want), deeper_place) for want, place, deeper_place in ranked if place is None),
                tuple((shown(want), place) for want, place in verdict.unwanted),
                bundle.reason or "",
                bundle.degraded,
            )
        )
    return outcomes, measure([verdict for verdict, _ in answers]), measure([verdict for verdict, _ in words])


def _ask(
    workspace: Workspace, expectations: Sequence[Expectation], render: Renderer, print_entry: PrintEntry
) -> list[tuple[CaseVerdict, Bundle]]:
    """The verdict and the bundle for each expectation, in order. Raises UsageError naming file and line of an invalid case."""
    found: dict[int, tuple[CaseVerdict, Bundle]] = {}
    for space in dict.fromkeys(e.case.space for e in expectations):  # by space, so that each is loaded once
        searched = workspace.copy_with(is_noted=False, **({"space": space, "is_space_named": True} if space else {}))
        here = [(n, e) for n, e in enumerate(expectations) if e.case.space == space]
        queries = [
            Query(
                topic=e.case.topic, now=workspace.clock(), limit=DEFAULT_LIMIT if e.case.top is None else e.case.top,
                budget=e.case.budget, kinds=e.case.kind, under=e.case.under, at=e.case.at,
            )
            for _, e in here
        ]  # fmt: skip
        # Without the user-wide store, so that a test gives the same result on all machines.
        bundles = recall(searched, queries, with_global=False, render=render)
        for n, expectation in here:
            try:
                bundle = next(bundles)
            except UsageError as error:
                raise UsageError(f"{expectation.case.place}: {error.message}", error.hint) from None
            entries: list[AnswerEntry] = []
            for number, section in enumerate(bundle.sections, 1):
                own = (section.memory.id, section.memory.path)
                # One entry stands for all memories of a commit: any of their names satisfies a target.
                names = frozenset(name for pair in (own, *section.also) for name in pair)
                # By what is printed: a memory that is ranked may be shown by its heading alone.
                entries.append((names, " ".join(print_entry(number, section, bundle).split())))
            # Where the budget is too small, something matched.
            is_empty = not entries and bundle.reason != BUDGET_TOO_SMALL
            found[n] = judge(expectation, entries, is_empty), bundle
    return [found[n] for n in range(len(expectations))]


def depth_of(case: Case) -> int:
    """The limit of the longer search that finds the rank of a target which the result of the case lacks."""
    return max(DEEP, DEFAULT_LIMIT if case.top is None else case.top)
