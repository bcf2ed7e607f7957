"""Whether a prompt changes the topic of the one before it."""

from __future__ import annotations

from memcli.conversation.topic import MAX_CHARACTERS, TopicChange, compare, cosine
from memcli.errors import ProviderError
from memcli.ports import Embedder


def session_topic(embedder: Embedder | None, previous: str, current: str) -> TopicChange:
    """Compares two prompts by form, words and meaning; without meaning when there is no embedder, it fails, or its cosines
    are not on the scale of the thresholds."""
    return compare(previous, current, _similarity(embedder, previous, current))


def _similarity(embedder: Embedder | None, previous: str, current: str) -> float | None:
    if embedder is None or not embedder.is_calibrated or not previous.strip() or not current.strip():
        return None
    try:
        one, other = embedder.embed([previous[:MAX_CHARACTERS], current[:MAX_CHARACTERS]], as_questions=True)
    except ProviderError:
        return None
    return cosine(one, other)
