"""One version of a space as the bytes of its file: of an open file, or of a commit."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from memcli.codec.space import (
    INDENT,
    SpaceForm,
    Span,
    decode_form,
    decode_header,
    decode_item,
    decode_space,
    encode_item,
    encode_space,
    header_ends,
    may_have,
    new_space,
    spans,
)
from memcli.errors import CorruptError, MemcliError, StoreError, hint_of
from memcli.model.memory import Memory, vetted
from memcli.model.names import check_space, show
from memcli.model.space import Policy, Space
from memcli.record import Record, replace
from memcli.store.atomic import fingerprint_of, open_own, read_at
from memcli.store.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from memcli.codec.window import ByteWindow


_UNREAD: list[Span] = []  # recognized by identity, since None means that the file is not canonical
_FRAME_BYTES = 1 << 15
_BETWEEN = len(b"," + INDENT)


class ByteSnapshot:
    """A space decoded from bytes that do not change: `data`, or those of an open file. See `ports.Snapshot` for the promises.

    `fingerprint` is empty if there is no such space; `where` names it in messages.
    """

    def __init__(self, space: str, fingerprint: str, where: str, data: bytes | None = None) -> None:
        self.space = space
        self.fingerprint = fingerprint
        self._where = where
        self._data = data
        self._found: list[Span] | None = _UNREAD
        self._form: SpaceForm | None = None

    def read(self) -> bytes:
        """All bytes of the file."""
        return self._data or b""

    def view(self) -> bytes | ByteWindow:
        """The bytes of the file, or a window that reads them lazily."""
        return self.read()

    def part(self, start: int, length: int) -> bytes:
        """The `length` bytes from offset `start`."""
        return self.read()[start : start + length]

    def close(self) -> None:
        self._data = None

    def is_before(self, time: int) -> bool:  # noqa: ARG002 - what is read from a commit never changes
        return False

    def load(self) -> Space:
        if not self.fingerprint:
            return new_space(self.space)
        found = self._spans() or ()
        if bool(found) and all(start - end == _BETWEEN for (_, end), (start, _) in pairwise(found)):
            with suppress(MemcliError):  # decoding the whole file below reports where it is damaged
                return replace(self.header(), objects=tuple(sorted(self._decoded(), key=lambda memory: memory.order)))
        return self._named(decode_space(self.read(), self._where))

    def header(self) -> Space:
        if not self.fingerprint:
            return new_space(self.space)
        frame = self._frame()
        return self.load() if frame is None else self._named(decode_header(*frame, self._where))

    def decode(self, data: bytes) -> Memory:
        return decode_item(data, self.form(), self._where)

    def form(self) -> SpaceForm:
        """The form in which `records` yields memories: that of the file, or the present one if the file is not canonical. Raises
        CorruptError."""
        if self._form is None:
            frame = self._frame()
            self._form = decode_form(*frame, self._where) if frame else SpaceForm(self.space)
        return self._form

    def records(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[tuple[bytes, int]]:
        if not self.fingerprint:
            return
        if places is not None:
            for start, length in places:
                yield self.part(start, length), start
            return
        found = self._spans()
        if found is None:
            for memory in self.load().objects:
                yield encode_item(memory, self.form()), -1
            return
        data = self.view()
        for start, end in found:
            yield data[start:end], start

    def memories(self, *keys: str) -> Iterator[Memory]:
        try:
            yield from self._decoded(*keys)
        except CorruptError:
            self.load()  # its error has the line of the damage
            raise

    def fetch(
        self, places: Sequence[tuple[str, int, int]], are_vetted: Callable[[str, bytes], bool] | None = None
    ) -> list[Memory]:
        memories: list[Memory] = []
        by_id: dict[str, Memory] | None = None
        for name, start, length in places:
            memory = None
            if self.fingerprint and start >= 0 and length > 0:
                data = self.part(start, length)
                with suppress(MemcliError):
                    memory = decode_item(data, self.form(), self._where)
                    if are_vetted is not None and memory.id == name and are_vetted(name, data):
                        vetted(memory)
            if memory is None or memory.id != name:
                # The file is not canonical, or the index is out of date: the memory is found in the whole file.
                by_id = by_id or {m.id: m for m in self.load().objects}
                if name not in by_id:
                    raise CorruptError(f"{self._where}: memory {name} is missing", "run `memcli store index rebuild`")
                memory = by_id[name]
            memories.append(memory)
        return memories

    def _named(self, space: Space) -> Space:
        if space.name != self.space:
            raise CorruptError(
                f"{self._where} contains space {show(space.name)}",
                f'set "space" to "{self.space}" in it, as `memcli check store --repair` does',
            )
        return space

    def _spans(self) -> list[Span] | None:
        if self._found is _UNREAD:
            self._found = spans(self.view())
        return self._found

    def _decoded(self, *keys: str) -> Iterator[Memory]:
        for data, _ in self.records():
            if may_have(data, keys):
                yield self.decode(data)

    def _frame(self) -> tuple[bytes, bytes] | None:
        """The bytes before the first memory and after the last; None if the file is not canonical."""
        found = self._spans()
        if found is None:
            return None
        data = self.view()
        ends = (found[0][0], found[-1][1]) if found else (len(data), len(data))
        return data[: ends[0]], data[ends[1] :]


class FileSnapshot(ByteSnapshot):
    """A space file that is held open, so that a rename over it does not change the snapshot."""

    def __init__(self, space: str, path: str) -> None:
        self._path = path
        self._fd: int | None = None
        try:
            self._fd = open_own(path, os.O_RDONLY)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _cannot_read(path, error) from None
        fingerprint = "" if self._fd is None else fingerprint_of(os.fstat(self._fd))
        super().__init__(space, fingerprint, os.path.join("spaces", os.path.basename(path)))

    def is_before(self, time: int) -> bool:
        # A reader of the file from before an erasure must not put what was erased into an index again.
        if self._fd is None or os.fstat(self._fd).st_mtime_ns >= time:
            return False
        try:
            return fingerprint_of(os.stat(self._path, follow_symlinks=False)) != self.fingerprint
        except OSError:
            return True

    def _frame(self) -> tuple[bytes, bytes] | None:
        """As the base class; of a large file, only the first and last 32 KiB are read."""
        size = 0 if self._fd is None else os.fstat(self._fd).st_size
        if size > 2 * _FRAME_BYTES:
            ends = header_ends(self.part(0, _FRAME_BYTES), self.part(size - _FRAME_BYTES, _FRAME_BYTES))
            if ends is not None:
                return ends
        return super()._frame()

    def view(self) -> bytes | ByteWindow:
        # A small file is read at once: many lookups by windows cost more. A large one would take 210 MB for 100,000 memories.
        if self._data is None and self._fd is not None and (size := os.fstat(self._fd).st_size) <= 2 * _FRAME_BYTES:
            self._data = self._exactly(0, size)
        return self.window() if self._data is None else self._data

    def window(self) -> ByteWindow:
        """The bytes of the file, read lazily while the snapshot is open."""
        from memcli.codec.window import ByteWindow

        assert self._fd is not None
        return ByteWindow(self._exactly, os.fstat(self._fd).st_size)

    def is_canonical(self) -> bool:
        """Whether the file is byte for byte as memcli would write it. Raises CorruptError for a file of another space."""
        from memcli.codec.space import OddError, as_written, framed

        parts = framed(self.window(), self._where)
        if parts is None or parts[1] != encode_space(self.header()):
            return False
        try:
            return all(memory.id for memory in as_written(parts[2], self._where))
        except (OddError, CorruptError):
            return False

    def check_unchanged(self) -> None:
        """Raises OSError if the file was changed in place since it was opened."""
        if self._fd is not None and fingerprint_of(os.fstat(self._fd)) != self.fingerprint:
            raise OSError(errno.EBUSY, "it changed while it was being read")

    def _exactly(self, start: int, length: int) -> bytes:
        data = self.part(start, length)
        # One read may return less than it was asked for.
        while 0 < len(data) < length and (more := self.part(start + len(data), length - len(data))):
            data += more
        if len(data) < length:
            raise CorruptError(f"{self._where} changed while it was being read", "run the command again")
        return data

    def read(self) -> bytes:
        if self._data is None:
            assert self._fd is not None
            size = os.fstat(self._fd).st_size
            parts, offset = [], 0
            while offset < size:
                part = self.part(offset, size - offset)
                if not part:
                    break
                parts.append(part)
                offset += len(part)
            self._data = b"".join(parts)
        return self._data

    def part(self, start: int, length: int) -> bytes:
        assert self._fd is not None
        try:
            return read_at(self._fd, length, start)
        except OSError as error:
            raise _cannot_read(self._path, error) from None

    def close(self) -> None:
        if self._fd is not None:
            with suppress(OSError):  # nothing was written, so nothing can be lost
                os.close(self._fd)
            self._fd = None


def _cannot_read(path: str, error: OSError) -> StoreError:
    is_link = os.path.islink(path)
    hint = "space files may not be symbolic links" if is_link else hint_of(error, "check its permissions")
    return StoreError(f"cannot read {path}: {error.strerror}", hint)


class RevisionStore(Record):
    """The spaces of one commit. `files` maps the names in its `spaces` folder to the hashes of their blobs; `read` returns the
    bytes of a blob.
    """

    commit: str
    _files: Mapping[str, str]
    _read: Callable[[str], bytes]

    def spaces(self) -> list[str]:
        return sorted(n.removesuffix(".json") for n in self._files if n.endswith(".json") and not n.startswith("."))

    def open(self, space: str) -> ByteSnapshot:
        name = f"{check_space(space)}.json"
        blob = self._files.get(name, "")
        return ByteSnapshot(space, blob, f"{self.commit[:10]}:spaces/{name}", self._read(blob) if blob else b"")

    def policy(self, space: str) -> Policy:
        return self.open(space).header().policy

    def update(self, *_: object) -> NoReturn:
        raise StoreError(f"cannot change the store as of commit {self.commit[:10]}", "omit --rev")

    submit = delete = update


def open_revision(layout: Layout, revision: str, warn: Callable[[str], None]) -> RevisionStore:
    """The store as of the commit that `revision` names. Raises UsageError, NotFoundError, ProviderError."""
    from memcli.git.revisions import open_history

    history = open_history(layout.spaces)
    commit = history.repository.resolve(revision)
    files = history.files(commit)
    if not files:
        warn(f"commit {commit[:10]} has no memories in {history.folder}")
    return RevisionStore(commit, files, history.read)
