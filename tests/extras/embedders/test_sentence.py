"""Models in folders: what their files say is what is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.external_data_helper import convert_model_to_external_data

from memcli.embed import onnx as minilm
from memcli.errors import ProviderError
from memcli.extras.embedders import sentence
from memcli.extras.embedders.folder import Facts, Prompts, known_prompts, read_folder
from memcli.extras.embedders.sentence import SentenceEmbedder
from tests.embed.test_embedders import cosine
from tests.extras.embedders.folders import DIMENSIONS, WORDS, make_folder, word_vector

TEXT = "the token expires after fifteen minutes"
E5 = {"config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}}}


def opened(folder: Path, kept: Path | None = None) -> SentenceEmbedder:
    return SentenceEmbedder(str(folder), Facts(str(kept) if kept else None))


def tokens(text: str) -> np.ndarray:
    """The vectors of the tokens of a text, by the table alone."""
    spaced = text.replace(":", " : ").split()
    known = [word if word in WORDS else "[UNK]" for word in spaced]
    return np.stack([word_vector(word) for word in ("[CLS]", *known, "[SEP]")]).astype(np.float64)


def signed(vector: np.ndarray) -> bytes:
    return np.rint(vector * 127 / np.abs(vector).max()).astype(np.int8).tobytes()


def weighted(of: np.ndarray) -> np.ndarray:
    weights = np.arange(1, len(of) + 1)[:, None]
    return (of * weights).sum(axis=0) / weights.sum()


POOLINGS: dict[str, tuple[dict[str, object], Callable[[np.ndarray], np.ndarray]]] = {
    "mean": ({"pooling_mode_mean_tokens": True}, lambda of: of.mean(axis=0)),
    "cls": ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, lambda of: of[0]),
    "max": ({"pooling_mode_max_tokens": True}, lambda of: of.max(axis=0)),
    "last": ({"pooling_mode_lasttoken": True}, lambda of: of[-1]),
    "sqrt": ({"pooling_mode_mean_sqrt_len_tokens": True}, lambda of: of.sum(axis=0) / len(of) ** 0.5),
    "weighted": ({"pooling_mode_weightedmean_tokens": True}, weighted),
    "by name": ({"pooling_mode": "cls"}, lambda of: of[0]),
    "two": (
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
        lambda of: np.concatenate([of[0], of.mean(axis=0)]),
    ),
}


class TestPooling:
    def test_each_mode_is_what_numpy_makes_of_the_tokens(self, tmp_path: Path) -> None:
        texts = [TEXT, "blue", "", "never heard of"]
        for name, (config, expected) in POOLINGS.items():
            embedder = opened(make_folder(tmp_path / name, pooling=config))
            assert (name, embedder.embed(texts)) == (name, [signed(expected(tokens(text))) for text in texts])
            assert embedder.dimensions == len(expected(tokens(TEXT)))
        for value in ({"a": 1}, [["mean"]], 3, "x" * 500):
            with pytest.raises(ProviderError, match="unknown pooling"):
                opened(make_folder(tmp_path / "unknown", pooling={"pooling_mode": value})).embed([TEXT])

    def test_an_output_for_sentences_needs_none(self, tmp_path: Path) -> None:
        embedder = opened(make_folder(tmp_path, pooling=None, output="sentence_embedding"))
        assert embedder.embed([TEXT]) == [signed(tokens(TEXT).max(axis=0))]

    def test_a_prompt_counts_or_not(self, tmp_path: Path) -> None:
        counting = opened(make_folder(tmp_path / "a", files=E5))
        without = {"pooling_mode": "mean", "include_prompt": False}
        leaving = opened(make_folder(tmp_path / "b", pooling=without, files=E5))
        whole = tokens(f"query: {TEXT}")
        assert counting.embed([TEXT], as_questions=True) == [signed(whole.mean(axis=0))]
        assert leaving.embed([TEXT], as_questions=True) == [signed(whole[3:].mean(axis=0))]


class TestPrompts:
    def test_they_are_read_from_the_configuration(self, tmp_path: Path) -> None:
        embedder = opened(make_folder(tmp_path / "e5", files=E5))
        assert embedder.embed([TEXT]) == [signed(tokens(f"passage: {TEXT}").mean(axis=0))]
        for config, expected in (
            ({}, Prompts()),
            ({"prompts": {"query": "", "document": ""}}, Prompts()),
            ({"prompts": {"query": "Q ", "document": "D "}}, Prompts("Q ", "D ")),
            ({"prompts": {"s2p_query": "Q ", "other": "x"}}, Prompts("Q ", "")),
            ({"prompts": {"all": "A "}, "default_prompt_name": "all"}, Prompts("A ", "A ")),
            ({"prompts": {"query": "Q "}, "default_prompt_name": None}, Prompts("Q ", "")),
            ({"prompts": ["query"]}, Prompts()),
        ):
            made = make_folder(tmp_path / "made", files={"config_sentence_transformers.json": config})
            assert (config, read_folder(str(made)).prompts) == (config, expected)

    def test_families_whose_files_say_nothing_are_known(self, tmp_path: Path) -> None:
        families = {
            "models--intfloat--multilingual-e5-small/snapshots/1f": ("query: ", "passage: "),
            "intfloat/multilingual-e5-large-instruct": ("", ""), "bge-m3": ("", ""), "some-type5-model": ("", ""),
            "ollama:nomic-embed-text": ("search_query: ", "search_document: "), "openai:text-embedding-3-small": ("", ""),
            "bge-small-en-v1.5": ("Represent this sentence for searching relevant passages: ", ""),
        }  # fmt: skip
        assert {name: known_prompts(name) for name in families} == families
        made = make_folder(tmp_path, files={"config.json": {"_name_or_path": "intfloat/e5-small-v2"}})
        assert read_folder(str(made)).prompts == ("query: ", "passage: ")


class TestTokens:
    def test_the_window_is_the_least_that_the_files_say(self, tmp_path: Path) -> None:
        files = {
            "sentence_bert_config.json": {"max_seq_length": 5}, "tokenizer_config.json": {"model_max_length": 1e30},
            "config.json": {"max_position_embeddings": 512},
        }  # fmt: skip
        embedder = opened(make_folder(tmp_path, files=files))
        one, same, other = embedder.embed([TEXT, "the token expires cake", "the token cake"])
        assert (one == same, same == other, read_folder(str(tmp_path)).max_tokens) == (True, False, 5)
        for kind, most in (("bert", 514), ("xlm-roberta", 512)):  # which begins to count at two
            config = {"max_position_embeddings": 514, "model_type": kind}
            made = make_folder(tmp_path / kind, files={"config.json": config})
            assert read_folder(str(made)).max_tokens == most
        for few in (1, 2, 3):
            made = make_folder(tmp_path / "few", files={"sentence_bert_config.json": {"max_seq_length": few}})
            assert len(opened(made).embed([TEXT, ""])) == 2, "no crash"

    def test_what_a_model_takes_is_given(self, tmp_path: Path) -> None:
        found = tokens(TEXT)
        counted = found + np.arange(len(found))[:, None]
        for names, expected in (("", found), ("attention_mask token_type_ids", found), ("position_ids", counted)):
            embedder = opened(make_folder(tmp_path / f"of {names}", inputs=["input_ids", *names.split()]))
            assert (names, embedder.embed([TEXT])) == (names, [signed(expected.mean(axis=0))])

    @pytest.mark.slow
    def test_more_words_than_two_bytes_count(self, tmp_path: Path) -> None:
        words = [*(f"w{n}" for n in range(70_000)), "last"]
        embedder = opened(make_folder(tmp_path, words=words, pooling={"pooling_mode": "max"}))
        expected = np.stack([word_vector(word) for word in ("[CLS]", "last", "[SEP]")]).max(axis=0)
        assert embedder.embed(["last"]) == [signed(expected)]


class TestSameBytes:
    def test_company_cores_and_order_change_no_bit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make_folder(tmp_path)
        texts = [" ".join(WORDS[n : n + 1 + n % 7]) for n in range(20)] + [TEXT, ""]
        together = opened(tmp_path).embed(texts)
        assert opened(tmp_path).embed(texts[::-1]) == together[::-1]
        assert [opened(tmp_path).embed([text])[0] for text in texts] == together
        monkeypatch.setattr(minilm, "cores", lambda: 4)
        assert opened(tmp_path).embed(texts) == together

    def test_languages_meet(self, tmp_path: Path) -> None:
        english, french, japanese, other = opened(make_folder(tmp_path)).embed(
            [TEXT, "le jeton expire après quinze minutes", "トークン 期限", "cake needs three eggs"]
        )
        assert cosine(english, french) > 0.99
        assert cosine(english, japanese) > cosine(english, other) + 0.1


class TestNames:
    def test_the_content_names_the_model_wherever_it_is(self, tmp_path: Path) -> None:
        one = opened(make_folder(tmp_path / "one"))
        assert one.model == opened(make_folder(tmp_path / "two" / "deeper")).model
        assert one.model == opened(make_folder(tmp_path / "three", model="onnx/model_quantized.onnx")).model

    def test_whatever_changes_vectors_changes_the_name(self, tmp_path: Path) -> None:
        changes: tuple[dict[str, Any], ...] = (
            {"dimensions": 8}, {"pooling": {"pooling_mode_max_tokens": True}}, {"files": E5}, {"words": WORDS[::-1]},
            {"files": {"sentence_bert_config.json": {"max_seq_length": 9}}},
        )  # fmt: skip
        for n, change in enumerate(changes):
            folder, kept = tmp_path / f"model{n}", tmp_path / f"kept{n}"
            kept.mkdir()
            before = opened(make_folder(folder), kept).model
            assert opened(make_folder(folder, **change), kept).model != before, change

    def test_a_change_of_weights_beside_the_model_is_seen(self, tmp_path: Path) -> None:
        kept = tmp_path / "kept"
        kept.mkdir()
        folder = make_folder(tmp_path / "model")
        model = onnx.load(folder / "model.onnx")
        convert_model_to_external_data(model, location="weights.bin", size_threshold=1024)
        onnx.save(model, folder / "model.onnx")
        before = opened(folder, kept)
        first = (before.model, before.embed([TEXT]))
        data = bytearray((folder / "weights.bin").read_bytes())
        data[200:900] = bytes(700)
        (folder / "weights.bin").write_bytes(data)
        after = opened(folder, kept)
        assert after.model != first[0]
        assert after.embed([TEXT]) != first[1]

    def test_what_was_found_out_is_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = make_folder(tmp_path / "model")
        first = opened(folder, tmp_path)
        found = (first.model, first.dimensions)
        monkeypatch.setattr(sentence, "open_session", lambda *_, **__: pytest.fail("the model was opened"))
        again = opened(folder, tmp_path)
        assert (again.model, again.dimensions) == found
        (tmp_path / "embedders.json").write_text("[")
        with pytest.raises(pytest.fail.Exception):
            _ = opened(folder, tmp_path).model

    def test_one_variant_can_be_named(self, tmp_path: Path) -> None:
        make_folder(tmp_path, model="onnx/model.onnx")
        make_folder(tmp_path, model="onnx/model_qint8_avx512.onnx", dimensions=8)
        assert opened(tmp_path).dimensions == DIMENSIONS
        assert opened(tmp_path / "onnx" / "model_qint8_avx512.onnx").dimensions == 8


BAD = b"\xff nonsense"
LAYER = {"modules.json": [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]}
ERRORS: tuple[tuple[str, dict[str, Any], dict[str, bytes | None]], ...] = (
    ("has no model.onnx", {}, {"model.onnx": None}),
    ("2 models and none of the usual names", {}, {"model.onnx": None, "a.onnx": BAD, "b.onnx": BAD}),
    ("no tokenizer.json", {}, {"tokenizer.json": None}), ("cannot be used: ", {}, {"tokenizer.json": BAD}),
    ("cannot be used: ", {}, {"model.onnx": BAD}), ("cannot read the model", {}, {"model.onnx": b""}),
    ("config.json is no JSON", {}, {"config.json": BAD}), ("tells how it pools tokens", {"pooling": None}, {}),
    ("takes 'pixel_values'", {"inputs": ["input_ids", "pixel_values"]}, {}),
    ("unknown pooling 'attention'", {"pooling": {"pooling_mode": "attention"}}, {}), ("lacks its layer 'Dense'", {"files": LAYER}, {}),
)  # fmt: skip
"""What is said of a folder, how it is made, and what then becomes of its files."""


class TestErrors:
    def test_each_is_one_line(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        folders = [("no folder ", tmp_path / "nowhere")]
        for n, (message, options, files) in enumerate(ERRORS):
            folders.append((message, make_folder(tmp_path / str(n), **options)))
            for file, data in files.items():
                (tmp_path / str(n) / file).unlink(missing_ok=True)
                if data is not None:
                    (tmp_path / str(n) / file).write_bytes(data)
        for message, folder in folders:
            embedder = opened(folder)
            asks: tuple[Callable[[], object], ...] = (
                lambda of=embedder: of.model, lambda of=embedder: of.dimensions, lambda of=embedder: of.embed([TEXT]),
            )  # fmt: skip
            for ask in asks:
                with pytest.raises(ProviderError) as caught:
                    ask()
                lines = caught.value.message + caught.value.hint
                assert (message, message in caught.value.message, "\n" in lines) == (message, True, False)
                assert caught.value.hint
        assert capfd.readouterr() == ("", "")

    def test_a_model_too_large_for_the_machine_is_not_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sentence, "_SHARE_OF_MEMORY", 0)
        monkeypatch.setattr(sentence, "open_session", lambda *_, **__: pytest.fail("the model was opened"))
        with pytest.raises(ProviderError, match=r"model.onnx of 0.0 GB is too large for [\d.]+ GB of memory"):
            opened(make_folder(tmp_path)).embed([TEXT])

    def test_values_that_are_no_numbers_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        nan = np.full(DIMENSIONS, np.nan, np.float32)
        monkeypatch.setattr("tests.extras.embedders.folders.word_vector", lambda *_: nan)
        with pytest.raises(ProviderError, match="no numbers"):
            opened(make_folder(tmp_path)).embed([TEXT])

    def test_files_that_change_meanwhile_are_noticed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = make_folder(tmp_path)
        open_session = sentence.open_session

        def slowly(*arguments: str, **options: bool) -> object:
            os.utime(folder / "tokenizer.json", ns=(1, 1))
            return open_session(*arguments, **options)

        monkeypatch.setattr(sentence, "open_session", slowly)
        with pytest.raises(ProviderError, match="changed while"):
            _ = opened(folder).model

    def test_files_that_changed_since_their_name_was_told_are_not_used(self, tmp_path: Path) -> None:
        embedder = opened(make_folder(tmp_path / "model"), tmp_path)
        assert embedder.model
        again = opened(tmp_path / "model", tmp_path)
        assert again.model == embedder.model  # known, and not opened yet
        make_folder(tmp_path / "model", words=WORDS[::-1])
        with pytest.raises(ProviderError, match="changed while"):
            again.embed([TEXT])


def test_the_facts_of_other_models_stay(tmp_path: Path) -> None:
    one, other = Facts(str(tmp_path)), Facts(str(tmp_path))
    one.put("a", 1)
    other.put("b", 2)
    assert json.loads((tmp_path / "embedders.json").read_text()) == {"a": 1, "b": 2}
    assert [Facts(str(tmp_path / "missing")).get("a"), one.get("a"), one.get("b")] == [None, 1, 2]
