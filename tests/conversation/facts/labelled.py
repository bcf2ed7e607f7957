"""The labelled excerpts, and how well an extractor finds their facts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.conversation.facts import Extract, Fact
from memcli.model.conversation import Message

HALVES = ("tune", "held")


class Label(NamedTuple):
    message: int
    kind: str
    text: str


class Excerpt(NamedTuple):
    messages: list[Message]
    labels: list[Label]


class Score(NamedTuple):
    precision: float
    recall: float
    kind_right: float


def read(half: str) -> list[Excerpt]:
    """The excerpts of one half."""
    lines = (Path(__file__).parent / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_excerpt(json.loads(line)) for line in lines]


def _excerpt(item: dict) -> Excerpt:
    messages = [Message(n, role, text) for n, (role, text) in enumerate(item["messages"], 1)]
    return Excerpt(messages, [Label(fact["message"], fact["kind"], fact["text"]) for fact in item["facts"]])


def overlap(one: str, other: str) -> float:
    """F1 of the words of two texts."""
    a, b = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    both = (a & b).total()
    return 2 * both / (a.total() + b.total()) if both else 0.0


def match(facts: Sequence[Fact], labels: Sequence[Label]) -> list[tuple[Fact, Label]]:
    """Pairs of a fact and the label of the same message that it matches best, each used once."""
    scored = sorted(
        ((overlap(fact.text, label.text), f, n) for f, fact in enumerate(facts) for n, label in enumerate(labels) if fact.message == label.message),
        key=lambda one: (-one[0], one[1], one[2]),
    )  # fmt: skip
    used_facts, used_labels, pairs = set(), set(), []
    for score, f, n in scored:
        if score >= 0.5 and f not in used_facts and n not in used_labels:
            used_facts.add(f)
            used_labels.add(n)
            pairs.append((facts[f], labels[n]))
    return pairs


def score(extract: Extract, excerpts: Sequence[Excerpt]) -> Score:
    """Precision, recall, and the share of the right kind among the facts that match."""
    found = wanted = matched = right = 0
    for excerpt in excerpts:
        facts = extract(excerpt.messages)
        pairs = match(facts, excerpt.labels)
        found, wanted, matched = found + len(facts), wanted + len(excerpt.labels), matched + len(pairs)
        right += sum(fact.kind == label.kind for fact, label in pairs)
    return Score(matched / max(found, 1), matched / max(wanted, 1), right / max(matched, 1))
