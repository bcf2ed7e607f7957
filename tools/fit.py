"""Fits the weights of the linear models of conversations, writes them beside the code, and prints how good they are.

    python tools/fit.py topics FILE...

FILE has a labelled example in each line, JSON; those with `"split": "check"` are only judged. A pair of prompts:
`{"previous", "current", "changed"}`. The same files give the same weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from memcli.conversation import topic
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS

_FOLDS = 10
_LEAST = 0.05
"""A smaller weight is left out."""

Row = Mapping[str, float]


def fit(rows: Sequence[Row], labels: Sequence[Any], strength: float) -> dict[Any, dict[str, float]]:
    """The weights of each class, or, of two, those of the greater one, by the names of the features; `bias` is the intercept.
    `strength` is the inverse of that of the L2 penalty."""
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    model = LogisticRegression(C=strength, max_iter=5000, tol=1e-8).fit(matrix, np.array(labels))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["topics"])
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    fit_topics(read(given.files))


if __name__ == "__main__":
    main()
