from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.recall import PASSAGES
from memcli.policy.answer import Forms, fill

levels = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 60)), min_size=1, max_size=5)


def with_more(usual: list[tuple[str, int]], fuller: list[tuple[str, int]], more: list[tuple[int, int]]) -> Forms:
    """Forms whose further passages cost ever more."""
    costs = list(accumulate((cost for _, cost in more), initial=max(cost for _, cost in usual)))
    return Forms(usual, fuller, sorted(place for place, _ in more), costs.__getitem__)


many = st.lists(
    st.builds(
        with_more,
        levels,
        st.lists(st.tuples(st.just("raw"), st.integers(1, 90)), max_size=1),
        st.lists(st.tuples(st.integers(0, 6), st.integers(1, 30)), max_size=4),
    ),
    max_size=6,
)


@given(many, st.integers(0, 400), st.integers(0, 100))
def test_a_larger_budget_takes_the_same_steps_and_perhaps_more(forms: list[Forms], room: int, more: int) -> None:
    less = fill(forms, room)
    assert fill(forms, room + more)[: len(less)] == less


@given(many, st.integers(0, 400))
def test_the_costs_add_up_to_no_more_than_the_room(forms: list[Forms], room: int) -> None:
    last = {place: (level, more) for place, level, more in fill(forms, room)}
    cost = 0
    for place, (level, more) in last.items():
        form = forms[place]
        known = [c for name, c in (*form.usual, *form.fuller) if name == level]
        cost += form.cost_of(more) if more else min(known)
    assert cost <= room


@given(many, st.integers(0, 400))
def test_further_passages_come_in_order_and_behind_their_memory(forms: list[Forms], room: int) -> None:
    shown: dict[int, int] = {}
    for place, level, more in fill(forms, room):
        if level == PASSAGES:
            assert more > shown[place]
            assert all(other in shown for other in range(min(max(forms[place].more[more - 1], place + 1), len(forms))))
        shown[place] = more


def test_the_best_comes_whole_before_the_next_comes_at_all() -> None:
    forms = [Forms([("micro", 5), ("long", 20)], [("raw", 50)]), Forms([("micro", 5), ("long", 20)], [("raw", 30)])]
    assert filled(forms, 19) == {0: "micro"}
    assert filled(forms, 25) == {0: "long", 1: "micro"}
    assert filled(forms, 69) == {0: "long", 1: "long"}
    assert filled(forms, 70) == {0: "raw", 1: "long"}
    assert filled(forms, 80) == {0: "raw", 1: "raw"}


def test_a_further_passage_comes_before_the_memory_that_answers_worse() -> None:
    forms = [Forms([("passage", 10)], more=[1, 2], cost_of=[10, 15, 25].__getitem__), Forms([("passage", 10)])]
    assert fill(forms, 100) == [(0, "passage", 0), (0, PASSAGES, 1), (1, "passage", 0), (0, PASSAGES, 2)]
    assert fill(forms, 16) == [(0, "passage", 0), (0, PASSAGES, 1)]


def filled(forms: list[Forms], room: int) -> dict[int, str]:
    return {place: level for place, level, _ in fill(forms, room)}


def test_a_form_that_costs_no_less_than_a_fuller_one_is_none() -> None:
    assert fill([Forms([("sentence", 9), ("micro", 7), ("long", 7)])], 100) == [(0, "long", 0)]


def test_no_more_is_measured_than_there_is_room_for() -> None:
    measured = []

    def forms() -> Iterator[Forms]:
        for n in range(1000):
            measured.append(n)
            yield Forms([("micro", 10)])

    assert len(fill(forms(), 35)) == 3
    assert len(measured) == 4
