"""What must hold between fields."""

import pytest

from memcli.errors import UsageError
from memcli.policy.draft import check_validity, consistent
from tests.conftest import memory

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def test_an_importance_that_the_kind_has_anyway_is_left_out() -> None:
    assert consistent(memory(kind="decision", importance=0.7)).importance is None
    assert consistent(memory(kind="note", importance=0.5)).importance is None
    assert consistent(memory(kind="decision", importance=0.5)).importance == 0.5
    same = memory(kind="decision")
    assert consistent(same) is same


def test_nothing_ends_before_it_begins() -> None:
    for fields in ({}, {"valid_from": LATE}, {"valid_until": EARLY}, {"valid_from": EARLY, "valid_until": EARLY}):
        check_validity(fields)
        consistent(memory(**fields))
    with pytest.raises(UsageError, match=f"valid_until {EARLY} is before valid_from {LATE}"):
        consistent(memory(valid_from=LATE, valid_until=EARLY))
