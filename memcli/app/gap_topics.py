"""What the questions that nothing answered are about: similar ones together, under a name by their words or by a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from memcli.app.consult import QUESTION, consult
from memcli.app.workspace import Workspace
from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.graph.cluster_names import names
from memcli.model.analysis import query_terms
from memcli.model.gaps import Gap, GapTopic
from memcli.model.memory import Memory
from memcli.prompts import gaps as prompts
from memcli.safety.injection.reasons import find_reasons

WITHIN_SECONDS = 30.0
_LEAST_ALIKE = 0.3
"""The share of the words of two questions that they have in common when they are about the same."""
_LONGEST = 40


def topics_of(workspace: Workspace, gaps: Sequence[Gap], *, asks: bool = False) -> list[GapTopic]:
    """The topics of the gaps, in order of their first gap; by the language model of the workspace if it `asks`. When that
    fails, they are named locally, with a note."""
    sent = [gap for gap in gaps if not find_reasons(gap.topic)][: prompts.MOST_QUESTIONS] if asks else []
    found = _asked(workspace, sent) if sent else []
    named = {gap.key for topic in found for gap in topic.gaps}
    rest = named_locally([gap for gap in gaps if gap.key not in named], {topic.name for topic in found})
    place = {gap.key: n for n, gap in enumerate(gaps)}
    return sorted([*found, *rest], key=lambda topic: place[topic.gaps[0].key])


def named_locally(gaps: Sequence[Gap], taken: Collection[str] = ()) -> list[GapTopic]:
    """The gaps together with those that share words with them, named after these words; no name is one of those `taken`."""
    groups = _alike(gaps)
    used = {name.casefold() for name in taken}
    topics = []
    for name, group in zip(names([[_as_memory(gap) for gap in group] for group in groups]), groups, strict=True):
        told = name if _is_said(name, group) else _shared(group)[:_LONGEST]
        free = next(each for each in _numbered(told) if each.casefold() not in used)
        used.add(free.casefold())
        topics.append(GapTopic(free, tuple(group)))
    return topics


def _alike(gaps: Sequence[Gap]) -> list[list[Gap]]:
    """The gaps, each with the first one before that it is most like, if any is like it enough."""
    groups: list[tuple[frozenset[str], list[Gap]]] = []
    for gap in gaps:
        words = frozenset(query_terms(gap.topic))
        shares = [len(words & first) / len(words | first) if words and first else 0.0 for first, _ in groups]
        best = max(range(len(groups)), key=lambda n: (shares[n], -n), default=None)
        if best is not None and shares[best] >= _LEAST_ALIKE:
            groups[best][1].append(gap)
        else:
            groups.append((words, [gap]))
    return [group for _, group in groups]


def _asked(workspace: Workspace, gaps: Sequence[Gap]) -> list[GapTopic]:
    """What a model makes of the gaps; nothing where it fails."""
    prompt = prompts.make([gap.topic for gap in gaps])
    try:
        found, _ = consult(workspace, prompt, prompts.reader(len(gaps)), within=WITHIN_SECONDS, keep=QUESTION)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; named locally")
        return []
    return [GapTopic(one.name, tuple(gaps[number - 1] for number in sorted(one.numbers))) for one in found]


def _as_memory(gap: Gap) -> Memory:
    return Memory(id=gap.topic, path="", kind="", raw=gap.topic, created_at=gap.first_at, updated_at=gap.last_at)


def _is_said(name: str, group: Sequence[Gap]) -> bool:
    """Whether the questions have a word of the name; else nothing in them could be named."""
    words = {word for gap in group for word in query_terms(gap.topic)}
    return not words.isdisjoint(query_terms(name))


def _shared(group: Sequence[Gap]) -> str:
    """The words of the first question that all of the group have, or else the whole question."""
    common = frozenset.intersection(*(frozenset(query_terms(gap.topic)) for gap in group))
    words = (word.strip("?!.,:;") for word in group[0].topic.split())
    return " ".join(word for word in words if not common.isdisjoint(query_terms(word))) or group[0].topic


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} {number}" for number in count(2))
