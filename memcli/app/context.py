"""Context: chooses the parts of a conversation that are stored with a memory as its snapshot, and decides whether a prompt
changes the topic of the previous one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from memcli.app import session as sessions
from memcli.app.workspace import Workspace
from memcli.conversation import snapshot
from memcli.conversation.snapshot import SnapshotPart
from memcli.conversation.topic import MAX_CHARACTERS, TopicChange, compare, cosine
from memcli.errors import ProviderError, RefusedError
from memcli.model.conversation import ACTIVE, PAUSED
from memcli.model.memory import Json, json_texts
from memcli.ports import Embedder

INPUT = "stdin"
"""The source of snapshots of standard input."""


class Snapshots:
    """Chooses, for each of several memories, the parts of one conversation or text that become its snapshot."""

    def __init__(self, workspace: Workspace, parts: Sequence[SnapshotPart], tokens: int) -> None:
        """`tokens` is the maximum size of one snapshot."""
        self._workspace = workspace
        self._parts = parts
        self._tokens = tokens
        self._vectors: dict[str, bytes] = {}

    def about(self, fields: Mapping[str, Json]) -> list[dict[str, Json]]:
        """The parts that are nearest to a memory with these fields by meaning; by words where there is no embedder, or it
        fails."""
        texts = (fields.get("path"), fields.get("raw"), *json_texts([fields.get("content"), fields.get("procedure")]))
        topic = "\n".join(text for text in texts if isinstance(text, str))
        try:
            embedder = self._workspace.load_embedder()
            if embedder is not None:
                # Each part costs a run of the model: of a long session, those that share words and the latest do.
                likely = snapshot.candidates(self._parts, topic, self._tokens)
                return snapshot.choose(
                    likely, topic, self._tokens, lambda topic, texts: self._cosines(embedder, topic, texts)
                )
        except (ProviderError, RefusedError) as error:
            self._workspace.warn(f"{error.message}; the context is chosen by words")
        return snapshot.choose(self._parts, topic, self._tokens)

    def _cosines(self, embedder: Embedder, topic: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        (vector,) = embedder.embed([topic], as_questions=True)
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors.update(zip(new, embedder.embed(new), strict=True))
        return [cosine(vector, self._vectors[text]) or 0.0 for text in texts]


def of_session(workspace: Workspace, ref: str | None, tokens: int) -> Snapshots:
    """Snapshots of a session, by default the current one. Raises NotFoundError, UsageError, CorruptError."""
    session = sessions.find(workspace, ref) if ref else sessions.current(workspace, ACTIVE, PAUSED)
    parts = snapshot.of_messages(sessions.messages(workspace, session), session.id, tokens)
    return Snapshots(workspace, parts, tokens)


def of_text(workspace: Workspace, text: str, tokens: int) -> Snapshots:
    """Snapshots of a text."""
    return Snapshots(workspace, snapshot.of_text(text, INPUT, tokens), tokens)


def session_topic(embedder: Embedder | None, previous: str, current: str) -> TopicChange:
    """Compares two prompts by form, words and meaning; without meaning when there is no embedder, it fails, or its cosines
    are not on the scale of the thresholds."""
    similarity = None
    if embedder is not None and embedder.is_calibrated and previous.strip() and current.strip():
        with suppress(ProviderError):
            one, other = embedder.embed([previous[:MAX_CHARACTERS], current[:MAX_CHARACTERS]], as_questions=True)
            similarity = cosine(one, other)
    return compare(previous, current, similarity)
