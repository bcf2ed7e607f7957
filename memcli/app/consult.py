"""Consult: what was decided about what is being changed, in a few lines for whoever writes the commit's message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.recall import Query

KINDS = ("constraint", "negative", "decision")
_MAX_WORDS = 40
_MAX_TOPIC = 2_000
_WORD = re.compile(r"[^\W\d_]\w{2,}")


def consult(workspace: Workspace, topic: str, limit: int, deadline: float) -> list[str]:
    """At most `limit` lines, constraints first; words alone decide where meaning takes more than `deadline` seconds.

    Raises what recall raises.
    """
    if not topic:
        return []
    query = Query(topic=topic, now=workspace.clock(), limit=limit, kinds=KINDS, deadline=deadline)
    (bundle,) = recall(workspace, [query], with_global=False)
    found = sorted((section.memory for section in bundle.sections), key=lambda memory: KINDS.index(memory.kind))
    return [f"{memory.kind} [{memory.id}] {memory.summary_micro or memory.raw}" for memory in found]


def topic_of(files: Sequence[str], lines: Iterable[str]) -> str:
    """A question made of a change: its files, and the words that its lines have most often."""
    words = Counter(word for line in lines for word in _WORD.findall(line))
    common = sorted(words, key=lambda word: (-words[word], word))[:_MAX_WORDS]
    return " ".join([*files, *common])[:_MAX_TOPIC]
