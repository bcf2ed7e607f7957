"""Test recall: ask what a team expects an answer to, and compare the answers with those of a plain word search."""

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
"""The backend that the answers are compared with."""
DEEP = 100
"""How far a search goes for where something stands that the answer lacks."""

PrintEntry = Callable[[int, Section, Bundle], str]
"""Prints one entry of a bundle, as `Renderer` does among the others."""


class CaseOutcome(Record):
    """A verdict in words that may be printed: the topic, what is missing, with the place where a longer answer has it, and what
    was found though unwanted, with its place. `reason`: why there are no entries. `is_degraded`: by words alone."""

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
    """Asks each case's topic and judges what is printed: what came of the cases, in their order, and the measures of recall
    and of a plain word search. The user-wide store is not asked: it differs between machines.

    Raises UsageError naming file and line for a case that cannot be asked, CorruptError, StoreError.
    """
    expectations = [read_expectation(case) for case in cases]
    answers = _ask(workspace, expectations, render, print_entry)
    quiet = workspace.copy_with(warn=lambda _: None)  # what there is to say has been said
    words = _ask(quiet.copy_with(backend=WORDS), expectations, render, print_entry)
    missed = [verdict.expectation for verdict, _ in answers if verdict.missing]
    deeper = [replace(e, case=replace(e.case, top=depth_of(e.case), budget=None)) for e in missed]
    deep = iter(_ask(quiet, deeper, render, print_entry))
    redact = workspace.redactor.cleaner(workspace.store.policy(workspace.space))

    def shown(want: Want) -> str:
        """What may be printed of an expectation, which may have come with a clone: no secret, and no instructions."""
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
    """The answers and what they amount to, in the order of the expectations. Each space is loaded once."""
    found: dict[int, tuple[CaseVerdict, Bundle]] = {}
    for space in dict.fromkeys(e.case.space for e in expectations):
        asked = workspace.copy_with(is_noted=False, **({"space": space, "is_space_named": True} if space else {}))
        here = [(n, e) for n, e in enumerate(expectations) if e.case.space == space]
        queries = [
            Query(
                topic=e.case.topic, now=workspace.clock(), limit=DEFAULT_LIMIT if e.case.top is None else e.case.top,
                budget=e.case.budget, kinds=e.case.kind, under=e.case.under, at=e.case.at,
            )
            for _, e in here
        ]  # fmt: skip
        bundles = recall(asked, queries, with_global=False, render=render)
        for n, expectation in here:
            try:
                bundle = next(bundles)
            except UsageError as error:
                raise UsageError(f"{expectation.case.place}: {error.message}", error.hint) from None
            entries = []
            for number, section in enumerate(bundle.sections, 1):
                own = (section.memory.id, section.memory.path)  # of a commit one entry stands for all its memories
                names = frozenset(name for pair in (own, *section.also) for name in pair)
                entries.append(AnswerEntry(names, " ".join(print_entry(number, section, bundle).split())))
            is_empty = not entries and bundle.reason != BUDGET_TOO_SMALL
            found[n] = judge(expectation, entries, is_empty), bundle
    return [found[n] for n in range(len(expectations))]


def depth_of(case: Case) -> int:
    """How many entries the longer answer may have, by which a place is found of what the answer lacks."""
    return max(DEEP, DEFAULT_LIMIT if case.top is None else case.top)
