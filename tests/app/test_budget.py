from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.app.budget import fit
from memcli.app.recall import recall
from memcli.errors import UsageError
from memcli.model.recall import BUDGET_TOO_SMALL, NO_MATCH, Bundle, Query, Section
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.render import RENDERERS
from tests.conftest import NOW, memory, open_at, rewrite
from tests.strategies import memories

WORDS = "deploy token cache release branch index vector budget sample window".split()


def bundle(sections: list[Section], always: list[Section] | None = None, **options: object) -> Bundle:
    return Bundle(
        space="main",
        query=Query(topic="a topic", now=NOW, budget=1, **options),  # type: ignore[arg-type]
        sections=tuple(sections),
        always=tuple(always or ()),
        reason=None if sections else NO_MATCH,
        matched=len(sections) + 3 if sections else 0,
        pinned=len(always or ()),
        size=99,
    )


def section(n: int, **fields: object) -> Section:
    texts: dict[str, object] = {
        "raw": f"Word {n} " + "word " * 300, "summary_micro": "micro " * 5, "summary_short": "short " * 20,
        "summary_long": "long " * 60, **fields,
    }  # fmt: skip
    return Section(memory(f"m{n}", **texts), 1.0 - n / 100, {"words": 1.0}, "main", sentence=f"Sentence {n}.")


def ids(found: tuple[Section, ...]) -> list[str]:
    return [section.memory.id for section in found]


sections = st.builds(
    Section,
    memory=memories(),
    score=st.floats(0, 1),
    why=st.just({"words": 0.5}),
    space=st.sampled_from(["main", "other"]),
    sentence=st.text(max_size=60),
)


NAMES = sorted(RENDERERS)
names = st.sampled_from(NAMES)


@settings(max_examples=15)
@given(names, st.lists(sections, max_size=6), st.lists(sections, max_size=3), st.integers(0, 800), st.integers(1, 60))
def test_the_budget_is_never_exceeded_and_a_larger_one_never_shows_less(
    name: str, found: list[Section], pins: list[Section], budget: int, more: int
) -> None:
    render = RENDERERS[name]()
    try:
        fitted = fit(bundle(found, pins), render, budget)
        less = fit(bundle(found), render, budget)
    except UsageError:
        return
    assert count_tokens(render(fitted)) <= budget
    if budget >= 100:
        assert ids(fit(bundle(found), render, budget + more).sections)[: len(less.sections)] == ids(less.sections)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names,
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=2, max_size=120).map(lambda said: " ".join(said).capitalize() + "."),
        min_size=1, max_size=12, unique=True,
    ),
    st.sets(st.integers(0, 11), max_size=4),
    st.sets(st.integers(0, 11), max_size=4),
)  # fmt: skip
def test_a_larger_budget_or_limit_never_answers_less(
    tmp_path_factory: pytest.TempPathFactory, name: str, texts: list[str], pins: set[int], high: set[int]
) -> None:
    workspace = open_at(tmp_path_factory.mktemp("store"))
    told = [
        memory(str(n), raw=t, summary_micro=t[:40], pinned=n in pins, relevance="high" if n in high else "medium")
        for n, t in enumerate(texts)
    ]
    rewrite(workspace.store, lambda space: space.put(told, NOW))
    topic = "token of the release branch"
    budgets = [Query(topic=topic, now=NOW, budget=budget) for budget in range(150, 1500, 150)]
    limits = [Query(topic=topic, now=NOW, limit=limit) for limit in range(1, 14)]
    for queries, render in ((budgets, RENDERERS[name]()), (limits, None)):
        shown = [frozenset(ids(b.sections)) for b in recall(workspace, queries, render=render)]
        assert shown == sorted(shown, key=len)
        assert all(less <= more for less, more in pairwise(shown))


@pytest.mark.parametrize("name", NAMES)
def test_the_best_comes_first_and_shortens_last(name: str) -> None:
    render = RENDERERS[name]()
    found = [section(n) for n in range(5)]
    before: list[str] = []
    for budget in range(60, 3000, 120):
        try:
            fitted = fit(bundle(found), render, budget)
        except UsageError:
            continue
        shown = ids(fitted.sections)
        assert shown == ids(tuple(found))[: len(shown)]
        assert len(shown) >= len(before)
        shortened = [n for n, s in enumerate(fitted.sections) if s.level not in ("long", "raw")]
        assert shortened in ([], [len(shown) - 1]), "only the last one that fits is shortened"
        before = shown
    assert len(before) == 5


def test_the_best_is_there_as_its_one_sentence() -> None:
    render = RENDERERS["prompt"]()
    fitted = fit(bundle([section(n) for n in range(5)]), render, 86)
    assert [s.level for s in fitted.sections] == ["sentence"]
    assert "   Sentence 0.\n" in render(fitted)
    assert "1 of 8 shown." in render(fitted)


def test_what_does_not_fit_is_no_reason_to_say_that_nothing_is_relevant_and_the_empty_frame_is_small() -> None:
    path = "a/" + "very-long-segment-" * 20
    for render in (RENDERERS[name]() for name in NAMES):
        nothing = fit(bundle([section(0, path=path)] * 14), render, 150)
        assert (nothing.sections, nothing.reason) == ((), BUDGET_TOO_SMALL)
        told = render(nothing)
        assert ("17" in told, "none fits" in told or "budget_too_small" in told, "Nothing relevant" in told) == (
            True,
            True,
            False,
        )
        long = Bundle(space="s" * 20, query=Query(topic="word " * 300, now=NOW, budget=60), reason=NO_MATCH)
        for empty in (bundle([]), fit(bundle([section(0)]), render, 60), long):
            assert count_tokens(render(empty)) <= 60


def test_pins_that_do_not_match_get_a_quarter() -> None:
    render = RENDERERS["prompt"]()
    pins = [section(n, pinned=True) for n in range(50, 55)]
    for budget in (300, 600, 1200, 2400):
        fitted = fit(bundle([section(0), section(1)], pins), render, budget)
        without = count_tokens(render(fit(bundle(list(fitted.sections)), render, budget)))
        assert fitted.sections
        bare = replace(fitted, always=(), pinned=0)
        assert count_tokens(render(fitted)) - count_tokens(render(bare)) <= budget // 4
        assert without <= budget
    assert fit(bundle([section(0)], pins), render, 2400).always


def test_json_shortens_sections_instead_of_dropping_them() -> None:
    render = RENDERERS["json"]()
    found = [section(n, metadata={"note": "x" * 400}) for n in range(3)]
    shown = json.loads(render(fit(bundle(found), render, 330)))
    assert [s["id"] for s in shown["sections"]] == ["mem_m0"]
    assert "metadata" not in shown["sections"][0]
    whole = json.loads(render(fit(bundle(found), render, 5000)))
    assert [s["metadata"]["note"] for s in whole["sections"]] == ["x" * 400] * 3
    assert [item["path"] for item in whole["raw"]] == [s["path"] for s in whole["sections"]]


def test_weak_evidence_gets_half_the_budget_but_for_what_would_not_fit() -> None:
    render = RENDERERS["prompt"]()
    sure = bundle([section(n) for n in range(6)])
    weak = replace(sure, confidence=0.3)
    assert "Weak evidence" in render(weak)
    for budget in (300, 800):
        tokens = [count_tokens(render(fit(one, render, budget))) for one in (weak, sure)]
        assert tokens[0] <= budget // 2 < tokens[1] <= budget
    least = min(budget for budget in range(40, 400) if _fits(sure, budget))
    assert _fits(weak, least + 10)


def _fits(found: Bundle, budget: int) -> bool:
    try:
        return bool(fit(found, RENDERERS["prompt"](), budget).sections)
    except UsageError:
        return False
