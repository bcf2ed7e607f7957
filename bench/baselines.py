"""What memcli is measured against: the plain ways to search the same texts, each by its usual rules."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.embed.onnx import OnnxEmbedder
from memcli.text.words import query_terms, terms

K1 = 1.2
B = 0.75
"""Lucene's defaults."""

Search = Callable[[str], list[str]]
"""A question to the ids of the documents that answer it, best first."""
Scores = Callable[[str], list[float]]
"""A question to the score of each text."""


def bm25(corpus: Sequence[Mapping[str, Any]]) -> Search:
    """BM25 over the terms that memcli itself indexes."""
    scores = bm25_scores([document["text"] for document in corpus])
    return lambda question: _best(corpus, scores(question))


def bm25_scores(texts: Sequence[str]) -> Scores:
    """How well each text matches in words."""
    counts = [Counter(terms(text)) for text in texts]
    lengths = [count.total() for count in counts]
    average = sum(lengths) / len(lengths)
    frequencies = Counter(term for count in counts for term in count)

    def weight(term: str) -> float:
        return math.log(1 + (len(texts) - frequencies[term] + 0.5) / (frequencies[term] + 0.5))

    def score(question: Sequence[str], n: int) -> float:
        norm = K1 * (1 - B + B * lengths[n] / average)
        return sum(weight(t) * counts[n][t] * (K1 + 1) / (counts[n][t] + norm) for t in question if t in counts[n])

    def scores(question: str) -> list[float]:
        asked = query_terms(question)
        return [score(asked, n) for n in range(len(texts))]

    return scores


def dense(corpus: Sequence[Mapping[str, Any]]) -> Search:
    """The cosine of whole texts, by the embedder that memcli uses."""
    embedder = OnnxEmbedder()
    known = unit_vectors(embedder, [document["text"] for document in corpus])

    def search(question: str) -> list[str]:
        return _best(corpus, list((known @ unit_vectors(embedder, [question])[0]).tolist()), least=-1.0)

    return search


def unit_vectors(embedder: OnnxEmbedder, texts: Sequence[str]) -> Any:
    """The vectors of the texts as an array with a row for each, of length 1."""
    import numpy as np

    rows = np.array([np.frombuffer(vector, np.int8) for vector in embedder.embed(texts)], np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def word_search(corpus: Sequence[Mapping[str, Any]]) -> Search:
    """What `grep -i` finds: how many words of the question stand in the text, the newest first among equals."""
    texts = [document["text"].lower() for document in corpus]

    def search(question: str) -> list[str]:
        words = set(re.findall(r"\w+", question.lower()))
        # The corpus is in order of time, so a later place is a newer text.
        return _best(corpus, [sum(w in text for w in words) + n / len(texts) / 2 for n, text in enumerate(texts)], 0.5)

    return search


BASELINES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], Search]] = {
    "BM25": bm25,
    "dense alone": dense,
    "word search (grep)": word_search,
}


def _best(corpus: Sequence[Mapping[str, Any]], scores: Sequence[float], least: float = 0.0) -> list[str]:
    order = sorted(range(len(scores)), key=lambda n: (-scores[n], n))
    return [corpus[n]["id"] for n in order if scores[n] > least]
