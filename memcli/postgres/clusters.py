"""Clusters of the memories of a space by their vectors, kept beside its index until the space changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memcli.errors import MemcliError
from memcli.index.clusters import MOST, find, from_json, to_json
from memcli.model.clusters import Clusters
from memcli.model.memory import Memory

if TYPE_CHECKING:
    from memcli.postgres.meaning import ServerMeaning
    from memcli.postgres.reading import Read
    from memcli.postgres.server import Server
    from memcli.postgres.snapshot import ServerSnapshot

_KEPT = "SELECT data FROM clustering WHERE space = %s AND model = %s AND fingerprint = %s"
_KEEP = """INSERT INTO clustering VALUES (%s, %s, %s, %s) ON CONFLICT (space, model)
DO UPDATE SET fingerprint = excluded.fingerprint, data = excluded.data"""


def kept_clusters(read: Read, snapshot: ServerSnapshot, model: str) -> Clusters | None:
    """The clusters that were found in this state of the space with this model; None when none were looked for."""
    found = read(_KEPT, (snapshot.space, model, snapshot.fingerprint))
    return from_json(found[0][0]) if found else None


def find_clusters(
    read: Read,
    server: Server,
    snapshot: ServerSnapshot,
    meaning: ServerMeaning,
    model: str,
    fetch: Callable[[Sequence[int]], list[Memory]],
) -> Clusters:
    """The clusters of the memories that are neither forgotten nor superseded. Raises ProviderError, CorruptError."""
    ((count,),) = read("SELECT count(*) FROM entry WHERE space = %s AND NOT hidden", (snapshot.space,))
    if count > MOST:
        return Clusters(reason=f"clusters are found among at most {MOST} memories, not {count}")
    rows: dict[int, str] = dict(read("SELECT row, id FROM entry WHERE space = %s AND NOT hidden", (snapshot.space,)))
    means = meaning.means(rows)
    if means is None:
        return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
    found = find(*means, rows, fetch)
    with suppress(MemcliError), server.connected("keep clusters") as connection:  # a reader may not
        connection.execute(_KEEP, (snapshot.space, model, snapshot.fingerprint, to_json(found)))
    return found
