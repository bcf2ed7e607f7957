"""Addresses, prices, schemas and quotas, without a server."""

from __future__ import annotations

from contextlib import nullcontext
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.extras.providers.quota import DayLimits, check_call, check_low, dollars, limits
from memcli.extras.providers.table import (
    PROVIDERS,
    address,
    check_prices,
    credential,
    key_variable,
    list_prices,
    price_of,
    priced,
    read_prices,
    shown,
)
from memcli.extras.providers.wire import body, sent_schema
from memcli.model.conversation import PROVIDERS as NAMES
from memcli.model.conversation import Prompt, model_name
from memcli.model.space import Policy
from memcli.model.usage import NANO, TokenUsage, Total
from memcli.policy.fields import check_policy, merged, tightened


def test_addresses() -> None:
    assert tuple(PROVIDERS) == NAMES
    hosts = {
        "": "http://127.0.0.1:11434/v1", "0.0.0.0": "http://127.0.0.1:11434/v1", "0.0.0.0:80": "http://127.0.0.1:80/v1",
        ":5050": "http://127.0.0.1:5050/v1", "box": "http://box:11434/v1", "box:1": "http://box:1/v1",
        "http://box:1/": "http://box:1/v1", "https://box": "https://box/v1", "https://box/ollama/v1/": "https://box/ollama/v1",
        "[::1]:7": "http://[::1]:7/v1", "[::]": "http://127.0.0.1:11434/v1",
    }  # fmt: skip
    assert {host: address(PROVIDERS["ollama"], {"OLLAMA_HOST": host}) for host in hosts} == hosts
    for url in ("ftp://x", "x.example", "http://", "http://x:99999", "http://[", "javascript:alert(1)"):
        with pytest.raises(ProviderError, match="OPENAI_BASE_URL is no address") as raised:
            address(PROVIDERS["openai"], {"OPENAI_BASE_URL": url})
        assert url not in raised.value.message
    assert shown("https://ann:pass@host:8/v1?key=secret#x") == "https://host:8/v1"


def test_the_first_key_that_is_set_counts() -> None:
    google = PROVIDERS["google"]
    assert credential(google, {"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": " b\n"}) == {"api_key": "b"}
    assert key_variable(google, {"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}) == "GEMINI_API_KEY"
    assert credential(google, {}) == {}


def test_prices_are_found_by_name_and_not_by_the_beginning_of_one() -> None:
    mini = (Decimal("0.25"), Decimal(2))
    prices = {
        "openai:gpt-5-mini": mini, "openai:gpt-5-mini-2025-08-07": mini, "openai:gpt-5-pro": None,
        "anthropic:claude-haiku-4-5-20251001": (1, 5), "ollama:llama3.2:1b": (0, 0), "custom:x": None,
    }  # fmt: skip
    assert {name: price_of(model_name(name), list_prices()) for name in prices} == prices
    assert priced(TokenUsage(1, 0), (Decimal("0.0001"), Decimal(0))) == TokenUsage(1, 0, 1), "rounded up"
    large = TokenUsage(1_000_000, 500_000)
    assert priced(large, mini) == TokenUsage(1_000_000, 500_000, 1_250_000_000)
    assert priced(TokenUsage(5, 5), None) == TokenUsage(5, 5, None)


def test_every_price_is_one_of_a_model_and_answers_cost_no_less_than_questions() -> None:
    prices = list_prices()
    assert prices == check_prices({name: list(price) for name, price in prices.items()})
    for name, (sent, received) in prices.items():
        assert received >= sent or "embedding" in name, name
    assert prices["google:gemini-2.5-pro"] == (Decimal("1.25"), Decimal(10))
    assert prices["anthropic:claude-haiku-5-5"] == (Decimal("0.10"), Decimal("0.50"))


def test_users_set_prices() -> None:
    prices = {**list_prices(), **read_prices("openai:gpt-5=1/2, custom:*=0/0.5;google:x = 3 / 4,")}
    assert price_of(model_name("openai:gpt-5"), prices) == (1, 2)
    assert price_of(model_name("custom:x"), prices) == (0, Decimal("0.5"))
    assert price_of(model_name("google:x"), prices) == (3, 4)
    assert check_prices({"custom:y": [0.1, 2]}) == {"custom:y": (Decimal("0.1"), Decimal(2))}


def test_a_price_that_is_none() -> None:
    for text in ("x=1/2", "openai:=1/2", "openai:x", "openai:x=1", "openai:x=a/b", "openai:x=-1/2", "openai:x=nan/1"):
        with pytest.raises(UsageError) as raised:
            read_prices(text)
        assert "openai:gpt-5-mini=0.25/2" in raised.value.hint
    values: tuple[object, ...] = (5, "1/2", [1], [1, "x"], [1, 2, 3], {"in": 1}, [float("inf"), 1])
    for value in values:
        with pytest.raises(UsageError):
            check_prices({"custom:y": value})


def test_a_schema_is_sent_in_words_that_all_providers_know() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"pattern": {"type": "number", "minimum": 0}}}}},
        "additionalProperties": {"type": "string"},
    }  # fmt: skip
    inner = {"type": "object", "properties": {"pattern": {"type": "number"}}, "additionalProperties": False}
    properties = {"a": {"type": "array", "items": inner}}
    assert sent_schema(schema) == {**schema, "properties": properties}
    prompt = Prompt(task="t", system="", text="", schema=schema, max_tokens=1)
    assert not body(PROVIDERS["openai"], "m", prompt, [])["response_format"]["json_schema"]["strict"]


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


def test_work_that_can_wait_does_so_when_less_than_a_fifth_is_left() -> None:
    for spent in (0, 80, 81, 100, 500):
        for limit, total in ((DayLimits(100), Total(tokens_out=spent)), (DayLimits(None, 100), Total(nano_usd=spent))):
            with pytest.raises(RefusedError) if spent > 80 else nullcontext():
                check_low(limit, total, WHO)


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
    assert tightened(policy).quota == policy.quota
    assert merged({"quota": {"google": {}}}, {"quota.openai": {"tokens_per_day": 5}}) == {
        "quota": {"google": {}, "openai": {"tokens_per_day": 5}}
    }


def test_dollars() -> None:
    assert [dollars(n) for n in (0, 1, 1_000_000, NANO, 12_345 * NANO)] == [
        "$0.0000", "$0.0001", "$0.0010", "$1.0000", "$12345.0000",
    ]  # fmt: skip
