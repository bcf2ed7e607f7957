"""The tasks of upkeep, each of which proposes steps:

`usage`: changes confidence and strength by feedback.
`archive`: removes memories from recall that are old, of low worth and not in use. They are not deleted, and can be restored.
`decay`: lowers the relevance of memories that were not confirmed for long.
`links`: relates memories that were recalled together and judged helpful.
`clusters`: names the clusters of a space, in the cache; changes no memory.
`merge`: merges near-duplicate episodes: the others are superseded by one, which becomes stronger.
`tags`: adds a tag to memories that mention its words, if most memories that mention them have it.
`review`: lists contradictions, duplicates and related pairs for the user to decide; changes no memory.

`Worth` decides for `archive` and `decay` what a memory is worth, whether it is in use, and which ones age must not change.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from memcli.claims.claim import claim_of
from memcli.claims.comparison import is_compatible
from memcli.claims.values import missing, values_of
from memcli.clock import days_between
from memcli.extras.upkeep.step import (
    REASONS,
    Given,
    Memories,
    MemoryPair,
    UpkeepStep,
    as_edit,
    is_current,
    judged_bundles,
)
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED
from memcli.model.links import SUPERSEDES, is_contradiction
from memcli.model.memory import TALK_KINDS, Json, Memory, increased
from memcli.model.shapes import OBSERVED
from memcli.model.tokens import count_tokens
from memcli.model.usage import HELPFUL, REJECTED, UNHELPFUL, Access
from memcli.policy.ageing import confirmed_at, effective_confidence
from memcli.record import replace
from memcli.text.words import terms

USAGE_NAME = "usage"
GAINS = {HELPFUL: 0.05, UNHELPFUL: -0.1, REJECTED: -0.02}
"""The change of the confidence (0 to 1) by one judgement."""
_DIGITS = 4


def propose_usage(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that feedback changes, in order of id."""
    confidence: dict[str, float] = {}
    counts: dict[str, Counter[str]] = {}
    for name, use in given.judgements():
        if name in memories:
            before = confidence.get(name, memories[name].confidence)
            confidence[name] = round(min(1.0, max(0.0, before + GAINS[use.act])), _DIGITS)
            counts.setdefault(name, Counter())[use.act] += 1
    steps = []
    for name in sorted(counts):
        memory = memories[name]
        judged = replace(
            memory, confidence=confidence[name], strength=increased(memory.strength, counts[name][HELPFUL])
        )
        if judged != memory:
            judgements = ", ".join(f"{counts[name][act]} {act}" for act in GAINS if counts[name][act])
            reason, path = f"judged {judgements}", memory.path
            steps.append(
                UpkeepStep(task=USAGE_NAME, id=name, path=path, action="judge", reason=reason, memories=(judged,))
            )
    return steps


_WORTH_DIGITS = 9  # the last digits differ between machines, and must decide nothing
USED_DAYS = 90.0
"""A memory is in use for so many days after it was last shown, times 1 + log(uses + 1); while uses are known for less long,
every memory counts as in use."""
OUTDONE_CONFIDENCE = 0.8
OUTDONE_SHARE = 0.5
"""The share of its worth that is left to a memory of at most this confidence (judged unhelpful more than once) if another
memory answered the same question."""


class Worth:
    """The worth of the memories of a space, for `archive` and `decay`. `reasons` are ids that others link to as their reason,
    or that supersede another memory."""

    def __init__(self, memories: Memories, given: Given) -> None:
        self._given = given
        self.reasons = (
            given.reasons
            | {link["to"] for memory in memories.values() for link in memory.links if link["relation"] in REASONS}
            | {memory.superseded_by for memory in memories.values()}
        )
        self._judged: Counter[str] = Counter()
        for name, use in given.judgements():
            self._judged[name] += round(100 * GAINS[use.act])  # in whole hundredths, so that sums are exact
        # Of each memory that was judged unhelpful or rejected in a bundle, the helpful one of the highest confidence there,
        # if that is higher than its own.
        self._rivals: dict[str, str] = {}
        for judged in judged_bundles(given.uses):
            helpful = [name for name, act in judged.items() if act == HELPFUL and name in memories]
            best = max(helpful, key=lambda name: (memories[name].confidence, memories[name].strength, name), default="")
            for name, act in judged.items():
                memory = memories.get(name)
                if best and memory and act != HELPFUL and memories[best].confidence > memory.confidence:
                    self._rivals[name] = best

    def of(self, memory: Memory) -> float:
        """The worth of a memory, 0 to 1: its importance times its confidence, and a share of that if it has a rival."""
        share = OUTDONE_SHARE if self.rival(memory) else 1.0
        return round(memory.effective_importance() * self.confidence(memory) * share, _WORTH_DIGITS)

    def rival(self, memory: Memory) -> str:
        """The id of the memory that was helpful where this one repeatedly was not; empty if there is none."""
        return self._rivals.get(memory.id, "") if memory.confidence <= OUTDONE_CONFIDENCE else ""

    def confidence(self, memory: Memory) -> float:
        """The current confidence, 0 to 1: faded by age as in recall, or, if the memory is in use, without fading."""
        if self._is_in_use(memory):
            return memory.confidence * memory.trust
        return effective_confidence(memory, self._given.now, self._given.accesses.get(memory.id, Access()).count)

    def is_spared(self, memory: Memory) -> bool:
        """Whether age does not change the memory: it is pinned, young, not current, not valid yet, shown by triggers or in a
        season, or in use without more negative than positive feedback."""
        now = self._given.now
        return (
            memory.pinned
            or not is_current(memory, now)
            or (memory.valid_from or "") > now
            or bool(memory.triggers or memory.enforce or memory.season)
            or days_between(memory.updated_at, now) <= self._given.policy.archive_days
            or (self._is_in_use(memory) and self._judged[memory.id] >= 0)
        )

    def _is_in_use(self, memory: Memory) -> bool:
        """Whether the memory was shown lately, as USED_DAYS defines it; False if no uses are known at all."""
        given = self._given
        if not given.watched_since:
            return False
        access = given.accesses.get(memory.id, Access())
        last = max(access.last_at, given.watched_since)
        return days_between(last, given.now) <= USED_DAYS * (1 + math.log(access.count + 1))


ARCHIVE_NAME = "archive"
_INFERRED = "inferred"


def propose_archive(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that is removed from recall, in order of id."""
    worth = Worth(memories, given)
    outdated = _outdated(memories, given.now)
    steps = []
    for _, memory in sorted(memories.items()):
        # A statement may hold however old it is, and without it a question would get another answer: only a newer
        # contradiction makes it a candidate. A superseded memory is not in recall anyway.
        if is_statement(memory) and memory.id not in outdated:
            continue
        if worth.is_spared(memory) or memory.id in worth.reasons or worth.of(memory) >= given.policy.archive_below:
            continue
        factors = f"importance {memory.effective_importance():g} x confidence {worth.confidence(memory):.2f}"
        rival = worth.rival(memory)
        beside = f", not helpful where {memories[rival].path} was" if rival else ""
        why = f"{memories[outdated[memory.id]].path} contradicts it, " if memory.id in outdated else ""
        age = days_between(memory.updated_at, given.now)
        steps.append(
            UpkeepStep(
                task=ARCHIVE_NAME, id=memory.id, path=memory.path, action="archive",
                reason=f"{why}worth {worth.of(memory):.2f} ({factors}{beside}), {age:.0f} days old",
                memories=(as_edit(replace(memory, active=False)),),
                tokens=count_tokens(memory.raw),
            )
        )  # fmt: skip
    return steps


def is_statement(memory: Memory) -> bool:
    """Whether a person or an agent stated it as valid: it is no log or episode, and memcli has neither read it in a file or a
    commit nor inferred it."""
    is_derived = memory.kind == _INFERRED or memory.provenance.get("source") in (OBSERVED, _INFERRED)
    return not is_derived and memory.kind not in TALK_KINDS


def _outdated(memories: Memories, now: str) -> Mapping[str, str]:
    """By the id of each contradicted statement, the id of the statement that holds: of two current ones, without a decision to
    keep both, the one whose link states that it holds, else the one that was confirmed last."""
    links = [(memory, link) for memory in memories.values() for link in memory.links if is_contradiction(link)]
    decided = {frozenset((memory.id, link["to"])) for memory, link in links if link.get("accepted")}
    found: dict[str, str] = {}
    for memory, link in sorted(links, key=lambda one: not one[1].get("holds")):
        other, pair = memories.get(link["to"]), frozenset((memory.id, link["to"]))
        if other is None or pair in decided or not all(is_statement(m) and is_current(m, now) for m in (memory, other)):
            continue
        decided.add(pair)
        is_newer = (confirmed_at(memory), memory.id) > (confirmed_at(other), other.id)
        valid, outdated = (memory, other) if link.get("holds") or is_newer else (other, memory)
        found.setdefault(outdated.id, valid.id)
    return found


DECAY_NAME = "decay"
LEVELS = (("high", 0.5), ("medium", 0.25), ("low", 0.0))
"""The levels of relevance, each with the least confidence that it requires."""


def propose_decay(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory whose relevance is too high for its confidence, in order of id."""
    # The faded confidence itself is not stored, since recall would let it fade again. But recall cannot see that the
    # relevance was given while the memory was new, so this is lowered, once for each level.
    worth = Worth(memories, given)
    levels = [level for level, _ in LEVELS]
    steps = []
    for _, memory in sorted(memories.items()):
        if worth.is_spared(memory) or memory.relevance not in levels:
            continue
        confidence = worth.confidence(memory)
        lowered = next(n for n, (_, least) in enumerate(LEVELS) if confidence >= least)
        if levels.index(memory.relevance) < lowered:
            steps.append(
                UpkeepStep(
                    task=DECAY_NAME, id=memory.id, path=memory.path, action="lower",
                    reason=f"its confidence has faded to {confidence:.2f} since {memory.updated_at[:10]}",
                    memories=(replace(memory, relevance=levels[lowered]),),
                )
            )  # fmt: skip
    return steps


LINKS_NAME = "links"
RELATION = "relates_to"
# Links to everything help no search.
MOST_LINKS = 8
"""A memory with so many links gets no more."""
_FIRST_WEIGHT, _MORE_WEIGHT, _MOST_WEIGHT = 0.5, 0.1, 0.9


def propose_links(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that gets links, in order of id. The newer memory of a pair has the link."""
    known = {frozenset((memory.id, link["to"])) for memory in memories.values() for link in memory.links}
    sizes = {memory.id: len(memory.links) for memory in memories.values()}
    helpful = ([name for name, act in judged.items() if act == HELPFUL] for judged in judged_bundles(given.uses))
    together = Counter(pair for names in helpful for pair in combinations(sorted(names), 2))
    found: dict[str, list[dict[str, Json]]] = {}
    for pair, times in sorted(together.items(), key=lambda one: (-one[1], one[0])):
        ends = [memories[name] for name in pair if name in memories and name not in given.fixed]
        if frozenset(pair) in known or len(ends) < 2 or not all(is_current(end, given.now) for end in ends):
            continue
        older, newer = sorted(ends, key=lambda memory: (memory.created_at, memory.id))
        if sizes[newer.id] < MOST_LINKS:
            sizes[newer.id] += 1
            weight = round(min(_MOST_WEIGHT, _FIRST_WEIGHT + _MORE_WEIGHT * (times - 1)), 2)
            link = {"to": older.id, "relation": RELATION, "weight": weight, "created_at": given.now}
            found.setdefault(newer.id, []).append(link)
    return [
        UpkeepStep(
            task=LINKS_NAME, id=name, path=memories[name].path, action="link",
            reason=f"recalled and judged helpful with {', '.join(memories[link['to']].path for link in links)}",
            memories=(replace(memories[name], links=(*memories[name].links, *links)),),
            others=tuple(link["to"] for link in links),
        )
        for name, links in sorted(found.items())
    ]  # fmt: skip


CLUSTERS_NAME = "clusters"


def propose_clusters(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each cluster that was found just now, the largest first."""
    known = [(cluster, [name for name in cluster.ids if name in memories]) for cluster in given.clusters]
    return [
        UpkeepStep(
            task=CLUSTERS_NAME, id=ids[0], path=cluster.name, action="name", reason=f"{len(ids)} {'memory' if len(ids) == 1 else 'memories'}", others=tuple(ids[1:])
        )
        for cluster, ids in sorted(known, key=lambda one: (-len(one[1]), one[0].name)) if ids
    ]  # fmt: skip


MERGE_NAME = "merge"
LEAST_ALIKE = 0.8
"""The least Jaccard similarity of the words of two near-duplicates: the common words over the words of either."""
_KIND = "episode"


def propose_merge(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each episode that others are merged into, in order of id."""
    episodes = [
        memory for memory in memories.values()
        if memory.kind == _KIND and memory.id not in given.fixed and is_current(memory, given.now)
    ]  # fmt: skip
    words = {memory.id: frozenset(terms(memory.raw)) for memory in episodes}
    # Prefix filtering: two sets of a Jaccard similarity of at least t share one of their n - ceil(t n) + 1 rarest words,
    # so that only pairs which do are compared.
    counts = Counter(word for own in words.values() for word in own)
    rarest = {name: sorted(own, key=lambda word: (counts[word], word)) for name, own in words.items()}
    rarest = {name: own[: len(own) - math.ceil(LEAST_ALIKE * len(own)) + 1] for name, own in rarest.items()}
    merged: dict[str, list[Memory]] = {}
    by_word: dict[str, list[str]] = defaultdict(list)
    # Pinned episodes first, since they are never merged into another; then the oldest, into which newer ones are merged.
    for memory in sorted(episodes, key=lambda m: (not m.pinned, m.created_at, m.id)):
        own = words[memory.id]
        near = {name for word in rarest[memory.id] for name in by_word[word]}
        alike = [name for name in sorted(near) if len(own & words[name]) >= LEAST_ALIKE * len(own | words[name])]
        same = next((name for name in alike if not memory.pinned and _is_same(memories[name], memory)), None)
        if same is not None:
            merged.setdefault(same, []).append(memory)
            continue
        for word in rarest[memory.id]:
            by_word[word].append(memory.id)
    return [_step_merge(memories[name], others, given.now) for name, others in sorted(merged.items())]


def _is_same(one: Memory, other: Memory) -> bool:
    """Whether two episodes with nearly the same words agree in their outcome and values, and `one` has all values of
    `other`."""
    # Texts with nearly the same words may differ in the one value that matters, and a failure is not its solution.
    valences = [(memory.episode or {}).get("valence", 0) for memory in (one, other)]
    signs = {(v > 0) - (v < 0) if isinstance(v, int | float) else 0 for v in valences}
    if len(signs) > 1 or not is_compatible(claim_of(other.raw), claim_of(one.raw)):
        return False
    return not missing(values_of(one.raw), values_of(other.raw))


def _step_merge(into: Memory, others: Sequence[Memory], now: str) -> UpkeepStep:
    """The step that merges other episodes into one: it gets their strength and tags, and supersedes them."""
    links = [{"to": other.id, "relation": SUPERSEDES, "weight": 1.0, "created_at": now} for other in others]
    stronger = replace(
        into,
        strength=increased(into.strength, sum(other.strength for other in others)),
        tags=tuple(dict.fromkeys([*into.tags, *(tag for other in others for tag in other.tags)])),
        links=(*into.links, *links),
    )
    ended = []
    for other in others:
        # An end never comes before the beginning, which a memory that is valid from later on would get.
        until = max(min(other.valid_until or now, now), other.valid_from or "")
        ended.append(as_edit(replace(other, superseded_by=into.id, valid_until=until)))
    return UpkeepStep(
        task=MERGE_NAME, id=into.id, path=into.path, action="merge",
        reason=f"the same as {', '.join(other.path for other in others)}",
        memories=(as_edit(stronger), *ended), others=tuple(other.id for other in others),
        tokens=sum(count_tokens(other.raw) for other in others),
    )  # fmt: skip


TAGS_NAME = "tags"
# Of fewer memories no habit can be read.
LEAST_TAGGED = 4
"""The least number of memories that have a tag and mention it."""
LEAST_SHARE = 0.8
"""The least share of the memories that mention a tag which must have it already."""
MOST_TAGS = 6
"""A memory with so many tags gets no more."""


def propose_tags(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that gets tags, in order of id."""
    current = [memory for memory in memories.values() if is_current(memory, given.now)]
    tagged = Counter(tag for memory in current for tag in memory.tags)
    mentions = _mentions(current, {tag: count for tag, count in tagged.items() if count >= LEAST_TAGGED})
    added: dict[str, list[str]] = defaultdict(list)
    for tag in sorted(mentions, key=lambda tag: (-tagged[tag], tag)):
        without = [memory for memory in mentions[tag] if tag not in memory.tags]
        having = len(mentions[tag]) - len(without)
        if having >= LEAST_TAGGED and having >= LEAST_SHARE * len(mentions[tag]):
            for memory in without:
                if len(memory.tags) + len(added[memory.id]) < MOST_TAGS and memory.id not in given.fixed:
                    added[memory.id].append(tag)
    return [
        UpkeepStep(
            task=TAGS_NAME, id=name, path=memories[name].path, action="tag",
            reason=f"most memories that mention {', '.join(tags)} have the tag",
            memories=(replace(memories[name], tags=(*memories[name].tags, *tags)),),
        )
        for name, tags in sorted(added.items()) if tags
    ]  # fmt: skip


def _mentions(memories: list[Memory], tagged: Mapping[str, int]) -> dict[str, list[Memory]]:
    """By tag, the memories that mention all its words in their heading or text, for the tags that LEAST_TAGGED and LEAST_SHARE
    may permit to add. `tagged` counts the memories that have each tag."""
    # A tag is dropped once it can no longer reach these limits, so that few texts of a large space are read.
    words = {tag: frozenset(terms(tag.replace("-", " "))) for tag in tagged}
    live = {tag for tag in tagged if words[tag]}
    by_word: dict[str, list[str]] = defaultdict(list)
    for tag in live:
        by_word[min(words[tag])].append(tag)
    found: dict[str, list[Memory]] = defaultdict(list)
    having, without, read = Counter(tagged), Counter[str](), set[str]()
    for memory in _first_with_tags(memories, live):
        if memory.id in read:
            continue
        read.add(memory.id)
        text = frozenset(terms(f"{memory.heading.replace('-', ' ')} {memory.raw}"))
        mentioned = {tag for word in text & by_word.keys() for tag in by_word[word] if words[tag] <= text}
        for tag in mentioned:
            found[tag].append(memory)
        without.update(mentioned.difference(memory.tags))
        having.subtract(live.intersection(memory.tags) - mentioned)  # an upper bound of those that have and mention it
        for tag in live.intersection((*mentioned, *memory.tags)):
            if having[tag] < max(LEAST_TAGGED, LEAST_SHARE * (having[tag] + without[tag])):
                live.remove(tag)
                by_word[min(words[tag])].remove(tag)
    return {tag: found[tag] for tag in live}


def _first_with_tags(memories: list[Memory], live: set[str]) -> Iterator[Memory]:
    """The memories, those with the rarest tags first, until no tag is `live`, which the caller shrinks; some come twice."""
    # Most tags are dropped after the few memories of the rarest ones.
    of: dict[str, list[Memory]] = {tag: [] for tag in live}
    for memory in memories:
        for tag in live.intersection(memory.tags):
            of[tag].append(memory)
    for tag in sorted(of, key=lambda tag: (len(of[tag]), tag)):
        for memory in of[tag]:
            if tag not in live:
                break
            yield memory
    for memory in memories:
        if not live:
            break
        yield memory


REVIEW_NAME = "review"
_KINDS = (CONTRADICTS, DUPLICATES, RELATED)


def propose_review(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each pair of current memories: contradictions first, then duplicates, then related pairs."""
    linked = (
        MemoryPair(CONTRADICTS, memory.id, link["to"], str(link.get("reason") or "linked as a contradiction"))
        for memory in memories.values() for link in memory.links
        if link["relation"] == CONTRADICTS and not link.get("accepted")
    )  # fmt: skip
    pairs: dict[frozenset[str], MemoryPair] = {}
    for pair in (*given.pairs, *linked):
        ends = [memories.get(name) for name in (pair.first, pair.second)]
        if all(end is not None and is_current(end, given.now) for end in ends):
            # A pair that the check found has its reason; the link between the two says nothing more.
            pairs.setdefault(frozenset((pair.first, pair.second)), pair)
    order = sorted(pairs.values(), key=lambda p: (_KINDS.index(p.kind), *sorted((p.first, p.second))))
    return [
        UpkeepStep(
            task=REVIEW_NAME, id=pair.first, path=memories[pair.first].path, action=pair.kind,
            reason=f"{memories[pair.second].path}: {pair.reason}", others=(pair.second,),
        )
        for pair in order
    ]  # fmt: skip
