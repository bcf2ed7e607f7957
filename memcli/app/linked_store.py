"""A store whose spaces link to each other: a removal from one removes the links to it from the others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing

from memcli.errors import MemcliError, reason
from memcli.model.links import Severed, elsewhere, target
from memcli.model.memory import Json, Memory
from memcli.model.space import Change, Receipt, Space
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf, Store, Trash


class LinkedStore:
    """The store `inner`. When a write removes memories, the links of other spaces to them are removed too, and stored in the run
    of the trash, so that a restore brings them back. `note` receives the number of memories that a write touches. Same methods
    as `ports.Store`."""

    def __init__(
        self,
        inner: Store,
        load_trash: Callable[[], Trash],
        warn: Callable[[str], None],
        note: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._inner = inner
        self.spaces, self.open, self.policy = inner.spaces, inner.open, inner.policy
        self._load_trash = load_trash
        self._warn = warn
        self._note = note

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        receipt = self._inner.update(space, change)
        self._written(space, receipt)
        return receipt

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        answer, receipt = self._inner.submit(space, request)
        self._written(space, receipt)
        return answer, receipt

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        gone = self._inner.delete(space, check)
        self._take_out(space, {memory.id for memory in gone.objects}, "")
        return gone

    def _written(self, space: str, receipt: Receipt) -> None:
        self._note(len(receipt.touched))
        if receipt.removed:
            self._take_out(space, {one.id for one in receipt.touched if not one.after}, receipt.run)

    def _take_out(self, space: str, ids: Collection[str], run: str) -> None:
        """Removes the links of other spaces to these memories. The write itself is done: a failure causes a warning."""
        severed: list[Severed] = []
        names, mark = {f"{space}:{name}" for name in ids}, f'"{space}:'.encode()
        try:
            # No memory of a derived space has links to other spaces, or is linked to.
            for other in () if self.policy(space).is_derived else self.spaces():
                if other != space and not self.policy(other).is_derived:
                    with closing(self.open(other)) as snapshot:
                        # A search in bytes: decoding all memories of all spaces would delay every removal.
                        is_linking = any(mark in data for data, _ in snapshot.records())
                    severed += self._cut(other, names) if is_linking else []
            if severed:
                trash = self._load_trash()
                own = (one for one in trash.runs() if one.space.name == space)
                # The run of a deleted space has no name in the receipt: it is the newest with one of its memories.
                mine = (
                    one for one in own if one.name == run or (not run and any(m.id in ids for m in one.space.objects))
                )
                if (found := next(mine, None)) is not None:
                    trash.put(replace(found, severed=(*found.severed, *severed)))
        except (MemcliError, OSError) as error:
            self._warn(
                f"removed, but links to it from other spaces are left: {reason(error)}; "
                "`memcli check store --repair` removes them"
            )

    def _cut(self, space: str, names: Collection[str]) -> list[Severed]:
        severed: list[Severed] = []

        def apply(shelf: Shelf) -> Change:
            # A server may repeat the transaction, and with it this function.
            severed.clear()
            put = []
            for memory in shelf.load().objects:
                lost = tuple(link for link in memory.links if target(link) in names and shelf.get(target(link)) is None)
                if lost:
                    severed.append(Severed(memory.id, lost, space=space))
                    put.append(replace(memory, links=tuple(link for link in memory.links if link not in lost)))
            return Change(tuple(put))

        self._inner.update(space, apply)
        return severed


def without_lost(store: Store, memory: Memory) -> Memory:
    """The memory without links to missing memories of other spaces of the store."""
    ends = {name: far for link in memory.links if (far := elsewhere(name := target(link)))}
    known = set(store.spaces()) if ends else set()
    lost = set()
    for name, (space, own) in ends.items():
        if space in known:
            with closing(store.open(space)) as snapshot:
                if not snapshot.load().contains(own):
                    lost.add(name)
    if not lost:
        return memory
    return replace(memory, links=tuple(link for link in memory.links if target(link) not in lost))
