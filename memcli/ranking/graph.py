"""`graph`: a breadth-first walk from the memories nearest in meaning to those tied to them by tags, clusters and links, losing
strength with every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.model.recall import Entry
from memcli.ranking.clusters import texts_of, tight
from memcli.ranking.lexical import bm25f, coverage, preferences, style_of
from memcli.ranking.scorer import Parts, ScoreInput, ScoringScheme, nonzero
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace

THRESHOLD = 0.4
"""The least cosine of a start by meaning."""
STARTS = 10
"""The most starts of the walk."""
WORDS = 0.6
"""The strength of a start with all words of the topic; starts by words fill up those by meaning."""
OWN_MEANING, OWN_WORDS = 0.1, 0.6
"""The weights of a reached memory's own meaning and words, as many are reached by paths of equal strength."""
CANDIDATES = 100
LARGEST_TAG = 0.05
"""A tag ties its memories if at most this share of the space has it, or at most ALWAYS_TIED memories."""
ALWAYS_TIED = 10
CLUSTER_SIZE = 12
CLUSTER_COSINE = 0.05
"""The least mean cosine of a member with the others of its cluster; that of unrelated texts is 0."""
OWN_WEIGHTS: Mapping[str, float] = {"semantic": 1.0, "keyword": 1.0}
"""The default weights of starts by meaning and by words (`--weights`)."""
DEPTH = 2
DECAY = 0.7
TAG, CLUSTER, SUPERSEDES, OTHER = 0.8, 0.6, 0.9, 0.3
"""The factor of a tie of each kind, before the decay; that of a link `relates_to` is its weight."""


class WalkPath(Record):
    """The ties by which a memory was reached, and the strength that is left."""

    strength: float
    ties: tuple[str, ...]

    def step(self, tie: str, factor: float) -> WalkPath:
        """This path, extended by a tie."""
        return WalkPath(self.strength * factor * DECAY, (*self.ties, tie))


TieGraph = tuple[
    Mapping[str, tuple[str, float, Sequence[int]]],
    Mapping[int, Sequence[str]],
    Mapping[int, Sequence[tuple[int, str, float]]],
]
"""Memories and their ties. A set, of a tag or a cluster, ties each two of its members.

The kind, the factor and the members of each set, by its name; the names of the sets of each memory; and for each memory the
others linked with it, with the relation and the factor."""


def graph_of(
    tags: Mapping[str, Sequence[int]], clusters: Iterable[Sequence[int]], links: Iterable[tuple[int, int, str, float]]
) -> TieGraph:
    """The graph of these sets and links. A link ties in both directions."""
    sets: dict[str, tuple[str, float, Sequence[int]]] = {
        f"tag:{tag}": ("tag", TAG, members) for tag, members in sorted(tags.items())
    }
    sets |= {f"cluster:{n}": ("cluster", CLUSTER, members) for n, members in enumerate(clusters)}
    member_of: dict[int, list[str]] = {}
    for name, (_, _, members) in sets.items():
        for member in members:
            member_of.setdefault(member, []).append(name)
    tied: dict[int, list[tuple[int, str, float]]] = {}
    for start, end, relation, weight in links:
        factor = {"relates_to": weight, "supersedes": SUPERSEDES}.get(relation, OTHER)
        tied.setdefault(start, []).append((end, relation, factor))
        tied.setdefault(end, []).append((start, relation, factor))
    return sets, member_of, tied


def cascade(graph: TieGraph, starts: Mapping[int, WalkPath]) -> dict[int, WalkPath]:
    """The best path, of a strength above 0, to each memory within DEPTH steps of the starts."""
    best = dict(starts)
    frontier = dict(starts)
    for _ in range(DEPTH):
        reached: dict[int, WalkPath] = {}
        for row, path in _steps(graph, frontier):
            if path.strength > 0 and _is_better(path, best.get(row)):
                best[row] = reached[row] = path
        frontier = reached
    return best


def _steps(graph: TieGraph, frontier: Mapping[int, WalkPath]) -> Iterable[tuple[int, WalkPath]]:
    """The paths one step beyond the frontier. Into a set only the strongest path leads, as others cannot be better."""
    sets, member_of, links = graph
    entered: dict[str, WalkPath] = {}
    for row, path in frontier.items():
        for name in member_of.get(row, ()):
            if _is_better(path, entered.get(name)):
                entered[name] = path
        for other, relation, factor in links.get(row, ()):
            yield other, path.step(relation, factor)
    for name, path in entered.items():
        kind, factor, members = sets[name]
        after = path.step(kind, factor)
        for member in members:
            yield member, after


def _is_better(path: WalkPath, than: WalkPath | None) -> bool:
    """Whether a path is stronger, or as strong with fewer or earlier ties: the order of rows must not decide."""
    if than is None:
        return True
    return (-path.strength, len(path.ties), path.ties) < (-than.strength, len(than.ties), than.ties)


def _graph(given: ScoreInput) -> Parts:
    # Scores are relative to the best, and that is weighed by its share of the topic's words.
    scores = bm25f(given.stats, {row: style_of(entry) for row, entry in given.entries.items()})
    best = max(scores, key=lambda row: scores[row], default=None)
    share = coverage(given.stats)[best] if best is not None else 0.0
    words = {row: share * score / scores[best] for row, score in scores.items()} if best is not None else {}

    def first(found: Mapping[int, float], places: int) -> list[int]:
        return sorted(found, key=lambda row: (-round(found[row], 6), given.entries[row].id))[:places]

    # The walk starts from the nearest in meaning, filled up to STARTS with the best by words.
    near = {row: cosine for row, cosine in given.cosines.items() if cosine >= THRESHOLD and row in given.entries}
    starts = {row: WalkPath(near[row] * given.weights["semantic"], ("meaning",)) for row in first(near, STARTS)}
    others = {row: share for row, share in words.items() if row not in starts}
    for row in first(others, STARTS - len(starts)):
        starts[row] = WalkPath(WORDS * words[row] * given.weights["keyword"], ("words",))
    parts = {}
    for row, path in cascade(given.structure, starts).items():
        parts[row] = nonzero(
            {
                ">".join(path.ties): path.strength,
                "own_meaning": OWN_MEANING * max(0.0, given.cosines.get(row, 0.0)) * given.weights["semantic"],
                "own_words": OWN_WORDS * words.get(row, 0.0) * given.weights["keyword"],
                **preferences(given.entries[row], given.query),
            }
        )
    return parts


def _ties(view: IndexedSpace, entries: Mapping[int, Entry]) -> TieGraph:
    tags: dict[str, list[int]] = {}
    for row, entry in entries.items():
        for tag in entry.tags:
            tags.setdefault(tag, []).append(row)
    most = max(ALWAYS_TIED, LARGEST_TAG * len(entries))
    texts = texts_of(view, entries)
    rows = list(texts)
    clusters = tight([Counter(text) for text in texts.values()], CLUSTER_SIZE, CLUSTER_COSINE) if rows else []
    return graph_of(
        {tag: tagged for tag, tagged in tags.items() if len(tagged) <= most},
        [[rows[n] for n in members] for members in clusters],
        [link for link in view.links() if link[0] in entries and link[1] in entries],
    )


GRAPH = ScoringScheme(_graph, OWN_WEIGHTS, candidates=CANDIDATES, uses_vectors=True, build=_ties)
"""Scores by the strength of the best path to each memory, at most two steps from a start. `--weights` sets `semantic` and
`keyword`, the strength of the two kinds of starts."""
