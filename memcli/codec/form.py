"""Form: what of a memory a space file says, by the version of its format.

Version 1 has every core field of a memory: the full form, which servers, exports and digests have as well. Version 2 leaves
out what says nothing: a field that is what the table says of it, and in the metadata the name of the file's own space, so
that `"space": null` stands for a memory that has none there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

from memcli.codec.memory import memory_from_json, memory_to_json
from memcli.model.memory import Json, Memory
from memcli.model.shapes import CORE_FIELDS
from memcli.record import Record

VERSION = 2
"""The version that space files are written in."""
FULL_VERSION = 1

_IMPLIED: Mapping[str, Callable[[Mapping[str, Json]], Json]] = {
    "raw": lambda _: "",
    "summary_micro": itemgetter("raw"),
    "summary_short": itemgetter("summary_micro"),
    "summary_long": itemgetter("summary_short"),
    "tags": lambda _: [],
    "relevance": lambda _: "medium",
    "pinned": lambda _: False,
    "metadata": lambda _: {},
}
"""What a field is where it is left out, by the fields above it."""
REQUIRED = tuple(name for name in CORE_FIELDS if name not in _IMPLIED)
"""The fields that every version has."""


class SpaceForm(Record):
    """How the memories of the space of this name are written."""

    space: str
    version: int = VERSION

    def to_json(self, memory: Memory) -> dict[str, Json]:
        """The JSON object that stands for the memory."""
        fields = memory_to_json(memory)
        if self.version == FULL_VERSION:
            return fields
        fields["tags"] = list(memory.tags)
        fields["metadata"] = _without_space(memory.metadata, self.space)
        for name in [name for name, implied in _IMPLIED.items() if fields[name] == implied(fields)]:
            del fields[name]
        return fields

    def from_json(self, data: Mapping[str, Json], where: str) -> Memory:
        """The memory that a JSON object stands for. Raises CorruptError naming `where` and the field."""
        return memory_from_json(data if self.version == FULL_VERSION else self._filled(data), where)

    def _filled(self, data: Mapping[str, Json]) -> dict[str, Json]:
        fields = dict(data)
        for name, implied in _IMPLIED.items():
            if name not in fields:
                fields[name] = implied(fields)
        if isinstance(fields["metadata"], dict):
            fields["metadata"] = _with_space(fields["metadata"], self.space)
        return fields


def form_of(header: Mapping[str, Json], space: str = "") -> SpaceForm:
    """How the memories of a file are written, by its header, which may be damaged: then the file is that of `space`."""
    name, version = header.get("space"), header.get("version")
    return SpaceForm(name if isinstance(name, str) else space, version if type(version) is int else VERSION)


def _without_space(metadata: Mapping[str, Json], space: str) -> dict[str, Json]:
    told = {"space": None, **metadata}
    if told["space"] == space:
        del told["space"]
    return told


def _with_space(metadata: Mapping[str, Json], space: str) -> dict[str, Json]:
    if metadata.get("space", space) is None:
        return {name: value for name, value in metadata.items() if name != "space"}
    return {"space": space, **metadata}
