"""Spaces on a server: a write is one transaction, which holds the row of its space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from psycopg import Connection

from memcli.codec.space import check_writable, encode_memory, encode_space, memory_digest, new_space
from memcli.errors import NotFoundError
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.removal import Going
from memcli.model.space import Change, Policy, Receipt, Space, Touched
from memcli.policy.acts import Act, act_of
from memcli.policy.draft import Draft
from memcli.policy.receipts import is_kept, parted, receipt_of, trash_note, without_erased
from memcli.ports import Fold, Shelf
from memcli.postgres import audit, indexing, trash
from memcli.postgres.audit import Author, is_marked
from memcli.postgres.bodies import where_of
from memcli.postgres.server import Server
from memcli.postgres.shelf import ServerShelf
from memcli.postgres.snapshot import ServerSnapshot
from memcli.record import Record, replace

if TYPE_CHECKING:
    from memcli.codec.audit import Link

_LOCK = "SELECT header, objects, gen_random_uuid() FROM space WHERE space = %s FOR NO KEY UPDATE"
_MAKE = """INSERT INTO space (space, version, header, objects, bytes) VALUES (%s, 0, %s, 0, 0)
    ON CONFLICT (space) DO NOTHING"""
_PUT = """INSERT INTO memory (space, id, path, hash, updated_at, body)
    SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])
    ON CONFLICT (space, id) DO UPDATE
    SET path = excluded.path, hash = excluded.hash, updated_at = excluded.updated_at, body = excluded.body"""
_DROP = "DELETE FROM memory WHERE space = %s AND id = ANY(%s)"
_SET = """UPDATE space SET header = %s, objects = %s, bytes = bytes + %s, version = version + 1 WHERE space = %s"""


class Done(Record):
    """What a write did, its answer, and what it left to be done when it is committed."""

    receipt: Receipt
    answer: Json = None
    going: Going | None = None
    mark: object = None


class ServerStore:
    """The spaces on `server`. See `ports.Store` for the promises.

    `in_force`: what of a policy holds here. `erase_traces` takes memories that are gone for good out of what this machine
    keeps of a space.
    """

    def __init__(
        self,
        server: Server,
        fold: Fold,
        who: Author,
        in_force: Callable[[Policy], Policy] = lambda policy: policy,
        warn: Callable[[str], None] = lambda _: None,
        erase_traces: Callable[[str, Collection[str]], None] = lambda *_: None,
    ) -> None:
        self._server = server
        self._fold = fold
        self._who = who
        self._in_force = in_force
        self._warn = warn
        self._erase_traces = erase_traces

    def spaces(self) -> list[str]:
        with self._server.connected("list the spaces") as connection:
            return [name for (name,) in connection.execute("SELECT space FROM space ORDER BY space")]

    def open(self, space: str) -> ServerSnapshot:
        return ServerSnapshot(self._server, check_space(space))

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        return self._write(space, lambda draft: (change(draft), None)).receipt

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        done = self._write(space, lambda draft: self._fold(draft, request))
        return done.answer, done.receipt

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        name = check_space(space)
        found: list[Space] = []

        def work(connection: Connection) -> Done:
            found.clear()
            held = _lock(connection, name)
            if held is None:
                raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")
            before = held.shelf.load()
            check(before)
            found.append(before)
            touched = tuple(Touched(m.id, m.path, memory_digest(m), "") for m in before.objects)
            receipt = Receipt(touched)
            act = act_of(receipt, before.policy, None)
            going = self._record(connection, held, Going(before), act, is_whole=True)
            ids = [memory.id for memory in before.objects]
            indexing.write(connection.cursor(), name, [], ids)
            connection.execute("DELETE FROM memory WHERE space = %s", [name])
            connection.execute("DELETE FROM space WHERE space = %s", [name])
            return Done(receipt, going=going, mark=held.mark)

        self._finish(name, self._transact(name, work, f"delete space {name!r}"))
        return found[0]

    def _write(self, space: str, make: Callable[[Shelf], tuple[Change, Json]]) -> Done:
        name = check_space(space)
        done = self._transact(name, lambda connection: self._make(connection, name, make), f"write space {name!r}")
        return self._finish(name, done)

    def _make(self, connection: Connection, space: str, make: Callable[[Shelf], tuple[Change, Json]]) -> Done:
        """Makes a change in the transaction of the connection; where it is empty, nothing is written."""
        held = _lock(connection, space) or _made(connection, space)
        draft = Draft(held.shelf)
        policy = draft.header.policy
        wanted, answer = make(draft)
        held.shelf.prefetch([*wanted.drop, *(memory.id for memory in wanted.put)])
        receipt = receipt_of(draft, wanted)
        whole = draft.change()
        if not whole:
            connection.execute("ROLLBACK")
            return Done(receipt, answer)
        check_writable(held.shelf.header, where_of(space))
        act = act_of(receipt, policy, draft.header.policy, tasks=dict(wanted.tasks) or None)
        going = self._record(connection, held, draft.going(), act, is_whole=False)
        _put(connection, held, whole, draft)
        receipt = replace(receipt, run=going.run, touched=without_erased(receipt.touched, going))
        return Done(receipt, answer, going, held.mark)

    def _record(self, connection: Connection, held: Held, going: Going, act: Act | None, *, is_whole: bool) -> Going:
        """Puts what goes into the trash, takes what goes for good out of it and the log, and appends the act to that."""
        going = parted(going, self._in_force(going.kept.policy).grace_days)
        if is_kept(going, is_whole=is_whole):
            going = replace(going, run=trash.keep(connection, going, self._who.clock(), self._who.command))
        if going.erased:
            hashes = {memory.id: memory.hash for memory in going.erased}
            also = trash.erase(connection, held.space, hashes)
            audit.erase(connection, held.space, {*hashes, *(memory.id for memory in also)})
        if act is not None:
            told = replace(act, touched=without_erased(act.touched, going), run=going.run)
            audit.append(connection, held.space, self._who.entry(held.space, told), held.mark, held.last)
        return going

    def _transact(self, space: str, work: Callable[[Connection], Done], what: str) -> Done:
        return self._server.transact(work, lambda connection, done: is_marked(connection, space, done.mark), what)

    def _finish(self, space: str, done: Done) -> Done:
        """What follows a write that is committed."""
        going = done.going
        if going is None:
            return done
        if going.erased:
            self._erase_traces(space, {memory.id for memory in going.erased})
        if going.run:
            self._warn(trash_note(going, self._in_force(going.kept.policy).grace_days))
        return done


class Held(Record):
    """A space under its lock: its shelf, the end of its log, and the mark of the write that holds it."""

    space: str
    shelf: ServerShelf
    last: Link
    mark: object


def _lock(connection: Connection, space: str) -> Held | None:
    """The space under its lock, which lasts as long as the transaction; None when it does not exist."""
    with connection.pipeline():
        locked = connection.execute(_LOCK, [space])
        last = connection.execute(audit.LAST, [space])  # a statement of its own: it sees what the lock waited for
    row = locked.fetchone()
    if row is None:
        return None
    header, objects, mark = row
    return Held(space, ServerShelf(connection, space, header, objects), audit.link_of(last.fetchone()), mark)


def _made(connection: Connection, space: str) -> Held:
    """As `_lock`, for a space that is made; another writer may make it at the same moment."""
    connection.execute(_MAKE, [space, encode_space(new_space(space))])
    held = _lock(connection, space)
    assert held is not None
    return held


def _put(connection: Connection, held: Held, change: Change, draft: Draft) -> None:
    """Writes what a change puts and drops, the header and the index."""
    space, shelf = held.space, held.shelf
    bodies = [encode_memory(memory) for memory in change.put]
    dropped = sorted(change.drop)
    header = encode_space(replace(change.header or shelf.header, name=shelf.header.name, objects=()))
    touched = [*dropped, *(memory.id for memory in change.put)]
    grown = sum(map(len, bodies)) - sum(shelf.length(name) for name in touched)
    with connection.pipeline():
        if dropped:
            connection.execute(_DROP, [space, dropped])
        if change.put:
            connection.execute(_PUT, [space, *_columns(change, bodies)])
        connection.execute(_SET, [header, draft.size, grown, space])
    indexing.write(connection.cursor(), space, change.put, dropped)


def _columns(change: Change, bodies: Sequence[bytes]) -> list[list[str] | list[bytes]]:
    put = change.put
    return [
        [m.id for m in put],
        [m.path for m in put],
        [m.hash for m in put],
        [m.updated_at for m in put],
        list(bodies),
    ]
