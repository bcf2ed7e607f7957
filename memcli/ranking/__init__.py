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


def _graph() -> Ranker:
    from memcli.ranking.graph import GraphRanker

    return GraphRanker()


def _hybrid() -> Ranker:
    from memcli.ranking.hybrid import HybridRanker

    return HybridRanker()


def _patricia() -> Ranker:
    from memcli.ranking.patricia import PatriciaRanker

    return PatriciaRanker()


def _raptor() -> Ranker:
    from memcli.ranking.raptor import RaptorRanker

    return RaptorRanker()


RANKERS: Mapping[str, Callable[[], Ranker]] = {
    "basic": _basic,
    "fusion": _fusion,
    "graph": _graph,
    "hybrid": _hybrid,
    "patricia": _patricia,
    "raptor": _raptor,
}
