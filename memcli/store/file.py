"""Spaces as files: one canonical JSON file each, replaced whole, under a lock of its own."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from memcli.codec.canonical import decode
from memcli.codec.memory import memory_from_json
from memcli.codec.space import (
    Span,
    check_writable,
    decode_header,
    decode_space,
    encode_memory,
    encode_space,
    memory_digest,
    spans,
)
from memcli.codec.splice import SpliceShelf
from memcli.errors import CorruptError, LockedError, MemcliError, NotFoundError, StoreError, error_of
from memcli.model.memory import Json, Memory
from memcli.model.names import check_space
from memcli.model.space import Change, Receipt, Space, Touched
from memcli.policy.draft import Draft
from memcli.ports import Fold, Shelf
from memcli.store.atomic import make_folder, remove_file, write_file
from memcli.store.journal import Journal, Mail
from memcli.store.layout import Layout
from memcli.store.lock import Held, locked

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of a file must not make anybody wait
_UNREAD: list[Span] = []


class FileSnapshot:
    """A space file, held open: a rename over it changes nothing of what is read here."""

    def __init__(self, space: str, path: str) -> None:
        self._space = space
        self._path = path
        self._data: bytes | None = None
        self._found: list[Span] | None = _UNREAD
        self._fd = _open(path)
        self.fingerprint = "" if self._fd is None else fingerprint_of(os.fstat(self._fd))

    @property
    def space(self) -> str:
        return self._space

    def load(self) -> Space:
        if self._fd is None:
            return Space(self._space)
        return self._named(decode_space(self.read(), self._where))

    def header(self) -> Space:
        if self._fd is None:
            return Space(self._space)
        found = self._spans()
        if found is None:
            return self.load()
        data = self.read()
        ends = (found[0].start, found[-1].end) if found else (len(data), len(data))
        return self._named(decode_header(data[: ends[0]], data[ends[1] :], self._where))

    def records(self) -> Iterator[tuple[bytes, int]]:
        if self._fd is None:
            return
        found = self._spans()
        if found is None:
            for memory in self.load().objects:
                yield encode_memory(memory), -1
            return
        data = self.read()
        for span in found:
            yield data[span.start : span.end], span.start

    def fetch(self, places: Sequence[tuple[str, int, int]]) -> list[Memory]:
        memories: list[Memory] = []
        by_id: dict[str, Memory] | None = None
        for name, start, length in places:
            memory = self._at(name, start, length) if start >= 0 else None
            if memory is None:
                # The file is not canonical, or the place is wrong: the file decides, whatever it costs.
                by_id = by_id or {m.id: m for m in self.load().objects}
                if name not in by_id:
                    raise CorruptError(f"{self._where}: memory {name} is not there", "run `memcli index rebuild`")
                memory = by_id[name]
            memories.append(memory)
        return memories

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @property
    def _where(self) -> str:
        return os.path.join("spaces", os.path.basename(self._path))

    def _named(self, space: Space) -> Space:
        if space.name != self._space:
            raise CorruptError(
                f"{self._where}: holds space {space.name!r}",
                f"rename the file to {space.name}.json, or mend the name in it",
            )
        return space

    def _spans(self) -> list[Span] | None:
        if self._found is _UNREAD:
            self._found = spans(self.read())
        return self._found

    def read(self) -> bytes:
        """The bytes of the file, all of them."""
        if self._data is None:
            assert self._fd is not None
            size = os.fstat(self._fd).st_size
            parts, offset = [], 0
            while offset < size:
                part = os.pread(self._fd, size - offset, offset)
                if not part:
                    break
                parts.append(part)
                offset += len(part)
            self._data = b"".join(parts)
        return self._data

    def _at(self, name: str, start: int, length: int) -> Memory | None:
        if self._fd is None:
            return None
        data = os.pread(self._fd, length, start)
        try:
            tree = decode(data, self._where)
            memory = memory_from_json(tree, self._where) if isinstance(tree, dict) else None
        except MemcliError:
            return None
        return memory if memory is not None and memory.id == name else None


class FileStore:
    """The store under one `.memory` folder."""

    def __init__(
        self,
        layout: Layout,
        fold: Fold,
        guard: Callable[[Space, Space | None], AbstractContextManager[str]] = lambda *_: nullcontext(""),
    ) -> None:
        """`guard` stands around every write: see `store/guard.py`."""
        self._layout = layout
        self._fold = fold
        self._guard = guard

    def spaces(self) -> list[str]:
        try:
            names = os.listdir(self._layout.spaces)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"cannot read {self._layout.spaces}: {error.strerror}", "check its permissions") from None
        return sorted(n.removesuffix(".json") for n in names if n.endswith(".json") and not n.startswith("."))

    def open(self, space: str) -> FileSnapshot:
        return FileSnapshot(space, self._layout.space(check_space(space)))

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        with self._locked(space) as held:
            assert held is not None
            return self._commit(space, held, change)

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        answer: Json = None
        mail: Mail | None = None
        journal = self._journal(space)

        def answered() -> bool:
            nonlocal mail
            mail = mail or journal.place(request)
            return mail.answered()

        def change(draft: Shelf) -> Change:
            nonlocal answer
            wanted, answer = self._fold(draft, request)
            return wanted

        try:
            with self._locked(space, answered) as held:
                if held is not None and (mail is None or (not mail.answered() and mail.take_back())):
                    receipt = self._commit(space, held, change)
                    return answer, receipt
                if held is not None and mail is not None and not mail.answered():
                    self._commit(space, held, lambda _: Change())  # who had taken the request has died
            assert mail is not None
            return _read_answer(mail.answer())
        except LockedError:
            if mail is None or mail.take_back():
                raise
            raise StoreError(
                f"whether space {space!r} has the change is unknown: who was at it gave no answer",
                "`memcli recall` shows whether it is there; the same text again does no harm",
            ) from None
        finally:
            if mail is not None:
                mail.take_back()
                mail.close()

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        path = self._layout.space(check_space(space))
        with self._locked(space):
            snapshot = self.open(space)
            try:
                before = snapshot.load()
                if not snapshot.fingerprint:
                    raise NotFoundError(f"no space {space!r}", "`memcli space list` shows what there is")
            finally:
                snapshot.close()
            check(before)
            with self._guard(before, None):
                remove_file(path)
            return before

    def _commit(self, space: str, held: Held, change: Callable[[Shelf], Change]) -> Receipt:
        """Makes the change, and all that the journal asks for, in one write. The lock is held."""
        shelf, fingerprint = self._shelf(space, held.note())
        journal = self._journal(space)
        draft = Draft(shelf)
        answers = {waiting.name: self._answer(draft, waiting.request) for waiting in journal.take(fingerprint)}
        receipt = _receipt(draft, change(draft))
        whole = draft.change()
        if whole:
            check_writable(shelf.header, self._where(space))
            with self._guard(replace(shelf.header, objects=draft.gone), draft.header) as run:
                status = write_file(
                    self._layout.space(space),
                    shelf.spliced(whole),
                    alone=True,
                    before_rename=lambda new: journal.promise(fingerprint_of(new), answers) if answers else None,
                )
            receipt = replace(receipt, run=run)
            held.leave(fingerprint_of(status))
        journal.answer(answers)
        return receipt

    def _answer(self, draft: Draft, request: Json) -> Json:
        """What becomes of a request of another writer."""
        try:
            wanted, answer = self._fold(Draft(draft), request)
        except MemcliError as error:
            return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        except (KeyError, TypeError, ValueError) as error:
            hint = "run the command again; both must be the same version of memcli"
            return {"error": {"code": "internal", "message": f"a request made no sense: {error!r}", "hint": hint}}
        receipt = _receipt(draft, wanted)
        touched = [[t.id, t.path, t.before, t.after] for t in receipt.touched]
        return {"answer": answer, "touched": touched, "header_changed": receipt.header_changed}

    def _shelf(self, space: str, canonical: str) -> tuple[SpliceShelf, str]:
        """The space as it is, and its fingerprint. A file other than the one last written here is read whole."""
        snapshot = self.open(space)
        try:
            if not snapshot.fingerprint:
                return SpliceShelf(encode_space(Space(space)), self._where(space)), ""
            known = snapshot.fingerprint == canonical
            data = snapshot.read() if known else encode_space(snapshot.load())
            return SpliceShelf(data, self._where(space)), snapshot.fingerprint
        finally:
            snapshot.close()

    def _journal(self, space: str) -> Journal:
        return Journal(self._layout.local(os.path.join("journal", space)), self._layout.local("quarantine"))

    def _where(self, space: str) -> str:
        return os.path.join("spaces", f"{space}.json")

    def _locked(self, space: str, unless: Callable[[], bool] | None = None) -> AbstractContextManager[Held | None]:
        path = self._layout.lock(check_space(space))
        make_folder(self._layout.spaces)
        make_folder(os.path.dirname(path))
        return locked(path, f"space {space!r}", unless=unless)


def _receipt(draft: Draft, change: Change) -> Receipt:
    """Lays the change over the draft, and says what it did."""
    touched = tuple(
        Touched(memory.id, memory.path, _digest(before), _digest(after))
        for before, after in draft.take(change)
        if (memory := after or before) is not None
    )
    return Receipt(touched, change.header is not None)


def _digest(memory: Memory | None) -> str:
    return "" if memory is None else memory_digest(memory)


def _read_answer(data: Mapping[str, Json]) -> tuple[Json, Receipt]:
    if "error" in data:
        raise error_of(**data["error"])
    return data["answer"], Receipt(tuple(Touched(*one) for one in data["touched"]), data["header_changed"])


def _open(path: str) -> int | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NOFOLLOW | _BINARY | _NONBLOCK)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "it is not a regular file")
        return fd
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "space files may not be symbolic links" if os.path.islink(path) else "check its permissions"
        raise StoreError(f"cannot read {path}: {error.strerror}", hint) from None


def fingerprint_of(status: os.stat_result) -> str:
    """Equal for equal files, different after any change."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
