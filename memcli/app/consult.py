"""Consult: what was decided about what is being changed, in a few lines for whoever writes the commit's message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.analysis import query_terms
from memcli.model.recall import Query

BACKEND = "basic"
"""A change is a bag of words and no question, and there is no time for meaning."""
KINDS = ("constraint", "negative", "decision")
_MIN_POINTS = 5.0  # two words of the change in summary and text, or one in the path and in either of them
_MAX_WORDS = 16
_MAX_TOPIC = 2_000
_WORD = re.compile(r"[^\W\d_]\w{3,}")


def consult(workspace: Workspace, topic: str, limit: int) -> list[str]:
    """At most `limit` lines, constraints first; for a workspace whose backend is BACKEND. Raises what recall raises."""
    if not topic:
        return []
    query = Query(
        topic=topic, now=workspace.clock(), limit=limit, kinds=KINDS, min_score=_MIN_POINTS, weights={"importance": 0.0}
    )
    (bundle,) = recall(workspace, [query], with_global=False)
    found = sorted((section.memory for section in bundle.sections), key=lambda memory: KINDS.index(memory.kind))
    return [f"{memory.kind} [{memory.id}] {memory.summary_micro or memory.raw}" for memory in found]


def topic_of(files: Sequence[str], lines: Iterable[str]) -> str:
    """A question made of a change: the names of its files, and the words that its lines have most often."""
    words = Counter(word for line in lines for word in _WORD.findall(line))
    common = sorted(words, key=lambda word: (-words[word], word))[:_MAX_WORDS]
    names = [file.rpartition(".")[0] or file for file in files]
    return " ".join(query_terms(" ".join([*names, *common])[:_MAX_TOPIC]))
