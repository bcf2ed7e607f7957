"""Logistic regression with an L2 penalty, by Newton's method: for the tools that fit weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
STEPS = 100
ENOUGH = 1e-9
"""A step as small as this ends the fit."""
LARGEST = 2.0
"""The largest change of a weight in a step: the first ones overshoot where few examples are wrong."""


def fit(
    columns: Numbers, wanted: Numbers, penalty: Numbers, counts: Numbers | float = 1.0, start: Numbers | None = None
) -> Numbers:
    """The weights of the columns, float64 [m], for examples [n, m] of which some are `wanted` (0 or 1) [n].

    `penalty` [m] holds the weights to `start`, by default 0; `counts` [n] is what each example counts.
    """
    held = np.zeros(columns.shape[1]) if start is None else start
    weights = held
    for _ in range(STEPS):
        chance = chance_of(columns, weights)
        slope = columns.T @ (counts * (chance - wanted)) + penalty * (weights - held)
        curve = (columns * (counts * chance * (1 - chance))[:, None]).T @ columns + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights = weights - step * min(1.0, LARGEST / (abs(step).max() + ENOUGH))
        if abs(step).max() < ENOUGH:
            break
    return weights


def chance_of(columns: Numbers, weights: Numbers) -> Numbers:
    """The probability of each example, float64 [n]."""
    return np.asarray(1 / (1 + np.exp(-columns @ weights)))
