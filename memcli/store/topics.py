"""The last topic of each session of an agent, in `agents.topics.json`, for one day: its vector and keyed hashes of its
words, never the words."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from typing import Any

from memcli.clock import days_between
from memcli.codec.canonical import encode_line
from memcli.conversation.last_topic import LastTopic
from memcli.conversation.topic import Trace
from memcli.digests import blake2b, sha256
from memcli.model.memory import Json
from memcli.store.atomic import replace_file
from memcli.store.key import own_key
from memcli.store.layout import Layout
from memcli.store.reading import read_json

_DAYS = 1.0
_HASH_BYTES = 8
_PERSON = b"memcli/topic/1"  # keeps these hashes apart from any other use of the key


class Topics:
    """The last topics of the store at `layout`, as they are at the time `now`. Whoever uses them holds the lock of the
    sessions. Methods raise OSError; `sign` StoreError too."""

    def __init__(self, layout: Layout, now: str) -> None:
        self._layout = layout
        self._path = layout.private("agents.topics.json")
        self._now = now
        self._key = b""

    def sign(self, word: str) -> str:
        """The keyed hash of a word."""
        self._key = self._key or own_key(self._layout)
        data = word.encode("utf-8", "replace")
        return blake2b(data, key=self._key, digest_size=_HASH_BYTES, person=_PERSON).hexdigest()

    def of(self, session: str) -> LastTopic | None:
        """The last topic of a session, unless it is older than a day."""
        found = self._read().get(_name(session))
        return None if found is None else _from_json(found)

    def keep(self, session: str, topic: LastTopic) -> None:
        """Keeps the last topic of a session, and forgets all that are older than a day."""
        self._write({**self._read(), _name(session): {"at": self._now, **_to_json(topic)}})

    def forget(self, session: str = "") -> None:
        """Forgets the last topic of a session, and all that are older than a day."""
        found = self._read()
        kept = {name: entry for name, entry in found.items() if name != _name(session)}
        if kept != (read_json(self._path) or {}):
            self._write(kept)

    def _read(self) -> dict[str, dict[str, Any]]:
        data = read_json(self._path)
        found = data if isinstance(data, dict) else {}
        return {name: entry for name, entry in found.items() if isinstance(entry, dict) and self._is_new(entry)}

    def _write(self, topics: Mapping[str, Mapping[str, Any]]) -> None:
        replace_file(self._path, encode_line({name: dict(entry) for name, entry in topics.items()}))

    def _is_new(self, entry: Mapping[str, Any]) -> bool:
        try:
            at = str(entry.get("at"))
            return at <= self._now and days_between(at, self._now) < _DAYS
        except (ValueError, TypeError):
            return False


def _name(session: str) -> str:
    return sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


def _to_json(topic: LastTopic) -> dict[str, Json]:
    trace = topic.trace
    return {
        "terms": sorted(trace.terms), "names": sorted(trace.names), "weight": round(trace.weight, 2),
        "model": topic.model, "vector": b2a_base64(topic.vector, newline=False).decode(),
    }  # fmt: skip


def _from_json(entry: Mapping[str, Any]) -> LastTopic | None:
    """The topic in an entry; None for one that is damaged."""
    try:
        trace = Trace(frozenset(entry["terms"]), frozenset(entry["names"]), float(entry["weight"]))
        return LastTopic(trace, str(entry["model"]), a2b_base64(str(entry["vector"])))
    except (LookupError, TypeError, ValueError):
        return None
