"""Token vectors to one vector: the modes of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Floats: TypeAlias = Any  # arrays of NumPy, float64


def pooled(modes: Sequence[str], tokens: Floats, skipped: int) -> Floats:
    """The vectors of a text by these modes, one after the other. Its first tokens do not count in means and maxima, so
    many as are `skipped`: they are those of a prompt."""
    import numpy as np

    return np.concatenate([MODES[mode](tokens, tokens[skipped:]) for mode in modes])


def _cls(tokens: Floats, _own: Floats) -> Floats:
    return tokens[0]


def _max(tokens: Floats, own: Floats) -> Floats:
    import numpy as np

    return own.max(axis=0) if len(own) else np.zeros(tokens.shape[1])


def _mean(_tokens: Floats, own: Floats) -> Floats:
    return own.sum(axis=0) / max(1, len(own))


def _mean_sqrt(_tokens: Floats, own: Floats) -> Floats:
    return own.sum(axis=0) / max(1, len(own)) ** 0.5


def _weighted_mean(tokens: Floats, own: Floats) -> Floats:
    """Later tokens count more: of a decoder, these have seen the rest."""
    import numpy as np

    weights = np.arange(len(tokens) - len(own) + 1, len(tokens) + 1, dtype=np.float64)
    return weights @ own / max(1.0, weights.sum())


def _last(tokens: Floats, _own: Floats) -> Floats:
    return tokens[-1]


MODES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "cls": _cls,
    "max": _max,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_sqrt,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
"""By name, in the order in which sentence-transformers puts several together."""

KEYS: Mapping[str, str] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""The modes by their keys in `1_Pooling/config.json`; newer files name them in `pooling_mode`."""
