"""The graph of memories: nodes and edges as values, how it is built, and what surrounds a node.

Ids and names of clusters, made of their members alone.

A name is made of the words that tell a cluster from the others, by class-based tf-idf (M. Grootendorst: "BERTopic: Neural
Topic Modeling with a Class-Based TF-IDF Procedure", 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, count
from math import log
from operator import itemgetter

from memcli.digests import blake2b
from memcli.model.links import MUTUAL, SUPERSEDES, elsewhere, target
from memcli.model.memory import Memory
from memcli.model.shapes import RELATIONS
from memcli.record import Record, replace
from memcli.safety.injection import Overview
from memcli.summarize.keyphrases import extract
from memcli.summarize.sentences import BREAK, PARTICIPLE, VAGUE_WORD, classify, path_words, split
from memcli.text.words import terms

MEMORY, TAG, CLUSTER = "memory", "tag", "cluster"
HAS_TAG, IN_CLUSTER = "has_tag", "in_cluster"


class Node(Record):
    """A memory, a tag or a cluster. `id` is its own among all nodes; `members` is how many memories the whole graph
    has with a tag or in a cluster. What is to be rendered has `shown` in the place of `memory`."""

    id: str
    type: str
    label: str
    memory: Memory | None = None
    space: str = ""
    members: int = 0
    shown: Overview | None = None


class Edge(Record):
    """A tie between two nodes, by their ids. `weight` is 0..1."""

    start: str
    end: str
    relation: str
    weight: float = 1.0

    @property
    def order(self) -> tuple[str, str, str]:
        return self.start, self.relation, self.end


class Graph(Record):
    """Nodes and edges in a total order. `roots` are the ids of the nodes that were asked for; of `cut` there are more
    neighbours than are shown."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    roots: tuple[str, ...] = ()
    cut: frozenset[str] = frozenset()

    def among(self, ids: Iterable[str]) -> Graph:
        """The nodes of these ids, and the edges between them."""
        kept = frozenset(ids)
        return replace(
            self,
            nodes=tuple(node for node in self.nodes if node.id in kept),
            edges=tuple(edge for edge in self.edges if edge.start in kept and edge.end in kept),
            cut=self.cut & kept,
        )

    def neighbours(self) -> dict[str, list[Edge]]:
        """The edges of each node that has any, in order."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.start, []).append(edge)
            if edge.end != edge.start:
                found.setdefault(edge.end, []).append(edge)
        return found


class GraphView(Graph):
    """A graph whose memories were screened, which is what renderers take; `graph.build.overview` makes one."""


def in_order(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """The graph of these, memories by path before tags before clusters."""
    types = (MEMORY, TAG, CLUSTER)
    ordered = sorted(nodes, key=lambda node: (types.index(node.type), node.label, node.id))
    return Graph(tuple(ordered), tuple(sorted(edges, key=lambda edge: edge.order)))


HUB = 25
"""A tag or a cluster with more members ties nothing together: the walk does not go through it."""


def neighbourhood(graph: Graph, starts: Iterable[str], depth: int) -> Graph:
    """The nodes within `depth` edges of the starts, and what ties them. An edge leads in both directions."""
    edges, nodes = graph.neighbours(), {node.id: node for node in graph.nodes}
    roots = tuple(dict.fromkeys(name for name in starts if name in nodes))
    seen = dict.fromkeys(roots)
    frontier, cut = list(roots), set[str]()
    for _ in range(depth):
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
    """An id or a path among all spaces: its own in the space `main`, else with the space, as links name it."""
    return name if space == main else f"{space}:{name}"


def build(
    spaces: Mapping[str, Sequence[Memory]], main: str, clusters: Mapping[str, Sequence[str]] | None = None
) -> Graph:
    """The graph of these memories, by space. `clusters` are the ids of the nodes in each; a tie to what is not among the
    memories is left out. What holds in both directions is one edge."""
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
    """The graph as it is rendered, with what is shown of its memories, by space, which keep their ids: what they are called
    and tagged with may change."""
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
    return GraphView(changed.nodes, changed.edges, graph.roots, cut)


def _edges(node: Node, main: str) -> Iterator[Edge]:
    """The edges of a memory to others and to its tags."""
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
"""A word of fewer members says what those are about, and not the cluster."""
_UNTELLING = (BREAK, PARTICIPLE, VAGUE_WORD)
_ENDINGS = frozenset("py js ts rs rb md rst txt yml yaml toml cfg ini".split())
"""Of file names: every second memory of code has one in its tags."""


def cluster_id(ids: Iterable[str]) -> str:
    """The id of the cluster of these memories: the least digest of any of them.

    Two sets of members have one id as likely as what they share is large (A. Broder: "On the Resemblance and Containment
    of Documents", 1997): most small changes leave it as it is, and clusters that share no member differ.
    """
    return "clu_" + min(blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest() for name in ids)


def names(clusters: Sequence[Sequence[Memory]]) -> list[str]:
    """A short name for each cluster, given members of it; no two are alike, and the earlier cluster has the better one."""
    counted = [_count(members) for members in clusters]
    taken: set[str] = set()
    found = []
    for stems, (_, forms, pairs) in zip(_ranked([shares for shares, _, _ in counted]), counted, strict=True):
        name = next(name for name in _name_choices(stems, forms, pairs) if name not in taken)
        taken.add(name)
        found.append(name)
    return found


def _name_choices(
    stems: Sequence[str], forms: Mapping[str, Counter[str]], pairs: Counter[tuple[str, str]]
) -> Iterator[str]:
    """What a cluster may be called by its stems, best first, without end. `forms` are the words of each stem, `pairs` how often
    a stem follows another."""

    def said(most: int) -> str:
        order: list[str] = []
        for stem in stems[:most]:
            # behind those that it follows more often than it comes before them
            place = len(order)
            while place and pairs[stem, order[place - 1]] > pairs[order[place - 1], stem]:
                place -= 1
            order.insert(place, stem)
        return (
            " ".join(min(forms[stem].items(), key=lambda item: (-item[1], item[0]))[0] for stem in order) or _NAMELESS
        )

    for most in range(_WORDS, _MOST_WORDS + 1):
        yield said(most)
    for number in count(2):
        yield f"{said(_WORDS)} {number}"


def _count(
    members: Sequence[Memory],
) -> tuple[dict[str, float], dict[str, Counter[str]], Counter[tuple[str, str]]]:
    """The share of the members that have each stem, the words that stand for it, and which of two stems follows the other."""
    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for memory in members:
        stems: set[str] = set()
        phrases = sorted(extract(split(memory.summary_short or memory.raw)), key=itemgetter(1))
        for line in (*memory.tags, "-".join(tag for tag, _ in phrases), *path_words(memory.path)):
            said = [(stem, word) for word in line.split("-") if (stem := _stem(word))]
            for stem, word in said:
                stems.add(stem)
                forms.setdefault(stem, Counter())[word] += 1
            pairs.update(combinations([stem for stem, _ in said], 2))
        counts.update(stems)
    shares = {stem: n / len(members) for stem, n in counts.items() if n > 1 or len(members) == 1}
    return shares, forms, pairs


def _stem(word: str) -> str:
    """What words that differ in number only have in common; nothing for numbers, hashes, endings and vague words."""
    if not word or word in _ENDINGS or classify(word)[0] in _UNTELLING:
        return ""
    return " ".join(terms(word))


def _ranked(shares: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """The stems of each cluster, those first that tell it from the others."""
    total: dict[str, float] = {}
    for one in shares:
        for stem, share in one.items():
            total[stem] = total.get(stem, 0.0) + share
    mean = sum(total.values()) / max(len(shares), 1)

    def rank(one: Mapping[str, float], stem: str) -> tuple[bool, float, str]:
        return one[stem] < _LEAST_SHARE, -round(one[stem] * log(1 + mean / total[stem]), 6), stem

    return [sorted(one, key=partial(rank, one)) for one in shares]
