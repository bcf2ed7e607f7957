"""A store of two: the spaces that a team shares on a server, and those that stay on this machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, TypeVar

from memcli.model.links import Lineage, Run
from memcli.model.memory import Json
from memcli.model.space import Change, Policy, Receipt, Space, Touched
from memcli.ports import AuditTrail, Index, Shelf, Snapshot, Store, Trash
from memcli.ports.views import SpaceView
from memcli.record import Record
from memcli.settings import is_beside

_Side = TypeVar("_Side")


class _Shared(Record, Generic[_Side]):
    """Both sides of one adapter: the server has all spaces but those beside them, which are of this machine."""

    _shared: _Side
    _local: _Side

    def _of(self, space: str) -> _Side:
        return self._local if is_beside(space) else self._shared


class SharedStore(_Shared[Store]):
    """The spaces on `shared`, and those beside them on `local`. See `ports.Store` for the promises."""

    def spaces(self) -> list[str]:
        here = (name for name in self._local.spaces() if is_beside(name))
        return sorted({*self._shared.spaces(), *here})

    def open(self, space: str) -> Snapshot:
        return self._of(space).open(space)

    def policy(self, space: str) -> Policy:
        return self._of(space).policy(space)

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        return self._of(space).update(space, change)

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        return self._of(space).submit(space, request)

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        return self._of(space).delete(space, check)


class SharedTrash(_Shared[Trash]):
    """The trash of both. See `ports.Trash` for the promises."""

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        here = (run for run in self._local.runs(skip) if is_beside(run.space.name))
        found = [*self._shared.runs(skip), *here]
        return sorted(found, key=lambda run: run.name.partition("-")[0], reverse=True)

    def holds(self, space: str, name: str) -> bool:
        return self._of(space).holds(space, name)

    def put(self, run: Run) -> None:
        self._of(run.space.name).put(run)

    def drop(self, run: Run, ids: Collection[str], *, erase: bool = False) -> None:
        self._of(run.space.name).drop(run, ids, erase=erase)

    def collected(self, space: str) -> str:
        return self._of(space).collected(space)

    def note_collection(self, space: str, at: str) -> None:
        self._of(space).note_collection(space, at)


class SharedAudit(_Shared[AuditTrail]):
    """The audit logs of both. See `ports.AuditTrail` for the promises."""

    def record(self, space: str, action: str, touched: Sequence[Touched], policy: Json = None) -> None:
        self._of(space).record(space, action, touched, policy)

    def append(self, space: str, entries: Sequence[dict[str, Json]]) -> None:
        self._of(space).append(space, entries)

    def read(self, space: str) -> bytes:
        return self._of(space).read(space)

    def spaces(self) -> list[str]:
        here = (name for name in self._local.spaces() if is_beside(name))
        return sorted({*self._shared.spaces(), *here})

    def lineage(self, space: str) -> Lineage:
        return self._of(space).lineage(space)

    def by_admins(self, space: str, numbers: Collection[int]) -> Collection[int]:
        return self._of(space).by_admins(space, numbers)


class SharedIndex(_Shared[Index]):
    """The indexes of both. See `ports.Index` for the promises."""

    def view(self, snapshot: Snapshot) -> SpaceView:
        return self._of(snapshot.space).view(snapshot)

    def at_hand(self, snapshot: Snapshot) -> SpaceView | None:
        return self._of(snapshot.space).at_hand(snapshot)

    def kept(self, snapshot: Snapshot) -> SpaceView | None:
        return self._of(snapshot.space).kept(snapshot)

    def embedder(self) -> str:
        return self._local.embedder()

    def rebuild(self, space: str) -> None:
        self._of(space).rebuild(space)

    def question(self, topic: str) -> tuple[str, bytes] | None:
        return self._shared.question(topic) or self._local.question(topic)
