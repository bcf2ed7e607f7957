"""Fits the models by which claims are compared, and writes `memcli/claims/weights.json`.

    python tools/fit_claims.py PAIRS.jsonl...

Each line of a file is a pair of notes: `old`, `new`, `label` (contradicts, duplicate or compatible), `split` and, if several
pairs share a note, `group`. Only pairs with the split `fit` are read. The models are logistic regressions with an L2 penalty,
fitted by Newton's method. A model is asked for so much probability that it has the wanted precision in ten folds by group; its
precision and recall there are printed. The same files give the same weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import logistic
import numpy as np
from logistic import Numbers

from memcli.claims.claim import claim_of
from memcli.claims.comparison import CONFLICT, MATTER, conflicts, features_of, features_of_conflict, is_compatible
from memcli.embed.onnx import OnnxEmbedder
from memcli.model.findings import DUPLICATES

TARGET = Path(__file__).parent.parent / "memcli" / "claims" / "weights.json"
FOLDS, PENALTY, DIGITS = 10, 1.0, 4
PRECISION = {
    "words": {MATTER: 0.86, DUPLICATES: 0.86, CONFLICT: 0.86},
    "meaning": {MATTER: 0.86, DUPLICATES: 0.81, CONFLICT: 0.86},
}
"""What is wanted of each model without and with a cosine. Two texts with the same words may still say other things."""
Row = tuple[dict[str, float], bool, int]
"""Features, whether the model should say yes, and the fold."""


def read(files: Sequence[Path]) -> list[dict[str, Any]]:
    """The pairs to fit on, in order."""
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [pair for pair in map(json.loads, lines) if pair["split"] == "fit"]


def cosines_of(pairs: Sequence[dict[str, Any]]) -> list[float]:
    """How near the two notes of each pair are by meaning."""
    vectors = OnnxEmbedder().embed([text for pair in pairs for text in (pair["new"], pair["old"])])
    numbers = np.array([np.frombuffer(vector, np.int8) for vector in vectors], np.float64)
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return [float(cosine) for cosine in (numbers[::2] * numbers[1::2]).sum(1)]


def rows_of(pairs: Sequence[dict[str, Any]], cosines: Sequence[float | None]) -> dict[str, list[Row]]:
    """What each model is fitted on. That of conflicts sees differing values, that of duplicates what could be one."""
    rows: dict[str, list[Row]] = {MATTER: [], DUPLICATES: [], CONFLICT: []}
    for pair, cosine in zip(pairs, cosines, strict=True):
        new, old, label = claim_of(pair["new"]), claim_of(pair["old"]), pair["label"]
        if not new.statements or not old.statements:
            continue
        fold = sha256(str(pair.get("group", pair["old"])).encode()).digest()[0] % FOLDS
        found = list(conflicts(new, old))
        features = features_of(new, old, found, cosine)
        rows[MATTER].append((features, label != "compatible", fold))
        if is_compatible(new, old):
            rows[DUPLICATES].append((features, label == "duplicate", fold))
        rows[CONFLICT] += [
            (features_of_conflict(one, cosine), label == "contradicts", fold) for one in found if not one.is_sign
        ]
    return rows


def fit(features: Numbers, wanted: Numbers) -> Numbers:
    """The weights of a logistic regression, the bias first; features are standardised for the penalty."""
    middle, spread = features.mean(0), features.std(0) + 1e-9
    scaled = np.column_stack([np.ones(len(features)), (features - middle) / spread])
    weights = logistic.fit(scaled, wanted, np.array([1e-6] + [PENALTY] * features.shape[1]))
    weights[1:] /= spread
    weights[0] -= weights[1:] @ middle
    return np.asarray(weights)


def model_of(rows: Sequence[Row], precision: float) -> tuple[dict[str, float], str]:
    """The weights by name with `bias` and `least`, the probability to ask for; and how well it does in folds."""
    names = list(rows[0][0])
    features = np.array([[row[name] for name in names] for row, _, _ in rows])
    wanted, folds = np.array([float(row[1]) for row in rows]), np.array([row[2] for row in rows])
    said = np.zeros(len(rows))
    for fold in range(FOLDS):
        weights = fit(features[folds != fold], wanted[folds != fold])
        said[folds == fold] = 1 / (1 + np.exp(-(weights[0] + features[folds == fold] @ weights[1:])))
    order = np.argsort(-said, kind="stable")
    right = np.cumsum(wanted[order])
    enough = np.flatnonzero(right / np.arange(1, len(rows) + 1) >= precision)
    last = int(enough[-1]) if len(enough) else 0
    how = f"{len(rows)} rows, in folds P {right[last] / (last + 1):.3f} R {right[last] / wanted.sum():.3f}"
    found = dict(zip(["bias", *names], fit(features, wanted), strict=True))
    return {name: round(float(each), DIGITS) for name, each in {**found, "least": said[order][last]}.items()}, how


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="PAIRS.jsonl")
    pairs = read(parser.parse_args().files)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for way, cosines in (("words", [None] * len(pairs)), ("meaning", cosines_of(pairs))):
        for name, rows in rows_of(pairs, cosines).items():
            weights, how = model_of(rows, PRECISION[way][name])
            found.setdefault(name, {})[way] = weights
            print(f"{name:12}{way:9}{how}")
    TARGET.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
