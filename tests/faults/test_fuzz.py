"""The same fuzzing with a mutator of our own; `python -m tests.faults.fuzz` is the long one."""

from __future__ import annotations

import pytest

from tests.conftest import slow_but
from tests.faults.fuzz import TARGETS, mutations, seeds


@pytest.mark.parametrize("count", slow_but((500,), [500, 2000]))
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_no_input_breaks_it(target: str, count: int) -> None:
    for data in mutations(seeds(target), count):
        try:
            TARGETS[target](data)
        except Exception as error:
            raise AssertionError(f"{target}: {data!r}") from error
