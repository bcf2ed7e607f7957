"""Texts to embed, over HTTP: they are sent and paid for by the rules of any call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.app.workspace import opened
from memcli.errors import ProviderError, RefusedError
from memcli.extras.providers.opening import embeddings
from memcli.extras.spaces.managing import set_policy
from memcli.model.conversation import model_name
from memcli.model.usage import TokenUsage
from tests.conftest import NOW, memory, open_at, rewrite
from tests.extras.providers import server as play
from tests.extras.providers.conftest import Asked, environ_for
from tests.extras.providers.server import KEY, Script, Step


def embedded(*vectors: list[float], usage: object = {"prompt_tokens": 9, "total_tokens": 9}, first: int = 0) -> Step:
    """An answer with these vectors, of which that at `first` comes first."""
    rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    body = {"object": "list", "model": "m", "data": [*rows[first:], *rows[:first]], "usage": usage}
    return play.raw(json.dumps(body).encode())


def test_the_vectors_are_those_of_the_texts_in_order(server: Script) -> None:
    for provider in ("openai", "google", "ollama", "custom"):
        server.play(embedded([0.5, 1.0], [-1.0, 2.0], first=1))
        asked = Asked(server, f"{provider}:some/model:1")
        assert asked.model.vectors(["one", "two"], 60) == ((0.5, 1.0), (-1.0, 2.0))
        (request,) = server.requests
        assert request.path == "/v1/embeddings"
        assert request.body == {"model": "some/model:1", "input": ["one", "two"], "encoding_format": "float"}
        ((most, cost),) = asked.meter.calls
        assert (cost, most.tokens_out) == (TokenUsage(9, 0), 0)
    server.play(play.fail(500), embedded([1.0], usage=None))
    asked = Asked(server, "openai:m")
    assert asked.model.vectors(["one"], 60) == ((1.0,),)
    assert (len(server.requests), len(asked.slept)) == (2, 1), "a failure that may pass is tried again"
    assert asked.meter.calls[-1][1] is None, "without usage the estimate counts"


def test_what_is_sent_is_redacted(server: Script) -> None:
    server.play(embedded([1.0]))
    Asked(server, "openai:m").model.vectors([f"the password is hunter2, the key {KEY}"], 60)
    (request,) = server.requests
    assert request.body["input"] == ["the password is [REDACTED], the key [key]"]


def test_an_answer_without_vectors_is_one_line(server: Script) -> None:
    bodies: tuple[object, ...] = ({}, {"data": [{}]}, {"data": [{"index": 0, "embedding": ["x"]}]}, {"data": 1}, [])
    for body in bodies:
        server.play(play.raw(json.dumps(body).encode()))
        with pytest.raises(ProviderError, match="is none of its API"):
            Asked(server, "openai:m").model.vectors(["one"], 60)
    server.play(embedded([1.0]))
    with pytest.raises(ProviderError, match="anthropic has no embeddings"):
        Asked(server, "anthropic:m").model.vectors(["one"], 60)
    assert server.requests == []


@pytest.fixture
def environ(server: Script) -> dict[str, str]:
    server.play(embedded([1.0, 2.0]))
    return environ_for(server.url)


def test_a_store_has_its_texts_embedded_and_counted(tmp_path: Path, server: Script, environ: dict[str, str]) -> None:
    workspace = open_at(tmp_path)
    assert embeddings(workspace, environ).call(model_name("openai:text-embedding-3-small"), ["one"]) == ((1.0, 2.0),)
    (day,) = workspace.ledger.days()
    (charge,) = workspace.ledger.read(day).charges
    assert (charge.task, charge.usage.tokens_in, charge.usage.nano_usd) == ("embed/1", 9, 180)


def test_nothing_is_sent_where_it_may_not(tmp_path: Path, server: Script, environ: dict[str, str]) -> None:
    offline, limited, cloned = open_at(tmp_path, MEMCLI_OFFLINE="1"), open_at(tmp_path), open_at(tmp_path)
    set_policy(limited, "main", {"quota": {"openai": {"tokens_per_day": 1}}})
    for workspace, message in ((offline, "offline"), (limited, "the quota of"), (cloned, "cloned")):
        if workspace is cloned:
            workspace.trust.revoke()
        with pytest.raises(RefusedError, match=message):
            embeddings(workspace, environ).call(model_name("openai:m"), ["one"])
    assert server.requests == []


def test_a_store_is_recalled_by_the_vectors_of_a_provider(
    tmp_path: Path, server: Script, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that knows what a feline is, and the words of the probes by their letters."""

    def vectors(handler: play.Handler) -> None:
        texts = server.requests[-1].body["input"]
        known = [[10.0 if "cat" in text or "feline" in text else 0.0, *map(float, _letters(text))] for text in texts]
        embedded(*known)(handler)

    server.play(vectors)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="openai:m", **environ)
    key = f"a password is hunter2, the key is {KEY}"
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="A cat sleeps."), memory("b", raw=key)], NOW))
    with opened(workspace) as (_, view):
        (near,) = view.dense(["feline"]) or []
        best = {view.entries()[row].id: cosine for row, cosine in near.by_row().items()}
    assert best["mem_a"] > best["mem_b"]
    assert not any(KEY in request.raw.decode() for request in server.requests)
    assert {charge.task for charge in workspace.ledger.read(workspace.ledger.days()[0]).charges} == {"embed/1"}


def _letters(text: str) -> list[int]:
    return [text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
