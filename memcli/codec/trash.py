"""A run in the trash: the bytes of a space file that holds what was removed, with a note of when and by what."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.clock import normalize_time
from memcli.codec.space import decode_space, encode_space
from memcli.errors import CorruptError
from memcli.model.memory import Json
from memcli.model.removal import Run, Severed, run_name
from memcli.model.shapes import MEMORY_FIELDS, TEXT, Shape, problem
from memcli.model.space import Space
from memcli.record import replace

_NOTE = "removed"
_SEVERED: Shape = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "links"],
        "properties": {"id": TEXT, "links": MEMORY_FIELDS["links"]},
    },
}


def encode_run(removed_at: str, command: str, removed: Space, severed: Sequence[Severed] = ()) -> tuple[str, bytes]:
    """The name and the canonical bytes of a run. The space's own unknown fields go into the note, out of its way."""
    note: dict[str, Json] = {"at": removed_at, "command": command, "extra": removed.extra}
    if severed:
        note["severed"] = [
            {"id": s.id, "links": s.links, "superseded_by": s.superseded_by, "valid_until": s.valid_until}
            for s in severed
        ]
    data = encode_space(replace(removed, extra={_NOTE: note}))
    return run_name(removed_at, data.decode()), data


def decode_run(name: str, data: bytes, where: str) -> Run:
    """The run that `data` holds. Raises CorruptError naming `where`."""
    space = decode_space(data, where)
    note = space.extra.get(_NOTE)
    kinds = (("at", str), ("command", str), ("extra", dict))
    if not isinstance(note, dict) or not all(isinstance(note.get(key), kind) for key, kind in kinds):
        raise CorruptError(f"{where}: no record of what removed it", "move the file away to keep its content")
    if problem(listed := note.get("severed", []), _SEVERED, "severed"):
        raise CorruptError(f"{where}: no record of the links it removed", "move the file away to keep its content")
    severed = (Severed(s["id"], tuple(s["links"]), s.get("superseded_by"), s.get("valid_until")) for s in listed)
    at = normalize_time(note["at"])
    return Run(name, at, note["command"], replace(space, extra=note["extra"]), tuple(severed))
