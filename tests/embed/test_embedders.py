"""What every embedder promises, and what only the model can do."""

from __future__ import annotations

import math
import operator
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import memcli
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS, hashed, onnx
from memcli.embed.hashed import HashedEmbedder
from memcli.embed.onnx import OnnxEmbedder
from memcli.errors import ProviderError
from memcli.ports import Embedder
from memcli.text.words import VERSION

REAL = ("onnx", "hashed")
SENTENCE = "The retry loop waits twice as long after every failed request, until the server answers or we give up. "
MIXED = [f"{i} {(SENTENCE * 4)[i : i + 5 + i * 61 % 300]}" for i in range(20)]
ODD = {
    "empty": "", "blank": " \n\t ", "huge": "all work and no play " * 5_000, "one long word": "x" * 200_000,
    "accents": "Déjà vu à la carte, naïve Übergröße", "japanese": "再試行は指数関数的に待つ", "emoji": "🚀 shipped 👩‍💻",
    "right to left": "שלום עולם", "lone surrogate": "broken \ud800 text", "control characters": "a\x00b\x1b[31m\u200b",
    "special tokens": "[CLS] [SEP] [PAD] [MASK]",
}  # fmt: skip


def build(name: str) -> Embedder:
    embedder = EMBEDDERS[name]()
    assert embedder is not None
    return embedder


@pytest.fixture(scope="module", params=REAL)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return build(request.param)


@pytest.fixture(scope="module")
def model() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of the model's files, to be damaged; 24 MB that pytest would keep."""
    for name in onnx.DIGESTS:
        shutil.copy(Path(onnx.FOLDER, name), tmp_path / name)
    yield tmp_path
    shutil.rmtree(tmp_path)


def cosine(a: bytes, b: bytes) -> float:
    x, y = memoryview(a).cast("b"), memoryview(b).cast("b")
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def dot(x: Iterable[int], y: Iterable[int]) -> int:
    return sum(map(operator.mul, x, y))


def peaks(vectors: Sequence[bytes]) -> list[int]:
    return [max(map(abs, memoryview(vector).cast("b"))) for vector in vectors]


class TestContract:
    def test_all_entries_but_off_are_covered(self) -> None:
        assert {*REAL, "off"} == set(EMBEDDERS)
        assert EMBEDDERS["off"]() is None
        assert DEFAULT_EMBEDDER in REAL

    def test_models_have_names_of_their_own(self) -> None:
        names = {build(name).model for name in REAL}
        assert len(names) == len(REAL)
        assert names == {build(name).model for name in REAL}

    def test_same_text_same_bytes(self, embedder: Embedder) -> None:
        first, second, third = embedder.embed([MIXED[3], MIXED[4], MIXED[3]])
        assert first == third != second
        assert embedder.embed([MIXED[3]]) == [first]

    def test_every_vector_has_its_dimensions_and_fills_the_scale(self, embedder: Embedder) -> None:
        vectors = embedder.embed(MIXED)
        assert {len(vector) for vector in vectors} == {embedder.dimensions} == {384}
        assert set(peaks(vectors)) == {127}

    def test_order_is_kept(self, embedder: Embedder) -> None:
        vectors = embedder.embed(MIXED)
        assert embedder.embed(MIXED[::-1]) == vectors[::-1]
        assert embedder.embed([]) == []

    @pytest.mark.parametrize("name", REAL)
    def test_company_changes_no_bit(self, name: str) -> None:
        together = build(name).embed(MIXED)
        assert [build(name).embed([text])[0] for text in MIXED[::4]] == together[::4]
        few = build(name)
        assert [few.embed([text])[0] for text in MIXED[:20]] == together[:20]

    def test_odd_text(self, embedder: Embedder) -> None:
        failed = []
        for name, text in ODD.items():
            (vector,) = embedder.embed([text])
            if len(vector) != embedder.dimensions or embedder.embed([text, *MIXED[:9]])[0] != vector:
                failed.append(name)
        assert failed == []

    @pytest.mark.parametrize(
        ("name", "model", "places"),
        [
            ("onnx", "minilm-ecc49b432b4c", {0: 2, 1: 23, 3: 31, 4: 27, 5: -26, 6: 41, 7: -76, 8: 11, 9: -9}),
            ("hashed", f"hashed-1-{VERSION}", {25: 0, 26: 127, 90: 127, 219: 127}),
        ],
    )
    def test_vectors_only_change_with_the_model(self, name: str, model: str, places: dict[int, int]) -> None:
        embedder = build(name)
        vector = list(memoryview(embedder.embed(["the quick brown fox"])[0]).cast("b"))
        # One unit of leeway: a processor without AVX2 rounds the model's floats otherwise.
        assert {i: vector[i] for i in places} == pytest.approx(places, abs=1)
        assert embedder.model == model


class TestModel:
    def test_related_is_closer_than_unrelated(self, model: OnnxEmbedder) -> None:
        for texts in (
            ("How do we rotate API tokens?", "Credentials are renewed every 90 days.", "The logo is dark blue."),
            ("the build is slow", "compilation takes twenty minutes", "she moved to Lisbon in spring"),
            ("Why did the deploy fail?", "The release broke since a migration was missing.", "Lunch is at noon."),
        ):
            a, b, c = model.embed(texts)
            assert cosine(a, b) > cosine(a, c) + 0.1, texts

    def test_what_lies_within_the_window_counts_alone(self, model: OnnxEmbedder) -> None:
        start = "word " * 254
        assert model.embed([start + "end"]) == model.embed([start + "other things " * 50])
        start = "word " * 200
        assert model.embed([start + "end"]) != model.embed([start + "other"])

    def test_many_short_texts(self, model: OnnxEmbedder) -> None:
        texts = [f"note {i % 30}" for i in range(600)]
        vectors = model.embed(texts)
        assert vectors[:30] * 20 == vectors

    def test_one_core_or_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        vectors = []
        for cores in (1, 4):
            monkeypatch.setattr(onnx, "cores", lambda cores=cores: cores)
            vectors.append(OnnxEmbedder().embed(MIXED))
        assert vectors[0] == vectors[1]


def test_an_interruption_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    ran = []

    def run(rows: list[int]) -> list[bytes]:
        ran.extend(rows)
        time.sleep(0.01)
        if len(ran) > 2:
            raise KeyboardInterrupt
        return [b""]

    with pytest.raises(KeyboardInterrupt):
        onnx.run_all(run, [[n] for n in range(200)], 200)
    assert len(ran) < 200


class TestFiles:
    def test_the_files_are_as_published(self) -> None:
        assert onnx.verify() == []

    @pytest.mark.parametrize("name", onnx.DIGESTS)
    def test_a_flipped_byte_is_found(self, folder: Path, name: str) -> None:
        assert onnx.verify(str(folder)) == []
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)
        assert onnx.verify(str(folder)) == [f"{name}: differs from what was published"]

    def test_a_missing_file_is_found(self, folder: Path) -> None:
        (folder / onnx.MODEL).unlink()
        assert onnx.verify(str(folder)) == [f"{onnx.MODEL}: cannot be read (No such file or directory)"]

    @pytest.mark.parametrize("name", onnx.DIGESTS)
    @pytest.mark.parametrize("content", [None, b"", b"not what it should be"])
    def test_a_bad_file_is_one_line(
        self, folder: Path, name: str, content: bytes | None, capfd: pytest.CaptureFixture[str]
    ) -> None:
        (folder / name).unlink()
        if content is not None:
            (folder / name).write_bytes(content)
        with pytest.raises(ProviderError, match=r"the embedding model cannot be loaded: .") as caught:
            OnnxEmbedder(str(folder)).embed(["text"])
        assert "\n" not in caught.value.message
        assert caught.value.hint
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
    def test_a_missing_library_is_one_line(self, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ProviderError, match=library) as caught:
            OnnxEmbedder().embed(["שלום"])  # only few scripts need tokenizers
        assert caught.value.exit_code == 7


class TestQuantising:
    VECTORS = ([0.0] * 384, [127.0, 0.5, 1.5, -0.5, -1.5, 2.5] + [0.0] * 378, [-0.25, 0.125] + [0.0] * 382)

    def test_both_ways_agree(self) -> None:
        made = onnx.quantised(np.array(self.VECTORS, np.float32))
        assert made == [hashed.quantised(values) for values in self.VECTORS]

    def test_zeros_stay_and_halves_go_to_the_even(self) -> None:
        zeros, halves, negative = (list(memoryview(hashed.quantised(v)).cast("b")) for v in self.VECTORS)
        assert set(zeros) == {0}
        assert halves[:6] == [127, 0, 2, 0, -2, 2]
        assert negative[:2] == [-127, 64]


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    root = Path(memcli.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["onnx", "hashed"])
def test_importing_pulls_in_nothing_heavy(name: str) -> None:
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'concurrent.futures', 'asyncio'}"
    made = f"from memcli.embed import EMBEDDERS; e = EMBEDDERS[{name!r}](); e.model; e.dimensions; e.embed([])"
    assert run(f"import sys; import memcli.embed.{name}; {made}; print({heavy} & set(sys.modules))") == "set()"


def test_the_environment_is_left_alone() -> None:
    code = "from memcli.embed.onnx import OnnxEmbedder as E; a = dict(os.environ); E().embed(['x'])"
    assert run(f"import os; {code}; print(a == dict(os.environ))") == "True"


def test_hashed_texts_with_words_in_common_are_closer() -> None:
    a, b, c = HashedEmbedder().embed(["retry the request", "the request will retry later", "a blue logo"])
    assert cosine(a, b) > cosine(a, c) + 0.3
