"""Models whose cosines are on a scale of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.embed import EMBEDDERS
from memcli.embed.hashed import HashedEmbedder
from memcli.embed.onnx import OnnxEmbedder, quantised
from memcli.index.scale import MINILM, PAIRS, from_bytes, own_spread, scaled, tells_apart, to_bytes
from memcli.index.vectors import cosines_of
from tests.conftest import open_at
from tests.index.test_cache import ask, fill

ASKED = ["Which database was chosen?", "May I force-push?", "How long does a token last?", "Who likes cheese?",
         "What is the capital of Peru?", "When was the roof repaired?"]  # fmt: skip


class Narrow:
    """MiniLM with the same added to every vector, so that all texts seem near: as some models do it by themselves."""

    def __init__(self) -> None:
        self._own = OnnxEmbedder()
        self.calls = 0

    model, dimensions, is_calibrated = "narrow", 384, False

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:
        self.calls += 1
        found = np.array([np.frombuffer(vector, np.int8) for vector in self._own.embed(texts)], np.float64)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return quantised(found + 1.5 / math.sqrt(384))


def test_the_figures_of_minilm_are_its_own() -> None:
    assert own_spread(OnnxEmbedder()) == pytest.approx(MINILM, abs=0.005)


def test_on_its_own_scale_minilm_is_as_it_is() -> None:
    values = np.linspace(-1, 1, 41)
    assert scaled(values, MINILM) == pytest.approx(values)


def test_a_narrow_model_comes_to_the_scale_of_minilm() -> None:
    narrow, wide = Narrow(), OnnxEmbedder()
    own = own_spread(narrow)
    assert own[0] > 0.6
    assert tells_apart(own)
    texts = [passage for _, passage in PAIRS[:6]]
    theirs = scaled(cosines_of(narrow.embed(ASKED), narrow.embed(texts)), own)
    assert theirs == pytest.approx(cosines_of(wide.embed(ASKED), wide.embed(texts)), abs=0.1)


def test_floors_hold_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Narrow()
    monkeypatch.setitem(EMBEDDERS, "narrow", lambda: embedder)  # type: ignore[arg-type]
    found = {}
    for name in ("onnx", "narrow"):
        workspace = open_at(tmp_path / name, MEMCLI_EMBEDDER=name)
        fill(workspace)
        found[name] = [[one for one, _ in ask(workspace, topic)][:1] for topic in ASKED]
    assert found["narrow"] == found["onnx"] == [["mem_a"], ["mem_b"], ["mem_c"], [], [], []]
    embedder.calls = 0
    open_at(tmp_path / "narrow", MEMCLI_EMBEDDER="narrow")
    ask(open_at(tmp_path / "narrow", MEMCLI_EMBEDDER="narrow"), "Is it a new question?")
    assert embedder.calls == 1  # for the question: the scale was kept
    monkeypatch.setattr(Narrow, "is_calibrated", True)
    assert ask(
        open_at(tmp_path / "narrow", MEMCLI_EMBEDDER="narrow"), "Who likes cheese?"
    )  # raw cosines reach any floor


def test_a_model_that_tells_nothing_apart_is_named_so() -> None:
    assert not tells_apart(own_spread(HashedEmbedder()))
    assert not tells_apart((0.9, 0.95, 0.9, 0.93))


COSINE = st.integers(-10_000, 10_000).map(lambda n: n / 10_000)
"""Where two numbers differ by less than a float can tell apart, an interpolation between them rounds either way."""


@given(st.tuples(*[COSINE] * 4), st.lists(COSINE, min_size=2, max_size=20))
def test_no_order_is_changed(own: tuple[float, ...], values: list[float]) -> None:
    found = scaled(np.array(sorted(values)), own)
    assert (np.diff(found) >= 0).all()
    assert found.min() >= -1
    assert found.max() <= 1


def test_what_has_no_vector_stays_so() -> None:
    assert np.isnan(scaled(np.array([np.nan]), MINILM)).all()


def test_what_is_kept_is_read_again() -> None:
    assert from_bytes(to_bytes(MINILM)) == MINILM
    assert [from_bytes(data) for data in (b"", b"123", bytes(8))] == [None, None, None]


@pytest.mark.parametrize("dimensions", [1, 384, 1040, 1041, 4096])
def test_cosines_are_exact_at_any_length(dimensions: int) -> None:
    one = np.full(dimensions, 127, np.int8)
    other = one.copy()
    other[: dimensions // 2] = 126
    dot = sum(int(a) * int(b) for a, b in zip(one, other, strict=True))
    norm = math.sqrt(sum(int(a) ** 2 for a in one) * sum(int(b) ** 2 for b in other))
    assert cosines_of([one.tobytes()], [other.tobytes()])[0][0] == dot / norm
