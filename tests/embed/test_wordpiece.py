from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memcli.embed.onnx import FOLDER, TOKENIZER, encode, is_plain
from tests.conftest import ROOT

LIBRARY = Tokenizer.from_file(str(FOLDER / TOKENIZER))
VOCABULARY = json.loads((FOLDER / TOKENIZER).read_text())["model"]["vocab"]

ascii_texts = st.text(st.characters(max_codepoint=0x7F), max_size=300)
words = st.lists(st.sampled_from(sorted(w for w in VOCABULARY if w.isascii())[:5000]), max_size=40).map(" ".join)


@given(ascii_texts | words)
def test_the_ids_are_those_of_the_library(text: str) -> None:
    if is_plain(text):
        assert encode(text, VOCABULARY) == LIBRARY.encode(text).ids


EDGES = (
    "", " ", "x" * 100, "x" * 101, "word " * 400, "a_b-c's don't", "\x00\x1b[31m\x7f", "tab\tnew\r\nline\x0b\x0c", "[MASK",
    "##ing",
)  # fmt: skip


def test_edges() -> None:
    assert [encode(text, VOCABULARY) for text in EDGES] == [LIBRARY.encode(text).ids for text in EDGES]


@pytest.mark.slow
def test_real_texts() -> None:
    for file in sorted((ROOT / "memcli").rglob("*.py")):
        text = file.read_text()
        for start in range(0, len(text), 700):
            piece = text[start : start + 700]
            if is_plain(piece):
                assert encode(piece, VOCABULARY) == LIBRARY.encode(piece).ids


def test_special_names_and_other_scripts_are_left_to_the_library() -> None:
    assert not is_plain("a [SEP] b")
    assert not is_plain("naïve")
