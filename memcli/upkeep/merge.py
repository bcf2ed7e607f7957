"""`merge`: of near-duplicate episodes one stays, stronger; the others are superseded by it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from memcli.claims.claim import claim_of
from memcli.claims.conflicts import is_compatible
from memcli.claims.values import missing, values_of
from memcli.model.analysis import terms
from memcli.model.memory import Memory, increased
from memcli.model.references import SUPERSEDES
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep, as_edit, is_current

NAME = "merge"
LEAST_ALIKE = 0.8
"""The share of the words of both that two episodes must have in common."""
_KIND = "episode"


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each episode that takes others in."""
    episodes = [
        memory for memory in memories.values()
        if memory.kind == _KIND and memory.id not in given.fixed and is_current(memory, given.now)
    ]  # fmt: skip
    words = {memory.id: frozenset(terms(memory.raw)) for memory in episodes}
    rarest = _rarest(words)
    kept: dict[str, list[Memory]] = {}
    by_word: dict[str, list[str]] = defaultdict(list)
    for memory in sorted(episodes, key=lambda m: (not m.pinned, m.created_at, m.id)):
        own = words[memory.id]
        near = {name for word in rarest[memory.id] for name in by_word[word]}
        alike = [name for name in sorted(near) if _alike(own, words[name])]
        same = next((name for name in alike if not memory.pinned and _is_same(memories[name], memory)), None)
        if same is not None:
            kept.setdefault(same, []).append(memory)
            continue
        for word in rarest[memory.id]:
            by_word[word].append(memory.id)
    return [_step(memories[name], others, given.now) for name, others in sorted(kept.items())]


def _rarest(words: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Of the words of each episode so many, the rarest first, that two that are alike share one of them."""
    counts = Counter(word for own in words.values() for word in own)
    ordered = {name: sorted(own, key=lambda word: (counts[word], word)) for name, own in words.items()}
    return {name: own[: len(own) - math.ceil(LEAST_ALIKE * len(own)) + 1] for name, own in ordered.items()}


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return bool(first) and len(first & second) >= LEAST_ALIKE * len(first | second)


def _is_same(kept: Memory, other: Memory) -> bool:
    """Whether two episodes with nearly the same words differ in none that decides: a value, or how it went."""
    if _sign(kept) != _sign(other) or not is_compatible(claim_of(other), claim_of(kept)):
        return False
    return not missing(values_of(kept.raw), values_of(other.raw))


def _sign(memory: Memory) -> int:
    valence = (memory.episode or {}).get("valence", 0)
    return (valence > 0) - (valence < 0) if isinstance(valence, int | float) else 0


def _step(kept: Memory, others: Sequence[Memory], now: str) -> UpkeepStep:
    links = [{"to": other.id, "relation": SUPERSEDES, "weight": 1.0, "created_at": now} for other in others]
    stronger = replace(
        kept,
        strength=increased(kept.strength, sum(other.strength for other in others)),
        tags=tuple(dict.fromkeys([*kept.tags, *(tag for other in others for tag in other.tags)])),
        links=(*kept.links, *links),
    )
    ended = [as_edit(replace(other, superseded_by=kept.id, valid_until=_until(other, now))) for other in others]
    return UpkeepStep(
        task=NAME, id=kept.id, path=kept.path, action="merge",
        reason=f"the same as {', '.join(other.path for other in others)}",
        memories=(as_edit(stronger), *ended), others=tuple(other.id for other in others),
        tokens=sum(count_tokens(other.raw) for other in others),
    )  # fmt: skip


def _until(memory: Memory, now: str) -> str:
    return max(min(memory.valid_until or now, now), memory.valid_from or "")
