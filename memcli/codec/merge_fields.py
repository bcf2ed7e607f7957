"""The fields of two JSON objects merged, as `merge.py` promises. Nothing here knows which side is called ours: of the
two that differ one is the newer, by `updated_at` and then by its bytes, and all that follows hangs on that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memcli.codec.canonical import encode
from memcli.model.memory import Json, increased
from memcli.model.names import text_hash
from memcli.record import Record, field

DELETED = "deleted"
"""Stands for a field in a conflict between a deletion and an edit."""

_MISSING = object()
_DEFAULTS: Mapping[str, Json] = {
    "pinned": False, "relevance": "medium", "raw": "", "summary_micro": "", "summary_short": "", "summary_long": "",
    "tags": [], "metadata": {}, "policy": {},
}  # fmt: skip
MAPS = ("metadata", "policy", "procedure", "provenance", "episode")
_SUMMARIES = ("summary_micro", "summary_short", "summary_long")
FOLLOW_TEXT = (*_SUMMARIES, "chunks", "metadata.pii_flags")
"""Made of the text: where the sides have different ones, these come from the side whose text stays."""


class MergeSide(Record):
    """One of the two versions. `order` puts them in order of age."""

    fields: Mapping[str, Json]
    order: tuple[str, bytes]


def merge_objects(base: Mapping[str, Json], ours: MergeSide, theirs: MergeSide) -> tuple[dict[str, Json], list[str]]:
    """The merged object, and the fields in conflict; `base` is empty where the two have nothing in common."""
    newer, older = (ours, theirs) if ours.order >= theirs.order else (theirs, ours)
    return _Merge(base, newer.fields, older.fields).run()


class _Merge(Record, frozen=False):
    base: Mapping[str, Json]
    newer: Mapping[str, Json]
    older: Mapping[str, Json]
    data: dict[str, Json] = field(default_factory=dict)
    conflicts: dict[str, tuple[Json, Json]] = field(default_factory=dict)  # what gave way, and when it was written

    def run(self) -> tuple[dict[str, Json], list[str]]:
        # The text first, because others follow it; the metadata last, because conflicts are told there.
        for name in sorted(self.newer.keys() | self.older.keys(), key=lambda n: (n != "raw", n == "metadata", n)):
            self._put(name, self._field(name, *(_get(side, name) for side in (self.base, self.newer, self.older))))
        if self.conflicts:
            self.data["metadata"] = self._metadata_with_conflicts()
        return self.data, sorted(self.conflicts)

    def _put(self, name: str, value: Json) -> None:
        if value is not _MISSING:
            self.data[name] = value

    def _field(self, name: str, base: Json, newer: Json, older: Json) -> Json:
        if name in _COUNTERS:
            return _COUNTERS[name](base, newer, older)
        if name in FOLLOW_TEXT and self._text_side() is not None:
            return self._following_text(name, base, newer, older)
        if name in MAPS and isinstance(newer, dict) and isinstance(older, dict):
            return self._map(name, base if isinstance(base, dict) else {}, newer, older)
        if name == "metadata.hash":
            return self._hash(base, newer, older)
        if name in _SETS and isinstance(newer, list) and isinstance(older, list):
            return self._set(name, base if isinstance(base, list) else [], newer, older)
        return self._value(name, base, newer, older)

    def _value(self, name: str, base: Json, newer: Json, older: Json) -> Json:
        """Whichever side changed it; where both did, the newer, and the older is noted. An edit outlives a removal."""
        if _same(newer, older) or _same(older, base):
            return newer
        if _same(newer, base):
            return older
        if older is _MISSING or newer is _MISSING:
            return older if newer is _MISSING else newer
        if name not in _UNTOLD:
            self.conflicts[name] = older, self.older.get("updated_at", "")
        return newer

    def _map(self, name: str, base: Mapping[str, Json], newer: Mapping[str, Json], older: Mapping[str, Json]) -> Json:
        merged = {}
        for key in sorted(newer.keys() | older.keys()):
            value = self._field(f"{name}.{key}", *(side.get(key, _MISSING) for side in (base, newer, older)))
            if value is not _MISSING:
                merged[key] = value
        return merged

    def _set(self, name: str, base: Sequence[Json], newer: Sequence[Json], older: Sequence[Json]) -> Json:
        """A list whose order says nothing: what was there keeps its place, what either side added comes after it."""
        if _same(newer, older) or _same(older, base):
            return newer
        if _same(newer, base):
            return older
        key = _SETS[name]
        was, new, old = ({key(item): item for item in side} for side in (base, newer, older))
        places = [*was, *sorted((new.keys() | old.keys()) - was.keys())]
        values = (self._value(name, *(side.get(place, _MISSING) for side in (was, new, old))) for place in places)
        return [value for value in values if value is not _MISSING]

    def _text_side(self) -> Mapping[str, Json] | None:
        """The side whose text stays, or None when both have the same."""
        if _same(_get(self.newer, "raw"), _get(self.older, "raw")):
            return None
        return self.newer if _same(self.data.get("raw", _MISSING), _get(self.newer, "raw")) else self.older

    def _following_text(self, name: str, base: Json, newer: Json, older: Json) -> Json:
        is_newer = self._text_side() is self.newer
        value, lost, loser = (newer, older, self.older) if is_newer else (older, newer, self.newer)
        was_written_by_hand = _same(_get(loser, "raw"), _get(self.base, "raw")) and not _same(lost, base)
        if name in _SUMMARIES and was_written_by_hand and not _same(lost, value):
            self.conflicts[name] = lost, loser.get("updated_at", "")
        return value

    def _hash(self, base: Json, newer: Json, older: Json) -> Json:
        """The digest of the text and content that came out, which may be of no side when each gave one of the two."""
        text, content = self.data.get("raw", ""), self.data.get("content", _MISSING)
        of_sides = [
            _same(text, _get(s, "raw")) and _same(content, _get(s, "content")) for s in (self.newer, self.older)
        ]
        if all(of_sides):
            return self._value("metadata.hash", base, newer, older)
        if any(of_sides):
            return newer if of_sides[0] else older
        return text_hash(text, b"" if content is _MISSING else encode(content))

    def _metadata_with_conflicts(self) -> dict[str, Json]:
        """The metadata that came out, and in it every value that gave way, in a total order."""
        metadata = dict(self.data.get("metadata", {}))
        notes = [{"field": n, "value": value, "updated_at": at} for n, (value, at) in self.conflicts.items()]
        metadata["conflicts"] = add_conflicts(metadata.get("conflicts", []), notes)
        return metadata


def add_conflicts(known: Json, notes: Iterable[Json]) -> list[Json]:
    """`known` conflicts with `notes` among them, each once, in order of time. What is no list is kept as one of them."""
    every = {encode(note): note for note in [*(known if isinstance(known, list) else [known]), *notes]}
    return [every[place] for place in sorted(every, key=lambda place: (_note_time(every[place]), place))]


def _note_time(note: Json) -> str:
    return str(note.get("updated_at", "")) if isinstance(note, dict) else ""


def _get(side: Mapping[str, Json], name: str) -> Json:
    return side.get(name, _DEFAULTS.get(name, _MISSING))


def _same(first: Json, second: Json) -> bool:
    # By bytes, because Python takes 1, 1.0 and True for equal.
    if first is _MISSING or second is _MISSING:
        return first is second
    return first is second or encode(first) == encode(second)


def _strength(base: Json, newer: Json, older: Json) -> Json:
    """What both sides added to it; what is confirmed on either side is confirmed."""
    was, new, old = (1 if n is _MISSING else int(n) for n in (base, newer, older))
    return max(0, increased(new, old - was))


def _version(base: Json, newer: Json, older: Json) -> Json:
    """The higher of the two; one more when both were edited, for the result is a text that neither side has."""
    was, new, old = (1 if n is _MISSING else int(n) for n in (base, newer, older))
    return increased(max(new, old), min(new, old) > was)


def _link_place(link: Json) -> bytes:
    place = [link.get("to"), link.get("relation")] if isinstance(link, dict) else link
    return encode(place)


_COUNTERS: Mapping[str, Callable[[Json, Json, Json], Json]] = {
    "strength": _strength,
    "version": _version,
    "updated_at": lambda _, newer, older: max(newer, older),
}
_SETS: Mapping[str, Callable[[Json], bytes]] = {
    "tags": encode, "triggers": encode, "anchors": encode, "context": encode, "links": _link_place,
    "metadata.pii_flags": encode, "metadata.conflicts": encode,
}  # fmt: skip
_UNTOLD = ("links", "chunks", "metadata.hash", "metadata.pii_flags", "metadata.conflicts")
"""Where the newer simply stays: made of the text, or the weight of a link that both sides set."""
