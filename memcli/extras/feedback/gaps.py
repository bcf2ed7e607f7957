"""Gaps: questions that recall could not answer. They are stored, if the policy enables it, until something answers them, and
listed by topic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count

from memcli.app.recall import recall
from memcli.app.usage import drop_gaps, list_gaps
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError
from memcli.graph.elements import names
from memcli.model.memory import Json, Memory
from memcli.model.recall import Query
from memcli.model.usage import Gap, GapTopic
from memcli.render.clean import clean_line, grid
from memcli.text.words import query_terms
from memcli.wiring import extra


def close(workspace: Workspace, refs: Sequence[str]) -> list[Gap]:
    """Removes the gaps that `refs` name, by number in the list or by their question, and returns them. Raises NotFoundError,
    StoreError, LockedError."""
    gaps, chosen = list_gaps(workspace), list[Gap]()
    for ref in refs:
        key = Gap(ref, "", 0, "", "").key[1]
        found = [gap for gap in gaps if gap.key[1] == key]  # by the key, in which case and spaces do not matter
        if ref.isascii() and ref.isdigit() and 0 < int(ref) <= len(gaps):
            found = [gaps[int(ref) - 1]]
        if not found:
            raise NotFoundError(f"no gap {ref[:80]!r}", "`memcli feedback gaps` lists them with their numbers")
        chosen.append(found[0])
    drop_gaps(workspace, chosen)
    return chosen


def review(workspace: Workspace, since: str = "") -> tuple[list[Gap], list[Gap]]:
    """Recalls the questions again that were last unanswered at or after `since`. Returns the gaps that are answered now, which
    are removed, and those that are not. Raises what recall raises."""
    gaps = [gap for gap in list_gaps(workspace) if since <= gap.last_at]
    if not gaps:
        return [], []
    queries = [Query(topic=gap.topic, now=workspace.clock(), limit=1) for gap in gaps]
    # Not recorded: a question that memcli repeats is neither a use of a memory nor asked once more.
    answered = [bool(bundle.sections) for bundle in recall(workspace.copy_with(is_noted=False), queries)]
    filled = [gap for gap, is_answered in zip(gaps, answered, strict=True) if is_answered]
    drop_gaps(workspace, filled)
    return filled, [gap for gap in gaps if gap not in filled]


_LEAST_ALIKE = 0.3
"""The least Jaccard similarity of the words of two questions of one topic."""
_LONGEST = 40
"""The most characters of a name that is made of common words."""


def topics_of(workspace: Workspace, gaps: Sequence[Gap], *, asks: bool = False) -> list[GapTopic]:
    """The topics of the gaps, in order of their first gap; with `asks`, by the language model of the workspace. Gaps that the
    model leaves out, or all if it fails, are grouped by their words."""
    found: list[GapTopic] = extra("advice.session").topics_of(workspace, gaps) if asks else []
    named = {gap.key for _, own in found for gap in own}
    rest = named_locally([gap for gap in gaps if gap.key not in named], {name for name, _ in found})
    place = {gap.key: n for n, gap in enumerate(gaps)}
    return sorted([*found, *rest], key=lambda topic: place[topic[1][0].key])


def named_locally(gaps: Sequence[Gap], taken: Collection[str] = ()) -> list[GapTopic]:
    """The gaps grouped by common words, and named after these; no name is one of `taken`."""
    # Each gap joins the group whose first gap is most similar, if it is similar enough.
    begun: list[tuple[frozenset[str], list[Gap]]] = []
    for gap in gaps:
        words = frozenset(query_terms(gap.topic))
        shares = [len(words & first) / len(words | first) if words and first else 0.0 for first, _ in begun]
        best = max(range(len(begun)), key=lambda n: (shares[n], -n), default=None)
        if best is not None and shares[best] >= _LEAST_ALIKE:
            begun[best][1].append(gap)
        else:
            begun.append((words, [gap]))
    groups = [group for _, group in begun]
    used = {name.casefold() for name in taken}
    topics = []
    # Clusters of memories are named by `names`, so that each question is handed over as one.
    memories = [
        [
            Memory(id=gap.topic, path="", kind="", raw=gap.topic, created_at=gap.first_at, updated_at=gap.last_at)
            for gap in group
        ]
        for group in groups
    ]
    for name, group in zip(names(memories), groups, strict=True):
        query_words = {word for gap in group for word in query_terms(gap.topic)}
        # A name without any word of the questions would not be recognized.
        plain = _shared(group)[:_LONGEST] if query_words.isdisjoint(query_terms(name)) else name
        numbered = chain([plain], (f"{plain} {number}" for number in count(2)))
        free = next(each for each in numbered if each.casefold() not in used)
        used.add(free.casefold())
        topics.append((free, tuple(group)))
    return topics


def _shared(group: Sequence[Gap]) -> str:
    """The words of the first question that all questions of the group have, or the whole question if there are none."""
    common = frozenset.intersection(*(frozenset(query_terms(gap.topic)) for gap in group))
    words = (word.strip("?!.,:;") for word in group[0].topic.split())
    return " ".join(word for word in words if not common.isdisjoint(query_terms(word))) or group[0].topic


def gap_rows(gaps: Sequence[Gap], topics: Sequence[GapTopic]) -> str:
    """A table of the gaps by topic, with their numbers in the whole list; empty if there are none."""
    numbers = {gap.key: number for number, gap in enumerate(gaps, 1)}
    rows = [
        [
            str(numbers[gap.key]),
            str(gap.count),
            gap.last_at[:10],
            gap.space,
            clean_line(name),
            clean_line(gap.topic),
        ]
        for name, own in topics
        for gap in own
    ]
    return grid(["", "asked", "last", "space", "topic", "question"], rows) if rows else ""


def topics_json(gaps: Sequence[Gap], topics: Sequence[GapTopic]) -> list[dict[str, Json]]:
    """The topics as JSON, with the numbers of their gaps and the total count of these."""
    numbers = {gap.key: number for number, gap in enumerate(gaps, 1)}
    return [
        {"name": name, "asked": sum(gap.count for gap in own), "gaps": [numbers[gap.key] for gap in own]}
        for name, own in topics
    ]


def reviewed_lines(filled: Sequence[Gap], left: Sequence[Gap]) -> Iterator[str]:
    """Lines about the unanswered questions of a session: the ones answered now, and those `left`."""
    for gap in filled:
        yield clean_line(f"answered now: {gap.topic}")
    for gap in left:
        yield clean_line(f"not answered: {gap.topic}")
    if left:
        yield "answer these with `memcli remember`, or remove them with `memcli feedback gaps --close`"
