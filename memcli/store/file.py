"""Spaces as files: one canonical JSON file each, replaced whole, under a lock of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import cached_property

from memcli.beneath import unlink
from memcli.codec.space import VERSION, check_writable, encode_space, memory_digest, new_space
from memcli.errors import LockedError, NotFoundError, StoreError
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.space import Change, Policy, Receipt, Space, Touched
from memcli.record import replace
from memcli.settings import is_beside, is_journal
from memcli.store.atomic import append_line, fingerprint_of, make_folder, remove_file, write_file
from memcli.store.layout import Layout, identity
from memcli.store.lock import WAIT_SECONDS, HeldLock, locked
from memcli.store.snapshot import FileSnapshot

TYPE_CHECKING = False
if TYPE_CHECKING:  # what only a write needs is imported there
    from memcli.codec.splice import SpliceShelf
    from memcli.codec.window import Piece
    from memcli.policy.acts import Act
    from memcli.ports import Fold, Shelf
    from memcli.store.journal import Journal, Mail
    from memcli.store.pending import Bookkeeping

_MOST_MOVES = 1 << 16  # bytes of notes of moves: without an index that reads them they would grow for ever


class FileStore:
    """The store under one `.memory` folder."""

    def __init__(
        self,
        layout: Layout,
        fold: Fold,
        wait: float = WAIT_SECONDS,
        *,
        is_local: bool = False,
        open_books: Callable[[], Bookkeeping] | None = None,
        is_accepted: Callable[[], bool] = lambda: True,
    ) -> None:
        """`wait`: seconds to wait for a lock. `is_local`: only this user may read the files. `open_books` opens the bookkeeping
        around every write. Unless the store `is_accepted`, a policy that is not valid stops no write.
        """
        self._layout = layout
        self._root = identity(layout.root)
        self._fold = fold
        self._wait = wait
        self._open_books = open_books
        self._is_accepted = is_accepted
        self._mode, self._folder_mode = (0o600, 0o700) if is_local else (0o644, 0o755)

    @cached_property
    def _books(self) -> Bookkeeping | None:
        return self._open_books() if self._open_books else None

    def spaces(self) -> list[str]:
        try:
            names = self._layout.space_names()
        except OSError as error:
            raise StoreError(f"cannot read {self._layout.spaces}: {error.strerror}", "check its permissions") from None
        return sorted(n.removesuffix(".json") for n in names if n.endswith(".json") and not n.startswith("."))

    def open(self, space: str) -> FileSnapshot:
        snapshot = FileSnapshot(space, self._layout.space(check_space(space)))
        if not snapshot.fingerprint and self._open_books and not is_beside(space):
            from memcli.store.absent import check_present

            check_present(self._layout.root, space)
        return snapshot

    def policy(self, space: str) -> Policy:
        with closing(self.open(space)) as snapshot:
            return snapshot.header().policy

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        with self._locked(space) as held:
            assert held is not None
            return self._commit(space, held, change)[1]

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        from memcli.cancel import check_cancelled
        from memcli.store.journal import read_answer

        mail: Mail | None = None
        journal, books = self._journal(space), self._books

        def answered() -> bool:
            nonlocal mail
            check_cancelled()  # what the caller has cancelled meanwhile must not be carried out
            # Called only while another process holds the lock: a writer that is alone places no request.
            mail = mail or journal.place({**request, "by": books.log().who.name()} if books else request)
            return mail.answered()

        try:
            with self._locked(space, answered) as held:
                if held is not None and (mail is None or (not mail.answered() and mail.take_back())):
                    return self._commit(space, held, request=request)
                if held is not None and mail is not None and not mail.answered():
                    self._commit(space, held, lambda _: Change())  # the process that took the request died
            assert mail is not None
            try:
                data = mail.answer()
            except OSError as error:
                raise _cannot_tell(
                    space, f"cannot read the answer of the process that wrote it: {error.strerror}"
                ) from None
            return read_answer(data)
        except LockedError:
            if mail is None or mail.take_back():
                raise
            raise _cannot_tell(space, "the process that was writing it did not answer") from None
        finally:
            # After Ctrl-C too, or the next writer would carry the request out.
            if mail is not None:
                mail.take_back()
                mail.close()

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        from memcli.model.links import Going
        from memcli.policy.acts import act_of

        path, books = self._layout.space(check_space(space)), self._books
        with self._locked(space):
            with closing(self.open(space)) as snapshot:
                before = snapshot.load()
                if not snapshot.fingerprint:
                    raise NotFoundError(f"no space {space!r}", "`memcli space list` lists the spaces")
            check(before)
            if books:
                # By the memories that still exist: what a killed writer did not come to remove must not be erased.
                books.settle(space, snapshot.fingerprint, {memory.id: memory for memory in before.objects}.get)
                books.log().check(space)
            touched = tuple(Touched(m.id, m.path, memory_digest(m), "") for m in before.objects)
            act = act_of(Receipt(touched), before.policy, None)
            with books.removing(Going(before), None) if books else nullcontext(Going(before)) as going:
                if books:
                    books.begin(space, books.log().who.entries(space, [act], going), snapshot.fingerprint, "")
                remove_file(path)
            if books:
                books.finish(space)
            return before

    def _commit(
        self, space: str, held: HeldLock, change: Callable[[Shelf], Change] | None = None, request: Json = None
    ) -> tuple[Json, Receipt]:
        """Makes the `change`, or that of the `request`, and those of all requests in the journal, in one write of the file.
        Returns the answer to the request, and the receipt. The caller holds the lock of the space."""
        from memcli.cancel import check_cancelled
        from memcli.policy.acts import act_of, receipt_of, without_erased
        from memcli.policy.draft import Draft
        from memcli.store.journal import fold_request

        check_cancelled()
        books = self._books
        with closing(self.open(space)) as snapshot:
            shelf, fingerprint = self._shelf(snapshot, held.note()), snapshot.fingerprint
            journal = self._journal(space)
            draft = Draft(shelf)
            if books:
                books.settle(space, fingerprint, shelf.get)
            acts: list[Act | None] = []
            answers = {name: fold_request(self._fold, draft, one, acts) for name, one in journal.take(fingerprint)}
            policy = draft.header.policy
            own, answer = self._fold(draft, request) if change is None else (change(draft), None)
            receipt = receipt_of(draft, own)
            acts.append(act_of(receipt, policy, draft.header.policy, change=own))
            whole = draft.change()
            if whole:
                # The version of the stored header counts too; of its policy only what this write leaves, so that a wrong
                # field can be corrected.
                for header in (replace(shelf.header, policy=draft.header.policy), draft.header):
                    check_writable(header, _where(space), self._is_accepted)
                # A deletion that cannot be recorded is refused; what was only added or changed is recorded later.
                if books and any(act and act.must_be_recorded for act in acts):
                    books.log().check(space)
                leaving = draft.going()
                with books.removing(leaving, draft.header) if books else nullcontext(leaving) as going:
                    entries = books.log().who.entries(space, acts, going) if books else []

                    def before_rename(new: os.stat_result) -> None:
                        # The new file was copied through a window on the old one, which an editor may have changed in place.
                        snapshot.check_unchanged()
                        # Answers and acts are recorded before the rename, so that after a crash the next writer finds them.
                        if answers:
                            journal.promise(fingerprint_of(new), answers)
                        if books:
                            books.begin(space, entries, fingerprint, fingerprint_of(new))

                    pieces = shelf.spliced(whole)
                    path = self._layout.space(space)
                    mode = 0o600 if is_journal(space) else self._mode
                    status = write_file(
                        path, pieces, mode, alone=True, temporary=self._layout.temporary, before_rename=before_rename
                    )
                self._note_moves(space, fingerprint, fingerprint_of(status), pieces)
                if books:
                    books.finish(space)
                receipt = replace(receipt, run=going.run, touched=without_erased(receipt.touched, going))
                held.leave(fingerprint_of(status))
            journal.answer(answers)
            return answer, receipt

    def _note_moves(self, space: str, before: str, after: str, pieces: Sequence[Piece]) -> None:
        """Records for the index which parts of the file only moved. An index without this note reads the whole file."""
        index = self._layout.index(space)
        if not os.path.exists(index):
            return
        path = f"{index.removesuffix('.index')}.moves"
        from memcli.codec.window import encode_step, step_of

        step = step_of(before, after, pieces)
        if step is None:
            return
        with suppress(OSError):
            if os.path.exists(path) and os.path.getsize(path) > _MOST_MOVES:
                unlink(path)  # not emptied, since another name may lead to the file
            append_line(path, encode_step(step))

    def _shelf(self, snapshot: FileSnapshot, canonical: str) -> SpliceShelf:
        """The space to be changed: a window on its file if that is canonical, else its decoded contents."""
        from memcli.codec.splice import SpliceShelf

        where = _where(snapshot.space)
        if not snapshot.fingerprint:
            return SpliceShelf(encode_space(new_space(snapshot.space)), where)
        # The lock file has the fingerprint of the last file that memcli wrote; only another one is checked byte by byte. The
        # writer may have been an older memcli, whose file is canonical in the form of an older version.
        is_known = snapshot.fingerprint == canonical and snapshot.form().version >= VERSION
        if not is_known and not snapshot.is_canonical():
            return SpliceShelf(encode_space(snapshot.load()), where)
        return SpliceShelf(snapshot.window(), where)

    def _journal(self, space: str) -> Journal:
        from memcli.store.journal import Journal

        folder = self._layout.beside(space, os.path.join("journal", space))
        return Journal(folder, self._layout.private("quarantine"))

    def _locked(self, space: str, unless: Callable[[], bool] | None = None) -> AbstractContextManager[HeldLock | None]:
        path = self._layout.lock(check_space(space))
        if self._root not in (None, identity(self._layout.root)):
            # Background work outlives commands: it must not write into another store that took the place of its own.
            raise StoreError(f"the store at {self._layout.root} was removed or replaced", "run the command again")
        make_folder(os.path.dirname(self._layout.space(space)), 0o700 if is_journal(space) else self._folder_mode)
        make_folder(os.path.dirname(path))
        return locked(path, f"space {space!r}", self._wait, unless)


def _where(space: str) -> str:
    """The name of a space file in messages."""
    return os.path.join("spaces", f"{space}.json")


def _cannot_tell(space: str, why: str) -> StoreError:
    return StoreError(
        f"cannot tell whether space {space!r} has the change: {why}",
        "check with `memcli recall`; storing the same text again is safe",
    )
