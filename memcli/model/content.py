"""JSON values as text."""

from __future__ import annotations

from collections.abc import Iterator

from memcli.model.memory import Json


def json_texts(value: Json, *, keys: bool = True) -> Iterator[str]:
    """The leaves of a JSON value, and the keys unless they are not wanted, as text, in order."""
    if isinstance(value, dict):
        for key in sorted(value):
            if keys:
                yield key
            yield from json_texts(value[key], keys=keys)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from json_texts(item, keys=keys)
    elif value is not None:
        yield value if isinstance(value, str) else str(value)
