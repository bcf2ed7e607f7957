"""How much of a labelled set is found and how much of what looks alike is hurt, in both halves."""

from __future__ import annotations

from typing import Any

from memcli.safety.screening import inspect
from tests.conftest import memory
from tests.safety.injection_corpus import benign, hostile, is_held_out


def test_most_of_what_is_hostile_is_found_and_little_of_what_is_harmless() -> None:
    assert (len(hostile()) >= 370, len(benign()) >= 340) == (True, True)
    for half in (False, True):
        assert _share(hostile(), half) >= 0.9
        assert _share(benign(), half) <= 0.035


def _share(items: list[dict[str, Any]], held_out: bool) -> float:
    mine = [fields for fields in items if is_held_out(fields) == held_out]
    return sum(inspect(memory(**fields)) is not None for fields in mine) / len(mine)
