"""Fits the weights of `memcli/ranking/confidence.json` to questions and prompts whose answers are known.

    python tools/fit_confidence.py FILE... > memcli/ranking/confidence.json
    python tools/fit_confidence.py --check FILE FILE...    # fits without the first file and says how it does on that

A line of FILE is a question: `{"use", "store", "none", "rows": [{"form", "signals", "good"}]}`; `use` is one of those of the
weights, `none` says that nothing in the store answers, the rows are the hits of a ranking, best first, with the signals and the
form of each (`Hit.signals`, `Hit.form`), and whether what is shown of it answers; `count` is what it counts for the confidence
of a bundle, by default 1: less where a question is asked of several stores. Each question is taken twice: as it is, and
without what answers it, since a question that nothing answers is what such data have least of.

L2-regularised logistic regression by Newton's method, with weights for all forms and, held to them by a stronger
penalty, differences for each form; deterministic.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import logistic
import numpy as np

from memcli.ranking.answers import FORMS, TALK, Evidence, Signals, evidence_of

SHARED, OF_FORM, OF_BUNDLE = 4.0, 3.0, 3.0
"""The penalties of the weights of all forms, of the differences of one, and of the weights of a bundle."""
FIRST, LATER = 1.0, 0.4
"""What one of the first five rows counts, and one after them."""
SHOWN = 10
"""The probability of a bundle is that one of so many answers."""
DIGITS = 4
USES = ("question", "prompt", "question by words", "prompt by words")
_RELATIVE, _LEAD, _SCORE = (Signals._fields.index(name) for name in ("relative", "lead", "score"))
_OF_MEANING = [Signals._fields.index(name) for name in ("cosine", "above", "both")]

Row = tuple[list[float], str, bool]


def without_answers(rows: Sequence[Row]) -> list[Row]:
    """The rows that do not answer, with the signals that they would have without the others."""
    rest = [(list(signals), form, good) for signals, form, good in rows if not good]
    scores = sorted((signals[_SCORE] for signals, _, _ in rest), reverse=True)
    best, fifth = (scores[0] if scores else 0.0), (scores[4] if len(scores) > 4 else 0.0)
    for signals, _, _ in rest:
        signals[_RELATIVE] = signals[_SCORE] / best if best > 0 else 0.0
        signals[_LEAD] = (best - fifth) / best if best > 0 else 0.0
    return rest


def examples(questions: Iterable[dict]) -> Iterator[list[Row]]:
    """The rows of each question, and again without its answers."""
    for question in questions:
        rows = [(row["signals"], row["form"], bool(row["good"])) for row in question["rows"]]
        yield rows
        if any(good for _, _, good in rows) and len(rest := without_answers(rows)):
            yield rest


def fit(questions: Sequence[dict], *, by_words: bool) -> dict[str, list[float]]:
    """The weights by form, the constant last."""
    found = [(row, FIRST if n < 5 else LATER) for rows in examples(questions) for n, row in enumerate(rows)]
    signals = np.array([row[0] for row, _ in found])
    if by_words:
        signals[:, _OF_MEANING] = 0.0
    forms = np.array([FORMS.index(row[1]) for row, _ in found])
    good = np.array([row[2] for row, _ in found], float)
    counts = np.array([count for _, count in found])
    mean, spread = signals.mean(0), signals.std(0) + 1e-9
    scaled = np.hstack([(signals - mean) / spread, np.ones((len(signals), 1))])
    columns = np.hstack([scaled, *(scaled * (forms == n)[:, None] for n in range(len(FORMS)))])
    width = scaled.shape[1]
    penalty = np.array([SHARED] * (width - 1) + [1e-3] + ([OF_FORM] * (width - 1) + [OF_FORM / 4]) * len(FORMS))
    weights = logistic.fit(columns, good, penalty, counts)
    result = {}
    for n, form in enumerate(FORMS):
        own = weights[:width] + weights[width * (n + 1) : width * (n + 2)]
        plain = own[:-1] / spread
        if by_words:
            plain[_OF_MEANING] = 0.0
        result[form] = [round(float(x), DIGITS) for x in (*plain, own[-1] - (plain * mean).sum())]
    return result


def fitted(questions: Sequence[dict]) -> dict[str, dict[str, list[float]]]:
    """The weights by use and form; those of talk are fitted to talk alone, which is unlike all else."""
    weights, calibrations = {}, {}
    for use in USES:
        of_use = [one for one in questions if one["use"] == use]
        others = [one for one in of_use if not is_talk(one)]
        weights[use] = fit(others, by_words=use.endswith("words"))
        if "question" in use:
            calibrations[use] = calibration(others, weights[use])
            talk = [one for one in of_use if is_talk(one)]
            weights[use][TALK] = fit(talk, by_words=use.endswith("words"))[TALK]
            calibrations[use.replace("question", TALK)] = calibration(talk, weights[use])
    return weights | {"calibration": calibrations}


def is_talk(question: dict) -> bool:
    """Whether the first hit is a turn of a talk."""
    return bool(question["rows"]) and question["rows"][0]["form"] == TALK


def calibration(questions: Sequence[dict], weights: dict[str, list[float]]) -> list[float]:
    """The weights of the evidence in the first ten rows, the constant last, which give the probability of the bundle."""
    own = [one for one in questions if one["rows"]]
    found = np.array([evidence(one, weights) for one in own])
    mean, spread = found.mean(0), found.std(0) + 1e-9
    columns = np.hstack([(found - mean) / spread, np.ones((len(own), 1))])
    good = np.array([any(r["good"] for r in one["rows"][:SHOWN]) for one in own], float)
    counts = np.array([one.get("count", 1.0) for one in own])
    *fitted, constant = logistic.fit(columns, good, np.array([OF_BUNDLE] * found.shape[1] + [1e-3]), counts)
    plain = fitted / spread
    return [round(float(x), DIGITS) for x in (*plain, constant - (plain * mean).sum())]


def evidence(question: dict, weights: dict[str, list[float]]) -> Evidence:
    """The evidence in the first ten rows of a question that has any."""
    rows = question["rows"][:SHOWN]
    found = [Signals(*row["signals"]) for row in rows]
    return evidence_of([chance_of(weights[row["form"]], row["signals"]) for row in rows], found)


def chance_of(weights: Sequence[float], signals: Sequence[float]) -> float:
    """The probability by these weights."""
    return float(1 / (1 + np.exp(-weights[-1] - np.dot(weights[:-1], signals))))


def report(questions: Sequence[dict], weights: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    """For each use the curve over the threshold, the Brier score and the reliability of the best row of a question."""
    for use in USES:
        by_form = weights[use]
        own = [one for one in questions if one["use"] == use and one["rows"]]
        if not own:
            continue
        best = np.array([max(chance_of(by_form[r["form"]], r["signals"]) for r in one["rows"][:SHOWN]) for one in own])
        if "question" in use:
            of_form = [use.replace("question", TALK) if is_talk(one) else use for one in own]
            pairs = zip(own, of_form, strict=True)
            best = np.array([chance_of(weights["calibration"][key], evidence(one, by_form)) for one, key in pairs])
        good = np.array([any(r["good"] for r in one["rows"][:10]) for one in own])
        none = np.array([one["none"] for one in own])
        yield f"{use}: {len(own)}, answered {good[~none].mean():.2f}, Brier {((best - good) ** 2).mean():.3f} (constant {good.mean() * (1 - good.mean()):.3f})"
        for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7):
            sure = best >= least
            yield (
                f"  {least:.2f}: unanswerable below {(~sure[none]).mean():.2f}, answerable below {(~sure[~none]).mean():.2f}, "
                f"answered and above {(good & sure)[~none].mean():.2f}"
            )
        for low in np.arange(0, 1, 0.1):
            here = (best >= low) & (best < low + 0.1)
            if here.any():
                yield f"  {low:.1f}-{low + 0.1:.1f}: {here.sum()}, mean {best[here].mean():.2f}, right {good[here].mean():.2f}"


def main() -> None:
    files = [name for name in sys.argv[1:] if name != "--check"]
    read = [list(map(json.loads, Path(name).read_text(encoding="utf-8").splitlines())) for name in files]
    if "--check" in sys.argv:
        print(*report(read[0], fitted([one for some in read[1:] for one in some])), sep="\n")
        return
    weights = fitted([one for some in read for one in some])
    rows = [
        f'  "{use}": {{\n' + ",\n".join(f'    "{f}": {json.dumps(w)}' for f, w in one.items()) + "\n  }"
        for use, one in weights.items()
    ]
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
