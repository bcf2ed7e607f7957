"""The spaces on a server: a write is one transaction, which locks its space and also makes the changes of waiting writers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from uuid import UUID

import psycopg
from psycopg import Connection

from memcli.codec.space import check_writable, decode_space, memory_digest, new_space
from memcli.errors import MemcliError, NotFoundError, RefusedError, StoreError
from memcli.extras.postgres import audit, mail, trash
from memcli.extras.postgres.audit import is_marked
from memcli.extras.postgres.connection import unhurried
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.snapshot import ServerSnapshot, header_of, where_of
from memcli.extras.postgres.trash import ServerTrash
from memcli.extras.postgres.writing import BusyError, LockedSpace, check_admin, hold, put, remove, rewrite
from memcli.model.links import Going
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.space import Change, Policy, Receipt, Space, Touched
from memcli.policy.acts import Act, act_of, needs_trash, parted, receipt_of, trash_note, without_erased
from memcli.policy.draft import Draft
from memcli.ports import Fold, Shelf
from memcli.record import Record, replace
from memcli.store.audit import Author
from memcli.store.journal import fold_request

PlanChange = Callable[[Shelf], tuple[Change, Json]]
"""A function from a space to the change that a writer makes of it, and the answer for its caller."""


class WriteResult(Record):
    """The result of a write: its receipt and answer, and what must be done after the commit. Without a mark it wrote nothing.

    `going`: the removed memories. `answers`: the answers to requests, by their tokens. `is_purge`: no byte of the erased
    memories may be left.
    """

    receipt: Receipt = Receipt()
    answer: Json = None
    going: Going | None = None
    mark: UUID | None = None
    answers: Mapping[UUID, Json] = {}
    is_purge: bool = False


class ServerStore:
    """The spaces on `server`. See `ports.Store` for the promises.

    `in_force` returns the policy as it applies here. `erase_traces` removes memories that are gone for good from the files of
    this machine.
    """

    def __init__(
        self,
        server: Server,
        fold: Fold,
        who: Author,
        server_trash: ServerTrash,
        in_force: Callable[[Policy], Policy] = lambda policy: policy,
        warn: Callable[[str], None] = lambda _: None,
        erase_traces: Callable[[str, Collection[str]], None] = lambda *_: None,
    ) -> None:
        self._server = server
        self._fold = fold
        self._who = who
        self._trash = server_trash
        self._in_force = in_force
        self._warn = warn
        self._erase_traces = erase_traces
        self._crowded: set[str] = (
            set()
        )  # spaces that another writer held at the last write: requests are placed at once

    def spaces(self) -> list[str]:
        with self._server.connected("list the spaces") as connection:
            return [name for (name,) in connection.execute("SELECT space FROM space ORDER BY space")]

    def open(self, space: str) -> ServerSnapshot:
        return ServerSnapshot(self._server, check_space(space))

    def policy(self, space: str) -> Policy:
        name = check_space(space)
        found = self._server.ask(partial(header_of, space=name), f"read space {name!r}")
        return decode_space(found, where_of(name)).policy if found else new_space(name).policy

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        return self._write(check_space(space), None, lambda shelf: (change(shelf), None), may_wait=True).receipt

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        name = check_space(space)
        if name not in self._crowded:
            try:
                done = self._write(name, request, lambda shelf: self._fold(shelf, request), may_wait=False)
            except BusyError:
                self._crowded.add(name)
            else:
                return done.answer, done.receipt
        # Many writers: the request is placed, and the next holder of the space carries it out with all others.
        token = mail.new_mark()
        signed = {**request, "by": self._who.name()}
        is_sent = False

        def place(connection: Connection) -> None:
            nonlocal is_sent
            is_sent = True
            mail.place(connection, name, token, signed)

        work = partial(self._answered, space=name, token=token)
        answers: Mapping[UUID, Json] = {}
        try:
            while token not in answers:  # a holder answers at most 64 requests at once
                answers = self._transact(name, work, f"write space {name!r}", place).answers
        except MemcliError as error:
            if not is_sent:
                raise
            return mail.read(self._take_back(name, token, error))
        except KeyboardInterrupt:
            if is_sent:  # else the next writer would still carry out the request
                with suppress(MemcliError):
                    self._take_back(name, token, StoreError("interrupted"))
            raise
        return mail.read(answers[token])

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        name = check_space(space)
        found: list[Space] = []

        def work(connection: Connection) -> WriteResult:
            # A transaction may be repeated.
            found.clear()
            held = hold(connection, name, may_wait=True)
            if held.is_new:
                raise NotFoundError(f"no space {name!r}", "`memcli space list` lists the spaces")
            before = held.shelf.load()
            check(before)
            found.append(before)
            receipt = Receipt(tuple(Touched(m.id, m.path, memory_digest(m), "") for m in before.objects))
            act = act_of(receipt, before.policy, None)
            going = self._put_away(connection, held, Going(before), is_whole=True)
            audit.append(connection, name, self._who.entries(name, [act], going), held.mark, held.last)
            # A large space takes longer to delete than a server may be silent.
            with unhurried(connection):
                remove(connection, name)
            return WriteResult(receipt, going=going, mark=held.mark, is_purge=True)

        self._transact(name, work, f"delete space {name!r}")
        return found[0]

    def _answered(self, connection: Connection, *, space: str, token: UUID) -> WriteResult:
        """Waits for the answer to a request; if this transaction becomes the holder of the space, carries out all requests."""
        answer = mail.wait(connection, space, token)
        if answer is not None:
            return WriteResult(answers={token: answer})
        done = self._make(connection, space=space, request=None, plan=lambda _: (Change(), None), token=token)
        if len(done.answers) == 1:  # nobody else waited
            self._crowded.discard(space)
        return done

    def _take_back(self, space: str, token: UUID, error: MemcliError) -> Json:
        """Withdraws a request that failed with `error`, and raises that; returns the answer if there is one nevertheless.

        Raises StoreError if it cannot be found out whether the request was carried out.
        """
        try:
            with self._server.connected("take back a request") as connection:
                answer = mail.take_back(connection, space, token)
        except (MemcliError, psycopg.Error):
            raise StoreError(
                f"cannot tell whether space {space!r} has the change: {error.message}",
                "check with `memcli recall`; storing the same text again is safe",
            ) from None
        if answer is None:
            raise error
        return answer

    def _write(self, space: str, request: Json, plan: PlanChange, *, may_wait: bool) -> WriteResult:
        work = partial(self._make, space=space, request=request, plan=plan, may_wait=may_wait)
        return self._transact(space, work, f"write space {space!r}")

    def _make(
        self,
        connection: Connection,
        *,
        space: str,
        request: Json,
        plan: PlanChange,
        may_wait: bool = True,
        token: UUID | None = None,
    ) -> WriteResult:
        """Makes the change of `plan`, and those of waiting requests, in the transaction of the connection.

        `request` is the one that `plan` carries out, for reading ahead. `token`: that of this writer's own request, if it is
        among the waiting ones.
        """
        held = hold(connection, space, may_wait=may_wait)
        waiting = held.waiting
        ids, paths, hashes = mail.wanted_by(space, [request, *(one for _, one in waiting)])
        held.shelf.prefetch(ids, paths, hashes)
        with self._trash.looking(connection, space, list(ids)):
            draft = Draft(held.shelf)
            acts: list[Act | None] = []
            answers = {token: fold_request(self._fold, draft, one, acts) for token, one in waiting}
            policy = draft.header.policy
            own, answer = plan(draft)
        if own.purge or own.erase:
            check_admin(connection, space)
        # Their lengths are needed for the size of the space after the write.
        held.shelf.prefetch([*own.drop, *(memory.id for memory in own.put)])
        receipt = receipt_of(draft, own)
        acts.append(act_of(receipt, policy, draft.header.policy, change=own))
        whole = draft.change()
        if not whole and not answers:
            return WriteResult(receipt, answer)
        going = Going(held.shelf.header)
        if whole:
            _check(held, draft)
            going = self._put_away(connection, held, draft.going(), is_whole=False)
            audit.append(connection, space, self._who.entries(space, acts, going), held.mark, held.last)
            put(connection, held, whole, draft)
        mail.answer(connection, space, answers, token)
        receipt = replace(receipt, run=going.run, touched=without_erased(receipt.touched, going))
        return WriteResult(receipt, answer, going, held.mark, answers, own.purge or own.erase)

    def _put_away(self, connection: Connection, held: LockedSpace, going: Going, *, is_whole: bool) -> Going:
        """Stores removed memories in the trash, and erases those that are gone for good from the trash and the log."""
        going = parted(going, self._in_force(going.trashed.policy).grace_days)
        if needs_trash(going, is_whole=is_whole):
            going = replace(going, run=trash.keep(connection, going, self._who.clock(), self._who.command))
        if going.erased:
            hashes = {memory.id: memory.hash for memory in going.erased}
            also = trash.erase(connection, held.space, hashes)
            audit.erase(connection, held.space, {*hashes, *(memory.id for memory in also)})
        return going

    def _transact(
        self,
        space: str,
        work: Callable[[Connection], WriteResult],
        what: str,
        first: Callable[[Connection], None] = lambda _: None,
    ) -> WriteResult:
        """Runs `work` in one transaction (see `Server.transact`); after the commit, erases traces and reports the trash. Raises
        StoreError, also if traces are left."""

        def is_done(connection: Connection, done: WriteResult) -> bool:
            return done.mark is None or is_marked(connection, space, done.mark)

        done = self._server.transact(work, is_done, what, first)
        # Files only after the commit: a transaction that was rolled back could not restore them.
        going = done.going
        if going is None:
            return done
        if going.erased:
            try:
                self._erase_traces(space, {memory.id for memory in going.erased})
            except MemcliError as error:
                raise StoreError(
                    f"it was removed from space {space!r}, but traces of it are left on this machine: {error.message}",
                    "`memcli store index rebuild` removes what an index has of it",
                ) from None
            if done.is_purge:
                rewrite(self._server, space, self._warn)
        if going.run:
            self._warn(trash_note(going, self._in_force(going.trashed.policy).grace_days))
        return done


def _check(held: LockedSpace, draft: Draft) -> None:
    """Raises CorruptError for a space of a newer format, RefusedError for a policy that keeps the space on one machine."""
    for header in (replace(held.shelf.header, policy=draft.header.policy), draft.header):
        check_writable(header, where_of(held.space))
    if not draft.header.policy.is_tracked:
        raise RefusedError(
            f"space {held.space!r} is on a server, and cannot be {draft.header.policy.visibility}",
            "keep what is for you alone in the user-wide store: `--store global`",
        )
