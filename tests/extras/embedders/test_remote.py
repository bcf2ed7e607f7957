"""Embedders of providers, by what they send and what they make of the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from memcli.embed.onnx import quantised
from memcli.errors import MemcliError, ProviderError, RefusedError
from memcli.extras.embedders.folder import Facts
from memcli.extras.embedders.remote import RemoteEmbedder


class Provider:
    """Answers with vectors of `dimensions` numbers, which depend on the text alone."""

    def __init__(self, dimensions: int = 4) -> None:
        self.dimensions = dimensions
        self.sent: list[list[str]] = []
        self.error: Exception | None = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.sent.append(list(texts))
        if self.error:
            raise self.error
        return [[math.sin(len(text) * n + n) for n in range(1, self.dimensions + 1)] for text in texts]


def made(
    provider: Any, name: str = "openai:small", address: str = "https://a", folder: Path | None = None
) -> RemoteEmbedder:
    facts = Facts(str(folder) if folder else None)
    return RemoteEmbedder(name, address, provider, lambda text: text.replace("hunter2", "[x]"), facts)


def test_only_redacted_text_is_sent_and_no_half_of_a_secret() -> None:
    provider = Provider()
    made(provider).embed(["the password is hunter2", "x" * 4093 + "hunter2"])
    assert provider.sent[-1] == ["the password is [x]", "x" * 4093 + "[x]"]
    assert "hunt" not in str(provider.sent)


def test_questions_and_passages_have_the_prompts_of_their_family() -> None:
    provider = Provider()
    embedder = made(provider, "ollama:nomic-embed-text:v1.5")
    embedder.embed(["a"], as_questions=True)
    embedder.embed(["a"])
    assert provider.sent[1:] == [["search_query: a"], ["search_document: a"]]


def test_many_texts_are_several_calls() -> None:
    provider = Provider()
    texts = [f"text {n}" for n in range(66)]
    vectors = made(provider).embed(texts)
    assert [len(sent) for sent in provider.sent] == [1, 32, 32, 2]
    assert vectors[40] == made(provider).embed(["text 40"])[0]
    provider.sent.clear()
    assert made(provider).embed(["", "a", " \n"])[::2] == [bytes(4)] * 2
    assert provider.sent[1:] == [["a"]], "what is blank is not sent"


def test_names_tell_models_addresses_and_dimensions_apart() -> None:
    cases = (
        (4, "openai:small", "a"),
        (4, "openai:large", "a"),
        (8, "openai:small", "a"),
        (4, "openai:small", "b"),
        (4, "ollama:small", "a"),
    )
    names = {made(Provider(size), name, f"https://{host}").model for size, name, host in cases}
    assert len(names) == 5
    assert all(name.partition("-")[0] in ("openai", "ollama") and "/" not in name for name in names)


def test_a_model_that_became_another_is_not_mixed_in(tmp_path: Path) -> None:
    provider = Provider()
    before = made(provider, folder=tmp_path).model
    assert made(provider, folder=tmp_path).model == before
    assert len(provider.sent) == 1, "the dimensions are asked for once"
    changed = Provider(8)
    with pytest.raises(ProviderError, match="vectors of 8 numbers, not of 4 as before"):
        made(changed, folder=tmp_path).embed(["a"])
    after = made(changed, folder=tmp_path)
    assert after.model != before
    assert len(after.embed(["a"])[0]) == 8


def test_an_answer_that_is_none_is_one_line() -> None:
    answers: tuple[list[list[float]], ...] = ([], [[1.0], [2.0]], [[]], [[0.5] * 20_000])
    for answer in answers:
        with pytest.raises(ProviderError, match="does not answer with one vector for each text"):
            made(lambda _, answer=answer: answer).embed(["a"])
    for number in (math.nan, math.inf, -math.inf, 1e308, -1e39, 10**400):
        with pytest.raises(ProviderError, match="numbers that are not finite, or too large"):
            made(lambda texts, number=number: [[number, 1.0]] * len(texts)).embed(["a"])
    for number in (math.nan, math.inf, 1e308):  # of a model on this machine
        with pytest.raises(ProviderError, match="numbers that are not finite, or too large"):
            quantised(numpy.array([[1.0, 2.0], [number, 1.0]]))
    (largest,) = made(lambda texts: [[3.4e38, -1.7e38]] * len(texts)).embed(["a"])
    assert [*memoryview(largest).cast("b")] == [127, -64]


@pytest.mark.parametrize("error", [RefusedError("offline"), ProviderError("down")])
def test_errors_are_those_of_the_call(error: MemcliError) -> None:
    provider = Provider()
    provider.error = error
    embedder = made(provider)
    assert embedder.embed([]) == []
    for ask in (lambda: embedder.model, lambda: embedder.dimensions, lambda: embedder.embed(["a"])):
        with pytest.raises(type(error)):
            ask()
