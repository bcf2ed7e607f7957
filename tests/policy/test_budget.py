from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from memcli.policy.budget import Forms, fill

levels = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 60)), min_size=1, max_size=5)
many = st.lists(
    st.builds(Forms, levels, st.lists(st.tuples(st.just("raw"), st.integers(1, 90)), max_size=1)), max_size=6
)


@given(many, st.integers(0, 400), st.integers(0, 100))
def test_a_larger_budget_takes_the_same_steps_and_perhaps_more(forms: list[Forms], room: int, more: int) -> None:
    less = fill(forms, room)
    assert fill(forms, room + more)[: len(less)] == less


@given(many, st.integers(0, 400))
def test_the_costs_add_up_to_no_more_than_the_room(forms: list[Forms], room: int) -> None:
    cost = 0
    for place, level in dict(fill(forms, room)).items():
        cost += min(c for name, c in (*forms[place].usual, *forms[place].fuller) if name == level)
    assert cost <= room


def test_the_best_comes_whole_before_the_next_comes_at_all() -> None:
    forms = [Forms([("micro", 5), ("long", 20)], [("raw", 50)]), Forms([("micro", 5), ("long", 20)], [("raw", 30)])]
    assert dict(fill(forms, 19)) == {0: "micro"}
    assert dict(fill(forms, 25)) == {0: "long", 1: "micro"}
    assert dict(fill(forms, 69)) == {0: "long", 1: "long"}
    assert dict(fill(forms, 70)) == {0: "raw", 1: "long"}
    assert dict(fill(forms, 80)) == {0: "raw", 1: "raw"}


def test_a_form_that_costs_no_less_than_a_fuller_one_is_none() -> None:
    assert fill([Forms([("sentence", 9), ("micro", 7), ("long", 7)])], 100) == [(0, "long")]


def test_no_more_is_measured_than_there_is_room_for() -> None:
    measured = []

    def forms() -> Iterator[Forms]:
        for n in range(1000):
            measured.append(n)
            yield Forms([("micro", 10)])

    assert len(fill(forms(), 35)) == 3
    assert len(measured) == 4
