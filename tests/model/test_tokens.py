"""Estimates of tokens."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from memcli.embed.onnx import FOLDER, TOKENIZER
from memcli.model.analysis import count_tokens
from tests.conftest import ROOT

LIBRARY = Tokenizer.from_file(str(FOLDER / TOKENIZER))
LIBRARY.no_truncation()
TEXTS = [
    "README.md",
    "CHANGELOG.md",
    "memcli/model/analysis.py",
    "samples/ci_checks.sh",
    "golden/decision_log/stdout.txt",
]


@pytest.mark.parametrize("name", TEXTS)
def test_an_estimate_is_above_what_a_real_tokenizer_counts_and_below_its_double(name: str) -> None:
    """That of the embedding model, which knows fewer words than those of language models and so needs more tokens."""
    text = (ROOT / name).read_text()
    counted = len(LIBRARY.encode(text, add_special_tokens=False).ids)
    assert counted < count_tokens(text) < 2 * counted
