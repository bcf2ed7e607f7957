"""A trash run as bytes: the header of the space with the removed memories, and a record of the removal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.clock import normalize_time
from memcli.codec.space import decode_space, encode_full
from memcli.errors import CorruptError
from memcli.model.links import Run, Severed
from memcli.model.memory import Json
from memcli.model.names import short_digest
from memcli.model.shapes import MEMORY_FIELDS, TEXT, Shape, problem
from memcli.model.space import Space
from memcli.record import replace

_NOTE = "removed"
_SEVERED: Shape = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "links"],
        "properties": {"id": TEXT, "links": MEMORY_FIELDS["links"], "space": TEXT},
    },
}


def encode_run(
    removed_at: str,
    command: str,
    removed: Space,
    severed: Sequence[Severed] = (),
    replaced: Mapping[str, str] | None = None,
) -> tuple[str, bytes]:
    """The name and the canonical bytes of a run. Unknown fields of the space are stored inside the record of the removal."""
    note: dict[str, Json] = {"at": removed_at, "command": command, "extra": removed.extra}
    if severed:
        note["severed"] = [
            {
                "id": s.id,
                "links": s.links,
                "superseded_by": s.superseded_by,
                "valid_until": s.valid_until,
                **({"space": s.space} if s.space else {}),
            }
            for s in severed
        ]
    # A restore compares with these, and leaves a memory that somebody has edited since.
    if replaced:
        note["replaced"] = dict(replaced)
    data = encode_full(replace(removed, extra={_NOTE: note}))
    # Sorted by name, runs are in order of time; the same removal at the same time has the same name.
    return f"{removed_at.replace('-', '').replace(':', '')}-{short_digest(data.decode(), 8)}", data


def run_bytes(run: Run) -> bytes:
    """The canonical bytes of a run."""
    return encode_run(run.removed_at, run.command, run.space, run.severed, run.replaced)[1]


def decode_run(name: str, data: bytes, where: str) -> Run:
    """The run in `data`. Raises CorruptError naming `where`."""
    space = decode_space(data, where)
    note = space.extra.get(_NOTE)
    kinds = (("at", str), ("command", str), ("extra", dict))
    if not isinstance(note, dict) or not all(isinstance(note.get(key), kind) for key, kind in kinds):
        raise CorruptError(f"{where}: no record of what removed it", "move the file away to keep its content")
    listed = note.get("severed", [])
    # A run may come from another clone, and a restore uses these values as ids and times.
    if problem(listed, _SEVERED, "severed") or not all(
        isinstance(one.get(key), (str, type(None))) for one in listed for key in ("superseded_by", "valid_until")
    ):
        raise CorruptError(f"{where}: no record of the links it removed", "move the file away to keep its content")
    severed = tuple(
        Severed(one["id"], tuple(one["links"]), one.get("superseded_by"), one.get("valid_until"), one.get("space", ""))
        for one in listed
    )
    found = note.get("replaced")
    replaced = {name: str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}
    at = normalize_time(note["at"])
    return Run(name, at, note["command"], replace(space, extra=note["extra"]), severed, replaced)
