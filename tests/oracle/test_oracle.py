"""A few short days; `python -m tests.oracle` runs longer ones."""

from __future__ import annotations

import pytest

from tests.conftest import slow_but
from tests.oracle.__main__ import one_day
from tests.oracle.day import Options

SEEDS = range(1, 9)


@pytest.mark.parametrize("seed", slow_but((1, 2), SEEDS))
def test_a_day_leaves_the_store_as_the_model_says(seed: int) -> None:
    report = one_day(seed, Options(steps=60))
    told = "\n".join([f"seed {seed}, step {report.step}", *report.log, *report.problems])
    assert not report.problems, told
