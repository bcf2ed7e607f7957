from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.recall import LEVELS
from memcli.model.tokens import count_tokens
from memcli.policy.budget import FIDELITY, Item, fill

items = st.builds(
    Item,
    value=st.floats(0.05, 1),
    costs=st.lists(st.integers(0, 60), min_size=4, max_size=4).map(lambda c: tuple(sorted(c))),
)


def worth(found: list[Item], levels: list[str | None]) -> float:
    return sum(i.value * FIDELITY[LEVELS.index(level)] for i, level in zip(found, levels, strict=True) if level)


def cost(found: list[Item], levels: list[str | None]) -> int:
    return sum(i.costs[LEVELS.index(level)] for i, level in zip(found, levels, strict=True) if level)


@given(st.lists(items, max_size=30), st.integers(-5, 3000))
def test_a_plan_never_exceeds_the_budget(found: list[Item], budget: int) -> None:
    assert cost(found, fill(found, budget)) <= max(0, budget)


@given(st.lists(items, max_size=4), st.integers(0, 200))
def test_a_plan_is_the_best_there_is(found: list[Item], budget: int) -> None:
    every = product([None, *LEVELS], repeat=len(found))
    best = max((worth(found, list(plan)) for plan in every if cost(found, list(plan)) <= budget), default=0.0)
    assert worth(found, fill(found, budget)) >= best - 1e-6


def test_what_is_worth_more_appears_more_fully() -> None:
    costs = (10, 20, 40, 80)
    assert fill([Item(1.0, costs), Item(0.1, costs)], 90) == ["raw", "micro"]


def test_tokens_are_rather_too_many() -> None:
    assert count_tokens("") == 0
    assert count_tokens("The quick brown fox jumps over the lazy dog.") >= 10
    assert count_tokens("def load_ssl_context(verify=True):") >= 10
    assert count_tokens("数据库") == 3
    assert count_tokens("x" * 400) == 100


@given(st.text(), st.text())
def test_tokens_of_the_whole_are_about_those_of_the_parts(first: str, second: str) -> None:
    parts = count_tokens(first) + count_tokens(second)
    assert abs(count_tokens(first + second) - parts) <= 1
