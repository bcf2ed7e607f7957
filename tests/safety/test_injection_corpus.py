"""How much of a labelled set is found and how much of what looks alike is hurt, in both halves."""

from __future__ import annotations

import pytest

from memcli.safety.injection.screening import inspect
from tests.conftest import memory
from tests.safety.injection_corpus import benign, hostile, is_held_out


def _share(items: list[tuple[str, dict[str, object]]], *, held_out: bool) -> float:
    mine = [fields for _, fields in items if is_held_out(fields) == held_out]
    return sum(inspect(memory(**fields)) is not None for fields in mine) / len(mine)


def test_the_sets_are_large_enough() -> None:
    assert len(hostile()) >= 370
    assert len(benign()) >= 340


@pytest.mark.parametrize("held_out", [False, True])
def test_most_of_what_is_hostile_is_found_and_little_of_what_is_harmless(held_out: bool) -> None:
    assert _share(hostile(), held_out=held_out) >= 0.9
    assert _share(benign(), held_out=held_out) <= 0.035
