"""A few short simulations; `python -m tests.simulation` runs longer ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import slow_but
from tests.faults.scene import warm_up
from tests.simulation.__main__ import simulate
from tests.simulation.model import Memory, Seen, compare, merged

SEEDS = (1, 2, 3)
STEPS = 12


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Imports what commands need, once, so that their forks need not."""
    warm_up()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands run in forks")
@pytest.mark.parametrize("seed", slow_but((1,), SEEDS))
def test_git_loses_nothing_and_stays_clean(seed: int, tmp_path: Path) -> None:
    report = simulate(seed, list(range(1, STEPS + 1)))
    told = "\n".join([f"seed {seed}, step {report.step}", *report.log, *report.problems])
    assert not report.problems, told
    assert report.checks > report.steps == STEPS


def test_the_model_sees_what_is_lost() -> None:
    one, other = Memory(frozenset(("one",))), Memory(frozenset(("other",)), marks=frozenset("2"))
    assert merged({"a": one}, {}, {"a": one}) == {}
    assert merged({"a": one}, {}, {"a": other}) == {"a": other}
    third = Memory(frozenset(("third",)), marks=frozenset("3"))
    both = merged({"a": one}, {"a": other}, {"a": third})
    found = Seen("the other", True, "the other, third")
    problems, decided = compare(both, {"a": found})
    assert (problems, decided["a"].words) == ([], {"other"})
    assert compare(both, {"a": Seen("the other", True, "the other")})[0]
    assert compare(both, {"a": Seen("one", True, "third, other")})[0]
    assert compare(both, {"a": Seen("other", False, "third, other")})[0]
    assert compare(both, {})[0] == ["lost: a"]
    assert compare({}, {"a": found})[0] == ["came from nowhere: a"]


def test_the_model_lets_a_newer_text_replace_what_a_merge_chose() -> None:
    one, other, newer = (Memory(frozenset((word,)), marks=frozenset((word,))) for word in ("one", "other", "newer"))
    _, base = compare(merged({}, {"a": one}, {"a": other}), {"a": Seen("other", True, "one")})
    revived = {"a": replace(base["a"], marks=frozenset("2"))}
    edited = {"a": replace(newer, lasting=base["a"].lasting)}
    expected = merged(base, edited, revived)
    assert compare(expected, {"a": Seen("newer", True, "one")})[0] == []
    assert compare(expected, {"a": Seen("newer", True, "other")})[0] == ["lost: the other text of a: one"]
    assert merged(base, edited, {"a": one})["a"].lasting == {"one", "newer"}
