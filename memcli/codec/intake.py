"""What a space from elsewhere must be before it is let in. Its ids, paths and values come from strangers."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.codec.memory import checked_fields
from memcli.errors import CorruptError, UsageError
from memcli.model.memory import Json
from memcli.model.names import check_id, check_path, check_space, show

MAX_OBJECTS = 100_000
MAX_TEXT_BYTES = 1 << 20
MAX_DEPTH = 64
"""Of a whole bundle: what its memories may have, and what is around them."""
_TEXTS = ("raw", "summary_micro", "summary_short", "summary_long")


def check_intake(tree: Mapping[str, Json], where: str) -> None:
    """Checks the JSON of a space all through. Raises CorruptError naming `where`, the object and what is wrong."""
    objects = tree["objects"]
    if len(objects) > MAX_OBJECTS:
        raise CorruptError(
            f"{where}: {len(objects)} memories; a bundle holds at most {MAX_OBJECTS}", "export it in parts"
        )
    try:
        check_space(tree["space"])
    except UsageError as error:
        raise CorruptError(f"{where}: {error.message}", error.hint) from None
    ids: dict[str, int] = {}
    paths: dict[str, int] = {}
    for n, item in enumerate(objects):
        try:
            _check_object(item)
        except UsageError as error:
            raise CorruptError(f"{where}: object {n}: {error.message}", "get a new export") from None
        for what, seen in (("id", ids), ("path", paths)):
            if seen.setdefault(item[what], n) != n:
                raise CorruptError(
                    f"{where}: objects {seen[item[what]]} and {n} have the same {what} {show(item[what])}",
                    "get a new export",
                )


def _check_object(item: Mapping[str, Json]) -> None:
    checked_fields(item)
    check_id(item["id"])
    if check_path(item["path"]) != item["path"]:
        raise UsageError(f"the path {show(item['path'])} is not in Unicode normal form C")
    for name in _TEXTS:
        size = len(item.get(name, "").encode())
        if size > MAX_TEXT_BYTES:
            raise UsageError(f"{name} is {size / 1e6:.1f} MB; a text holds at most {MAX_TEXT_BYTES >> 20} MiB")
