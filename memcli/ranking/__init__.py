"""The backends of recall, each a way to rank the memories of a space for a query. To add one, write a `ScoringScheme` and a
branch of `open_ranker`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Ranker

RANKERS = ("basic", "fusion", "graph", "hybrid", "patricia", "raptor")


def open_ranker(name: str) -> Ranker:
    """The backend with this name, one of RANKERS; only its module is imported."""
    if name == "fusion":
        from memcli.ranking.fusion import rank

        return rank
    from memcli.ranking.scorer import Scorer

    if name == "graph":
        from memcli.ranking.graph import GRAPH

        return Scorer(GRAPH)
    if name == "raptor":
        from memcli.ranking.raptor import RAPTOR

        return Scorer(RAPTOR)
    from memcli.ranking.points import BASIC, HYBRID, PATRICIA

    return Scorer({"basic": BASIC, "hybrid": HYBRID, "patricia": PATRICIA}[name])
