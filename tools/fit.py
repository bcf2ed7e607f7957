"""Fits the weights of the linear models of conversations, writes them beside the code, and prints how good they are.

    python tools/fit.py topics|facts FILE...

FILE has a labelled example in each line, JSON; those with `"split": "check"` are only judged. For topics a pair of prompts:
`{"previous", "current", "changed"}`. For facts a conversation, `{"messages": [{"role", "text"}], "facts": [{"kind",
"text_span", "message"}]}` with messages counted from 0, or a sentence of a user, `{"kind", "text"}`, whose kind may be
`none`. The same files give the same weights.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from memcli.conversation import facts, topic
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.model.conversation import Message

_FOLDS = 10
_LEAST = 0.05
"""A smaller weight is left out."""

Row = Mapping[str, float]


def fit(rows: Sequence[Row], labels: Sequence[Any], strength: float) -> dict[Any, dict[str, float]]:
    """The weights of each class, or, of two, those of the greater one, by the names of the features; `bias` is the intercept.
    `strength` is the inverse of that of the L2 penalty."""
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    model = LogisticRegression(C=strength, max_iter=1000, tol=1e-5).fit(matrix, np.array(labels))
    classes = list(model.classes_) if len(model.classes_) > 2 else [model.classes_[1]]
    return {
        one.item() if isinstance(one, np.generic) else one: {"bias": float(model.intercept_[n])}
        | {name: float(weight) for name, weight in zip(names, model.coef_[n], strict=True)}
        for n, one in enumerate(classes)
    }


def folds(groups: Sequence[str]) -> list[int]:
    """The fold of each row; rows of one group are in one fold."""
    names = sorted(set(groups), key=lambda name: sha256(name.encode()).digest())
    number = {name: n % _FOLDS for n, name in enumerate(names)}
    return [number[group] for group in groups]


def rounded(weights: Mapping[str, float], digits: int = 2) -> dict[str, float]:
    """The weights that count, by name."""
    return {
        name: round(weights[name], digits) for name in sorted(weights) if name == "bias" or abs(weights[name]) >= _LEAST
    }


def read(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


_TOPIC_STRENGTH = 2.0


def fit_topics(pairs: Sequence[dict[str, Any]]) -> None:
    """Fits with and without vectors."""
    embedder = EMBEDDERS[DEFAULT_EMBEDDER]()
    assert embedder is not None
    texts = list(
        dict.fromkeys(pair[name][: topic.MAX_CHARACTERS] for pair in pairs for name in ("previous", "current"))
    )
    vectors = {text: embedder.embed([text], as_questions=True)[0] for text in texts}
    weights = {}
    for name in ("vectors", "words"):

        def row(pair: dict[str, Any], name: str = name) -> Row:
            cosine = topic.cosine(vectors[pair["previous"]], vectors[pair["current"]]) if name == "vectors" else None
            return topic.features(topic.trace(pair["previous"]), pair["current"], cosine)

        def train(chosen: Sequence[dict[str, Any]]) -> dict[str, float]:
            return rounded(fit([row(one) for one in chosen], [one["changed"] for one in chosen], _TOPIC_STRENGTH)[True])

        def is_right(weights: Row, pair: dict[str, Any]) -> bool:
            score = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in row(pair).items())
            return bool((score > 0) == pair["changed"])

        train_on = [pair for pair in pairs if pair.get("split") != "check"]
        check = [pair for pair in pairs if pair.get("split") == "check"]
        weights[name] = train(train_on)
        print(f"{name}: {len(weights[name])} weights")
        _judge(train_on, [pair["previous"] for pair in train_on], train, is_right)
        if check:
            print(f"  check half: {np.mean([is_right(weights[name], pair) for pair in check]):.3f} of {len(check)}")
    write(Path(topic.__file__).with_suffix(".json"), weights)


def _judge(
    rows: Sequence[Any],
    groups: Sequence[str],
    train: Callable[[Sequence[Any]], Any],
    is_right: Callable[[Any, Any], bool],
) -> None:
    number = folds(groups)
    right = 0
    for fold in range(_FOLDS):
        weights = train([row for row, n in zip(rows, number, strict=True) if n != fold])
        right += sum(is_right(weights, row) for row, n in zip(rows, number, strict=True) if n == fold)
    print(f"  {_FOLDS}-fold: {right / len(rows):.3f} of {len(rows)}")


_FACT_STRENGTH = 1.0
_NONE = "none"
_FAMILY = dict.fromkeys(["decision", "preference", "constraint", "correction", "negative"], "rule")
_ALIKE = 0.5
"""The least F1 of the words of a sentence and a label that are of one another."""


class Talk(NamedTuple):
    messages: list[Message]
    labels: list[tuple[int, str, str]]
    """The number of the message, the kind and the text of each fact."""


def talk(row: dict[str, Any]) -> Talk:
    if "text" in row:
        return Talk([Message(1, "user", row["text"])], [(1, row["kind"], row["text"])] if row["kind"] != _NONE else [])
    messages = [Message(n, one["role"], one["text"]) for n, one in enumerate(row["messages"], 1)]
    return Talk(messages, [(one["message"] + 1, one["kind"], one["text_span"]) for one in row["facts"]])


def alike(one: str, other: str) -> float:
    """F1 of the words of two texts; at least `_ALIKE` when one contains the other."""
    a, b = ([word.lower() for word in re.findall(r"\w+", text)] for text in (one, other))
    both = (Counter(a) & Counter(b)).total()
    contains = bool(a and b) and (f" {' '.join(b)} " in f" {' '.join(a)} " or f" {' '.join(a)} " in f" {' '.join(b)} ")
    return max(2 * both / max(1, len(a) + len(b)), _ALIKE if contains else 0.0)


def matched(texts: Sequence[tuple[int, str]], labels: Sequence[tuple[int, str, str]]) -> dict[int, str]:
    """The kind of the label that each text of a message matches best, by place; each label once."""
    scored = sorted(
        (-score, t, n)
        for t, (number, text) in enumerate(texts)
        for n, (message, _, label) in enumerate(labels)
        if number == message and (score := alike(text, label)) >= _ALIKE
    )
    found: dict[int, str] = {}
    used: set[int] = set()
    for _, t, n in scored:
        if t not in found and n not in used:
            found[t] = labels[n][1]
            used.add(n)
    return found


def fit_facts(rows: Sequence[dict[str, Any]]) -> None:
    """Fits the weights of each kind over those of none."""

    def train(talks: Sequence[Talk]) -> dict[str, dict[str, float]]:
        features: list[Row] = []
        kinds: list[str] = []
        for one in talks:
            judged = [each for message in facts.judged(one.messages) for each in message]
            texts = [(each.statement.number, each.statement.text) for each, _ in judged]
            found = matched(texts, one.labels)
            features += [row for _, row in judged]
            kinds += [found.get(n, _NONE) for n in range(len(judged))]
        weights = fit(features, kinds, _FACT_STRENGTH)
        none = weights[_NONE]
        by_kind = {kind: rounded({name: weights[kind][name] - none[name] for name in none}) for kind in facts.KINDS}
        return {
            name: {kind: by_kind[kind][name] for kind in facts.KINDS if name in by_kind[kind]} for name in sorted(none)
        }

    train_on = [talk(row) for row in rows if row.get("split") != "check"]
    check = [talk(row) for row in rows if row.get("split") == "check"]
    number = folds([f"{n} {one.messages[0].text}" for n, one in enumerate(train_on)])
    judged = [n for n, one in enumerate(train_on) if len(one.messages) > 1]
    counts = sum(
        (
            score(
                [train_on[n] for n in judged if number[n] == fold],
                train([one for one, n in zip(train_on, number, strict=True) if n != fold]),
            )
            for fold in range(_FOLDS)
        ),
        np.zeros(5, dtype=int),
    )
    print(f"{_FOLDS}-fold, excerpts: {described(counts)}")
    weights = train(train_on)
    if check:
        print(f"check half: {described(score(check, weights))}")
    write(Path(topic.__file__).with_name("facts.json"), weights)


def score(talks: Sequence[Talk], weights: Mapping[str, Mapping[str, float]]) -> Any:
    """How many facts are found and labelled, and how many match a label, its family and its kind."""
    counts = np.zeros(5, dtype=int)
    for one in talks:
        found = facts.extract(one.messages, weights)
        kinds = matched([(fact.message, fact.text) for fact in found], one.labels)
        counts += [
            len(found),
            len(one.labels),
            len(kinds),
            sum(_FAMILY.get(kind, kind) == _FAMILY.get(found[n].kind, found[n].kind) for n, kind in kinds.items()),
            sum(kind == found[n].kind for n, kind in kinds.items()),
        ]
    return counts


def described(counts: Any) -> str:
    found, labels, *right = (int(count) for count in counts)
    parts = [
        f"{name} {count / max(1, found):.2f} / {count / max(1, labels):.2f}, F1 {2 * count / max(1, found + labels):.3f}"
        for name, count in zip(("span", "family", "kind"), right, strict=True)
    ]
    return f"{found} found of {labels}; P / R of {'; '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["topics", "facts"])
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    (fit_topics if given.what == "topics" else fit_facts)(read(given.files))


if __name__ == "__main__":
    main()
