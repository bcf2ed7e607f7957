"""The quota: what is refused before it is made, and what is put off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import RefusedError, UsageError
from memcli.extras.providers.quota import DayLimits, check_call, check_low, dollars, limits
from memcli.model.space import Policy
from memcli.model.usage import NANO, TokenUsage, Total
from memcli.policy.fields import check_policy, in_force, merged

WHO = "openai:m"


def refused(limit: DayLimits, spent: Total, most: TokenUsage) -> bool:
    try:
        check_call(limit, spent, most, WHO, "main")
    except RefusedError:
        return True
    return False


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_no_sequence_of_calls_exceeds_a_limit(limit: int, spent: int, most: int) -> None:
    assert refused(DayLimits(limit), Total(tokens_in=spent), TokenUsage(most, 0)) == (spent + most > limit)
    assert refused(DayLimits(None, limit), Total(nano_usd=spent), TokenUsage(0, 0, most)) == (spent + most > limit)


def test_the_limits_of_a_provider() -> None:
    quota = {"openai": {"tokens_per_day": 100, "usd_per_day": 0.1}, "google": {"usd_per_day": 0}}
    assert limits(quota, "openai") == DayLimits(100, NANO // 10)
    assert limits(quota, "google") == DayLimits(None, 0)
    assert not limits(quota, "anthropic")
    assert limits(quota, "google")
    assert not refused(DayLimits(), Total(tokens_in=10**12), TokenUsage(10**9, 0))


def test_without_a_price_a_limit_in_dollars_refuses() -> None:
    with pytest.raises(RefusedError, match="no price is known for openai:m") as raised:
        check_call(DayLimits(None, NANO), Total(), TokenUsage(1, 1), WHO, "main")
    assert "MEMCLI_PRICES" in raised.value.hint
    check_call(DayLimits(100), Total(), TokenUsage(1, 1), WHO, "main")


@pytest.mark.parametrize(("spent", "is_low"), [(0, False), (80, False), (81, True), (100, True), (500, True)])
def test_work_that_can_wait_does_so_when_less_than_a_fifth_is_left(spent: int, is_low: bool) -> None:
    for limit, total in ((DayLimits(100), Total(tokens_out=spent)), (DayLimits(None, 100), Total(nano_usd=spent))):
        try:
            check_low(limit, total, WHO)
        except RefusedError:
            assert is_low
        else:
            assert not is_low


REFUSED: tuple[tuple[object, str], ...] = (
    ({"openia": {}}, "policy.quota has no provider 'openia'"),
    ({"openai": {"tokens": 5}}, "policy.quota.openai has no part 'tokens'"),
    ({"openai": {"tokens_per_day": -1}}, "policy.quota.openai.tokens_per_day must be at least 0"),
    ({"openai": {"tokens_per_day": 1.5}}, "must be a whole number"),
    ({"openai": {"usd_per_day": float("nan")}}, "must be at least 0"),
    ({"openai": 5}, "policy.quota.openai must be an object"),
    ([], "policy.quota must be an object"),
)


def test_a_quota_that_would_not_hold_is_no_quota() -> None:
    for quota, told in REFUSED:
        with pytest.raises(UsageError, match=told):
            check_policy({"quota": quota})


def test_a_quota_holds_in_a_clone_too_and_is_set_by_provider() -> None:
    policy = Policy(quota={"openai": {"tokens_per_day": 5}})
    assert in_force(policy, is_accepted=False).quota == policy.quota
    assert merged({"quota": {"google": {}}}, {"quota.openai": {"tokens_per_day": 5}}) == {
        "quota": {"google": {}, "openai": {"tokens_per_day": 5}}
    }


def test_dollars() -> None:
    assert [dollars(n) for n in (0, 1, 1_000_000, NANO, 12_345 * NANO)] == [
        "$0.0000", "$0.0001", "$0.0010", "$1.0000", "$12345.0000",
    ]  # fmt: skip
