"""The backends: ways to order a space by a question. To add one, describe it as a `ScoringScheme` and name it here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Ranker

RANKERS = ("basic", "fusion", "graph", "hybrid", "patricia", "raptor")


def open_ranker(name: str) -> Ranker:
    """The backend of this name, one of RANKERS. No module of another backend is loaded."""
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
