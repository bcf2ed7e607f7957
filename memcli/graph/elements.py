"""The graph of memories: its nodes and edges, how it is built, and the neighbourhood of a node. Also ids and names of clusters,
which depend on their members alone.

A name consists of the words that distinguish a cluster from the others, by class-based tf-idf (M. Grootendorst: "BERTopic: Neural
Topic Modeling with a Class-Based TF-IDF Procedure", 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, count
from math import log
from operator import itemgetter
from typing import NewType

from memcli.digests import blake2b
from memcli.model.links import MUTUAL, SUPERSEDES, elsewhere, target
from memcli.model.memory import Memory
from memcli.model.shapes import RELATIONS
from memcli.record import Record, replace
from memcli.safety.screening import Overview
from memcli.summarize.keyphrases import extract
from memcli.summarize.sentences import BREAK, PARTICIPLE, VAGUE_WORD, classify, path_words, split
from memcli.text.words import terms

MEMORY, TAG, CLUSTER = "memory", "tag", "cluster"
HAS_TAG, IN_CLUSTER = "has_tag", "in_cluster"


class Node(Record):
    """A memory, a tag or a cluster. `id` is unique among all nodes; `members` is the number of memories with the tag or in the
    cluster, in the whole graph. Nodes for rendering have `shown` instead of `memory`."""

    id: str
    type: str
    label: str
    memory: Memory | None = None
    space: str = ""
    members: int = 0
    shown: Overview | None = None


class Edge(Record):
    """An edge between two nodes, by their ids. `weight` is 0..1."""

    start: str
    end: str
    relation: str
    weight: float = 1.0

    @property
    def order(self) -> tuple[str, str, str]:
        return self.start, self.relation, self.end


class Graph(Record):
    """Nodes and edges in a total order. `roots` are the ids of the requested nodes; those in `cut` have more neighbours than the
    graph contains."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    roots: tuple[str, ...] = ()
    cut: frozenset[str] = frozenset()

    def among(self, ids: Iterable[str]) -> Graph:
        """The nodes of these ids, and the edges between them."""
        chosen = frozenset(ids)
        return replace(
            self,
            nodes=tuple(node for node in self.nodes if node.id in chosen),
            edges=tuple(edge for edge in self.edges if edge.start in chosen and edge.end in chosen),
            cut=self.cut & chosen,
        )

    def neighbours(self) -> dict[str, list[Edge]]:
        """The edges of each node that has any, in order."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.start, []).append(edge)
            if edge.end != edge.start:
                found.setdefault(edge.end, []).append(edge)
        return found


# A type of its own, so that a new renderer cannot forget the screening.
GraphView = NewType("GraphView", Graph)
"""A graph whose memories were screened, as `overview` returns it: renderers take no other."""


def in_order(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """The graph of these nodes and edges, in order: memories by path, tags, clusters."""
    types = (MEMORY, TAG, CLUSTER)
    ordered = sorted(nodes, key=lambda node: (types.index(node.type), node.label, node.id))
    return Graph(tuple(ordered), tuple(sorted(edges, key=lambda edge: edge.order)))


HUB = 25
"""A tag or a cluster with more members is no path between them: they have too little in common."""


def neighbourhood(graph: Graph, starts: Iterable[str], depth: int) -> Graph:
    """The nodes within `depth` edges of the starts, in either direction, and the edges between them."""
    edges, nodes = graph.neighbours(), {node.id: node for node in graph.nodes}
    roots = tuple(dict.fromkeys(name for name in starts if name in nodes))
    seen = dict.fromkeys(roots)
    frontier, cut = list(roots), set[str]()
    for _ in range(depth):
        # A request with a huge depth must not go on counting after the last node.
        if not frontier:
            break
        reached: dict[str, None] = {}
        for name in frontier:
            if nodes[name].type != MEMORY and nodes[name].members > HUB and name not in roots:
                cut.add(name)
                continue
            for edge in edges.get(name, ()):
                reached |= {end: None for end in (edge.start, edge.end) if end not in seen}
        seen |= reached
        frontier = list(reached)
    for name in frontier:
        if any(end not in seen for edge in edges.get(name, ()) for end in (edge.start, edge.end)):
            cut.add(name)
    return replace(graph, roots=roots, cut=frozenset(cut)).among(seen)


def node_id(space: str, name: str, main: str) -> str:
    """The id or path `name` among all spaces: unchanged in the space `main`, otherwise after `SPACE:`, as in links."""
    return name if space == main else f"{space}:{name}"


def build(
    spaces: Mapping[str, Sequence[Memory]], main: str, clusters: Mapping[str, Sequence[str]] | None = None
) -> Graph:
    """The graph of the memories in `spaces`, by space. `clusters` has the ids of the nodes of each cluster. Edges to other
    memories are left out; a mutual relation is one edge."""
    memories = {
        node_id(space, memory.id, main): Node(
            node_id(space, memory.id, main), MEMORY, node_id(space, memory.path, main), memory, space
        )
        for space, objects in spaces.items()
        for memory in objects
    }
    edges: dict[tuple[str, str, str], Edge] = {}
    for _, node in sorted(memories.items()):
        for edge in _edges(node, main):
            if edge.relation == HAS_TAG or edge.end in memories:
                ends = (edge.start, edge.end)
                first, second = sorted(ends) if edge.relation in MUTUAL else ends
                edges.setdefault((first, edge.relation, second), edge)
    groups = [
        (f"cluster:{name}", [one for one in members if one in memories])
        for name, members in sorted((clusters or {}).items())
    ]
    for name, members in groups:
        edges |= {edge.order: edge for edge in (Edge(member, name, IN_CLUSTER) for member in members)}
    nodes = [Node(name, CLUSTER, name.removeprefix("cluster:"), members=len(members)) for name, members in groups]
    tags = Counter(edge.end for edge in edges.values() if edge.relation == HAS_TAG)
    nodes += [Node(name, TAG, name.removeprefix("tag:"), members=count) for name, count in tags.items()]
    return in_order([*memories.values(), *nodes], edges.values())


def overview(graph: Graph, show: Callable[[str, Memory], Overview], main: str) -> GraphView:
    """The graph for rendering: each memory is replaced by what `show` returns for its space and itself. Memories retain their
    ids; their labels and tags may change."""
    nodes, tags = dict[str, Node](), dict[str, str]()
    for node in graph.nodes:
        if node.memory is None:
            nodes[node.id] = node
            continue
        shown = show(node.space, node.memory)
        label = f"{node_id(node.space, shown.path, main)}{shown.mark}"
        nodes[node.id] = replace(node, memory=None, shown=shown, label=label)
        tags |= {
            f"tag:{old}": f"tag:{new}" for old, new in zip(node.memory.tags, shown.tags, strict=False) if old != new
        }
    for old, new in tags.items():
        if old in nodes:
            nodes[old] = replace(nodes[old], id=new, label=new.removeprefix("tag:"))
    edges = (replace(edge, end=tags[edge.end]) if edge.end in tags else edge for edge in graph.edges)
    changed = in_order({node.id: node for node in nodes.values()}.values(), edges)
    cut = frozenset(tags.get(name, name) for name in graph.cut)
    return GraphView(Graph(changed.nodes, changed.edges, graph.roots, cut))


def _edges(node: Node, main: str) -> Iterator[Edge]:
    """The edges from a memory to other memories and to its tags."""
    assert node.memory is not None
    for link in node.memory.links:
        end = target(link)
        if end and link.get("relation") in RELATIONS:
            far = elsewhere(end)
            name = node_id(*far, main) if far else node_id(node.space, end, main)
            given = link.get("weight", 1.0)
            weight = min(1.0, max(0.0, float(given))) if isinstance(given, int | float) else 1.0
            yield Edge(node.id, name, link["relation"], weight)
    if node.memory.superseded_by:
        yield Edge(node_id(node.space, node.memory.superseded_by, main), node.id, SUPERSEDES)
    for tag in node.memory.tags:
        yield Edge(node.id, f"tag:{tag}", HAS_TAG)


_WORDS = 2
_MOST_WORDS = 4
_DIGEST_BYTES = 6
_NAMELESS = "cluster"
_LEAST_SHARE = 0.25
"""A word that fewer members have describes these, not the cluster."""
_UNINFORMATIVE = (BREAK, PARTICIPLE, VAGUE_WORD)
_ENDINGS = frozenset("py js ts rs rb md rst txt yml yaml toml cfg ini".split())
"""File name extensions: every second memory of code has one in its tags."""


def cluster_id(ids: Iterable[str]) -> str:
    """The id of the cluster of these memories: the least digest of any of them.

    The probability that two sets of members have the same id is the share of members that both have (A. Broder: "On the
    Resemblance and Containment of Documents", 1997): most small changes do not change it, and disjoint clusters differ.
    """
    return "clu_" + min(blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest() for name in ids)


def names(clusters: Sequence[Sequence[Memory]]) -> list[str]:
    """A short name for each cluster, given its members; names are distinct, and an earlier cluster gets the better one."""
    counted = [_count(members) for members in clusters]
    total: dict[str, float] = {}
    for shares, _, _ in counted:
        for stem, share in shares.items():
            total[stem] = total.get(stem, 0.0) + share
    mean = sum(total.values()) / max(len(counted), 1)

    def rank(shares: Mapping[str, float], stem: str) -> tuple[bool, float, str]:
        return shares[stem] < _LEAST_SHARE, -round(shares[stem] * log(1 + mean / total[stem]), 6), stem

    taken: set[str] = set()
    found = []
    for shares, forms, pairs in counted:
        stems = sorted(shares, key=partial(rank, shares))
        name = next(name for name in _name_choices(stems, forms, pairs) if name not in taken)
        taken.add(name)
        found.append(name)
    return found


def _name_choices(
    stems: Sequence[str], forms: Mapping[str, Counter[str]], pairs: Counter[tuple[str, str]]
) -> Iterator[str]:
    """An endless sequence of names for a cluster, best first, from its `stems`, best first. `forms` has the words of each stem
    with their counts, `pairs` how often the second stem follows the first."""

    def name(most: int) -> str:
        order: list[str] = []
        for stem in stems[:most]:
            # Words are in the order in which the members mostly have them: `token refresh`, not `refresh token`.
            place = len(order)
            while place and pairs[stem, order[place - 1]] > pairs[order[place - 1], stem]:
                place -= 1
            order.insert(place, stem)
        return (
            " ".join(min(forms[stem].items(), key=lambda item: (-item[1], item[0]))[0] for stem in order) or _NAMELESS
        )

    for most in range(_WORDS, _MOST_WORDS + 1):
        yield name(most)
    for number in count(2):
        yield f"{name(_WORDS)} {number}"


def _count(
    members: Sequence[Memory],
) -> tuple[dict[str, float], dict[str, Counter[str]], Counter[tuple[str, str]]]:
    """Of each stem the share of members that have it, and its words with their counts; and how often a stem precedes another."""
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for memory in members:
        stems: set[str] = set()
        phrases = sorted(extract(split(memory.summary_short or memory.raw)), key=itemgetter(1))
        for line in (*memory.tags, "-".join(tag for tag, _ in phrases), *path_words(memory.path)):
            stemmed = [(stem, word) for word in line.split("-") if (stem := _stem(word))]
            for stem, word in stemmed:
                stems.add(stem)
                forms.setdefault(stem, Counter())[word] += 1
            pairs.update(combinations([stem for stem, _ in stemmed], 2))
        counts.update(stems)
    shares = {stem: n / len(members) for stem, n in counts.items() if n > 1 or len(members) == 1}
    return shares, forms, pairs


def _stem(word: str) -> str:
    """The stem of a word; empty for numbers, hashes, file name extensions and vague words."""
    if not word or word in _ENDINGS or classify(word)[0] in _UNINFORMATIVE:
        return ""
    return " ".join(terms(word))
