"""A space file as text that git compares line by line: the memories in order of their paths, each a block.

What changes with any edit is left out: the time, the version, the hash. Characters that nobody sees are escaped, so that a
reviewer does see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.codec.canonical import encode_line
from memcli.codec.space import SpaceForm, header_to_json
from memcli.model.memory import Json, Memory
from memcli.model.space import Space
from memcli.render.clean import escape

_UNTOLD = frozenset("format version space updated_at path raw metadata.hash".split())


def space_text(space: Space) -> str:
    """The fields of the space that are not empty, then its memories."""
    form = SpaceForm(space.name)
    memories = sorted(space.objects, key=lambda memory: (memory.path, memory.id))
    blocks = [f"space {escape(space.name)}\n{_fields(header_to_json(space))}", *(_block(m, form) for m in memories)]
    return "\n".join(blocks)


def _block(memory: Memory, form: SpaceForm) -> str:
    text = "".join(f"  {escape(line)}".rstrip() + "\n" for line in memory.raw.split("\n")) if memory.raw else ""
    return f"{escape(memory.path)}\n{text}{_fields(form.to_json(memory))}"


def _fields(fields: Mapping[str, Json]) -> str:
    told = ((name, value) for name, value in sorted(_told(fields)) if name not in _UNTOLD)
    return "".join(f"    {escape(name)}: {escape(value)}".rstrip() + "\n" for name, value in told)


def _told(fields: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The fields that say something, each on a line; what is in the metadata or a policy has a line of its own."""
    for name, value in fields.items():
        if name in ("metadata", "policy") and isinstance(value, dict):
            yield from _told(value, f"{name}.")
        elif value is not None:
            yield prefix + name, value if isinstance(value, str) and "\n" not in value else encode_line(value).decode()
