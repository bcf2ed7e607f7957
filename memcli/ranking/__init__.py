"""The backends: ways to order a space by a question. To add one: one file here and one line in RANKERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.ports import Ranker


def _basic() -> Ranker:
    from memcli.ranking.basic import BasicRanker

    return BasicRanker()


def _fusion() -> Ranker:
    from memcli.ranking.fusion import FusionRanker

    return FusionRanker()


RANKERS: Mapping[str, Callable[[], Ranker]] = {"basic": _basic, "fusion": _fusion}
