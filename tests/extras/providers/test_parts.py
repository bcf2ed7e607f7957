"""Addresses, prices and schemas, without a server."""

from __future__ import annotations

from decimal import Decimal

import pytest

from memcli.errors import ProviderError, UsageError
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
from memcli.model.usage import TokenUsage


def test_every_provider_has_a_row() -> None:
    assert tuple(PROVIDERS) == NAMES


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"), ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:80", "http://127.0.0.1:80/v1"), (":5050", "http://127.0.0.1:5050/v1"),
        ("box", "http://box:11434/v1"), ("box:1", "http://box:1/v1"), ("http://box:1/", "http://box:1/v1"),
        ("https://box", "https://box/v1"), ("https://box/ollama/v1/", "https://box/ollama/v1"),
        ("[::1]:7", "http://[::1]:7/v1"), ("[::]", "http://127.0.0.1:11434/v1"),
    ],
)  # fmt: skip
def test_where_ollama_is(host: str, url: str) -> None:
    assert address(PROVIDERS["ollama"], {"OLLAMA_HOST": host}) == url


@pytest.mark.parametrize(
    "url", ["ftp://x", "x.example", "http://", "http://x:99999", "http://[", "javascript:alert(1)"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ProviderError, match="OPENAI_BASE_URL is no address") as raised:
        address(PROVIDERS["openai"], {"OPENAI_BASE_URL": url})
    assert url not in raised.value.message


def test_what_is_shown_of_an_address() -> None:
    assert shown("https://ann:pass@host:8/v1?key=secret#x") == "https://host:8/v1"


def test_the_first_key_that_is_set_counts() -> None:
    google = PROVIDERS["google"]
    assert credential(google, {"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": " b\n"}) == {"api_key": "b"}
    assert key_variable(google, {"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}) == "GEMINI_API_KEY"
    assert credential(google, {}) == {}


def test_prices_are_found_by_name_and_not_by_the_beginning_of_one() -> None:
    prices = list_prices()
    assert price_of(model_name("openai:gpt-5-mini"), prices) == (Decimal("0.25"), Decimal(2))
    assert price_of(model_name("openai:gpt-5-mini-2025-08-07"), prices) == (Decimal("0.25"), Decimal(2))
    assert price_of(model_name("anthropic:claude-haiku-4-5-20251001"), prices) == (Decimal(1), Decimal(5))
    assert price_of(model_name("openai:gpt-5-pro"), prices) is None
    assert price_of(model_name("ollama:llama3.2:1b"), prices) == (0, 0)
    assert price_of(model_name("custom:x"), prices) is None


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


@pytest.mark.parametrize(
    "text", ["x=1/2", "openai:=1/2", "openai:x", "openai:x=1", "openai:x=a/b", "openai:x=-1/2", "openai:x=nan/1"]
)
def test_a_price_that_is_none(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_prices(text)
    assert "openai:gpt-5-mini=0.25/2" in raised.value.hint


@pytest.mark.parametrize("value", [5, "1/2", [1], [1, "x"], [1, 2, 3], {"in": 1}, [float("inf"), 1]])
def test_a_price_in_the_file_that_is_none(value: object) -> None:
    with pytest.raises(UsageError):
        check_prices({"custom:y": value})


def test_a_price_is_rounded_up_to_the_billionth() -> None:
    assert priced(TokenUsage(1, 0), (Decimal("0.0001"), Decimal(0))) == TokenUsage(1, 0, 1)
    assert priced(TokenUsage(1_000_000, 500_000), (Decimal("0.25"), Decimal(2))) == TokenUsage(
        1_000_000, 500_000, 1_250_000_000
    )
    assert priced(TokenUsage(5, 5), None) == TokenUsage(5, 5, None)


def test_a_schema_is_sent_in_words_that_all_providers_know() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"pattern": {"type": "number", "minimum": 0}}}}},
        "additionalProperties": {"type": "string"},
    }  # fmt: skip
    inner = {"type": "object", "properties": {"pattern": {"type": "number"}}, "additionalProperties": False}
    assert sent_schema(schema) == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": inner}},
        "additionalProperties": {"type": "string"},
    }
    prompt = Prompt(task="t", system="", text="", schema=schema, max_tokens=1)
    assert not body(PROVIDERS["openai"], "m", prompt, [])["response_format"]["json_schema"]["strict"]
