from __future__ import annotations

import os
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer

from memcli.embed import onnx
from memcli.embed.onnx import encode, is_plain
from tests.conftest import ROOT

with open(os.path.join(onnx.FOLDER, onnx.VOCABULARY), encoding="utf-8") as file:
    VOCABULARY = dict(zip(file.read().split("\n"), count()))
LIBRARY = BertWordPieceTokenizer(VOCABULARY)
LIBRARY.enable_truncation(onnx.MAX_TOKENS)

ascii_texts = st.text(st.characters(max_codepoint=0x7F), max_size=300)
other_texts = st.text(st.characters(codec="utf-8").filter(is_plain), max_size=100)
words = st.lists(st.sampled_from(sorted(VOCABULARY)[:5000]), max_size=40).map(" ".join)


@given(ascii_texts | other_texts | words)
def test_the_ids_are_those_of_the_library(text: str) -> None:
    if is_plain(text):
        assert encode(text, VOCABULARY) == LIBRARY.encode(text).ids


EDGES = (
    "", " ", "x" * 100, "x" * 101, "é" * 100, "é" * 101, "가" * 51, "数" * 300, "word " * 400, "a_b-c's don't", "[MASK", "##ing",
    "\x00\x1b[31m\x7f", "tab\tnew\r\nline\x0b\x0c", "e\u0301\u200b\ufeff", "İstanbul Straße ﬁ Ǆ ½", "ＡＢＣ，①", "👩\u200d💻\ufe0f",
)  # fmt: skip


def test_edges() -> None:
    assert [encode(text, VOCABULARY) for text in EDGES] == [LIBRARY.encode(text).ids for text in EDGES]


def test_every_plain_character() -> None:
    plain = list(filter(is_plain, map(chr, range(0x20000))))
    assert len(plain) > 40_000
    for start in range(0, len(plain), 40):
        text = " ".join(f"a{char}b" for char in plain[start : start + 40])
        assert encode(text, VOCABULARY) == LIBRARY.encode(text).ids


@pytest.mark.slow
def test_real_texts() -> None:
    for file in sorted((ROOT / "memcli").rglob("*.py")):
        text = file.read_text()
        for start in range(0, len(text), 700):
            piece = text[start : start + 700]
            if is_plain(piece):
                assert encode(piece, VOCABULARY) == LIBRARY.encode(piece).ids


@pytest.mark.parametrize("text", ["a [SEP] b", "ΣΟΦΟΣ", "שלום", "देवनागरी", "\U00020000"])
def test_special_names_and_other_scripts_are_left_to_the_library(text: str) -> None:
    assert not is_plain(text)
