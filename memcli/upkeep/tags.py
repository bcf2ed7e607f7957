"""`tags`: a memory that mentions what a tag of the space is about gets it, where the tag is given reliably."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from memcli.model.analysis import terms
from memcli.model.memory import Memory
from memcli.record import replace
from memcli.upkeep.step import Given, Memories, UpkeepStep, is_current

NAME = "tags"
LEAST_TAGGED = 4
"""A tag that fewer memories have is no habit."""
LEAST_SHARE = 0.8
"""So many of the memories that mention a tag must have it already."""
MOST_TAGS = 6
"""A memory with so many tags gets no more."""


def propose(memories: Memories, given: Given) -> list[UpkeepStep]:
    """A step for each memory that gets tags."""
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
    return [_step(memories[name], tags) for name, tags in sorted(added.items()) if tags]


def _mentions(memories: list[Memory], tagged: Mapping[str, int]) -> dict[str, list[Memory]]:
    """The memories that mention all words of each tag in their heading or text; of the tags that so many memories have, those
    alone that may be given reliably."""
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
        having.subtract(live.intersection(memory.tags) - mentioned)  # as many at most as mention it and have it
        for tag in live.intersection((*mentioned, *memory.tags)):
            if having[tag] < max(LEAST_TAGGED, LEAST_SHARE * (having[tag] + without[tag])):
                live.remove(tag)
                by_word[min(words[tag])].remove(tag)
    return {tag: found[tag] for tag in live}


def _first_with_tags(memories: list[Memory], live: set[str]) -> Iterator[Memory]:
    """The memories, first those with the rarest tags, for as long as these are `live`; some come again."""
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


def _step(memory: Memory, tags: list[str]) -> UpkeepStep:
    tagged = replace(memory, tags=(*memory.tags, *tags))
    reason = f"most memories that mention {', '.join(tags)} have the tag"
    return UpkeepStep(task=NAME, id=memory.id, path=memory.path, action="tag", reason=reason, memories=(tagged,))
