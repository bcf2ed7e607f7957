"""The backends: ways to order a space by a question. To add one, describe it as a `ScoringScheme` and add a line to RANKERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Ranker
    from memcli.ranking.scorer import ScoringScheme


def _fusion() -> Ranker:
    from memcli.ranking.fusion import FusionRanker

    return FusionRanker()


def _scorer(load: Callable[[], ScoringScheme]) -> Callable[[], Ranker]:
    def ranker() -> Ranker:
        from memcli.ranking.scorer import Scorer

        return Scorer(load())

    return ranker


def _basic() -> ScoringScheme:
    from memcli.ranking.points import BASIC

    return BASIC


def _graph() -> ScoringScheme:
    from memcli.ranking.graph import GRAPH

    return GRAPH


def _hybrid() -> ScoringScheme:
    from memcli.ranking.points import HYBRID

    return HYBRID


def _patricia() -> ScoringScheme:
    from memcli.ranking.points import PATRICIA

    return PATRICIA


def _raptor() -> ScoringScheme:
    from memcli.ranking.raptor import RAPTOR

    return RAPTOR


RANKERS: Mapping[str, Callable[[], Ranker]] = {
    "basic": _scorer(_basic),
    "fusion": _fusion,
    "graph": _scorer(_graph),
    "hybrid": _scorer(_hybrid),
    "patricia": _scorer(_patricia),
    "raptor": _scorer(_raptor),
}
