"""The journal of a space: requests of writers that wait while another process holds the lock.

Each request is a small file. The process that gets the lock takes them all, makes their changes together with its own in
one write, and appends the answer to each file, which the waiting writer has open. A writer returns when its change is in
the space file, not when its request is here; so the journal need not survive a power cut. The next command that writes
carries out the requests that a crash left.

    <n>.request   placed by a writer, which may still withdraw it
    <n>.taken     the holder of the lock works on it
    fold          the answers to all taken requests, valid once the space file has the fingerprint in it
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress

from memcli.beneath import replace
from memcli.codec.canonical import decode_object, encode_line
from memcli.errors import MemcliError, StoreError, error_of
from memcli.model.memory import Json
from memcli.model.space import Receipt, Touched
from memcli.policy.acts import act_of, receipt_of
from memcli.policy.draft import Draft
from memcli.record import Record
from memcli.store.atomic import (
    TEMP_MARK,
    append_line,
    make_folder,
    move_file,
    place_file,
    read_at,
    read_regular,
    remove_quietly,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.policy.acts import Act
    from memcli.ports import Fold

_REQUEST, _TAKEN, _FOLD = ".request", ".taken", "fold"
_MAX_BYTES = 1 << 30
_ATTEMPTS = 5


def fold_request(fold: Fold, draft: Draft, request: Json, acts: list[Act | None]) -> Json:
    """Applies the request of another writer to `draft`, appends its act to `acts`, and returns the answer for that writer: the
    result, or the error."""
    policy = draft.header.policy
    try:
        wanted, answer = fold(Draft(draft), request)
    except MemcliError as error:
        refusal = error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        hint = "run the command again; all processes must use the same version of memcli"
        refusal = MemcliError(f"invalid request: {error!r}", hint)
    else:
        receipt = receipt_of(draft, wanted)
        acts.append(act_of(receipt, policy, draft.header.policy, request.get("by"), wanted))
        touched = [[t.id, t.path, t.before, t.after] for t in receipt.touched]
        return {"answer": answer, "touched": touched, "header_changed": receipt.header_changed}
    return {"error": {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}}


def read_answer(data: Json) -> tuple[Json, Receipt]:
    """The result and the receipt in an answer of `fold_request`. Raises the error that it has instead."""
    if "error" in data:
        raise error_of(**data["error"])
    return data["answer"], Receipt(tuple(Touched(*one) for one in data["touched"]), data["header_changed"])


class Mail(Record):
    """A placed request, for the writer that waits for its answer: the open file, its path without suffix, and its length in
    bytes as it was placed."""

    _fd: int
    _path: str
    _length: int

    def answered(self) -> bool:
        """Whether the file has the whole answer; False for a file that cannot be read."""
        with suppress(OSError):
            size = os.fstat(self._fd).st_size
            return size > self._length and read_at(self._fd, 1, size - 1) == b"\n"
        return False

    def answer(self) -> dict[str, Any]:
        """The answer, after `answered` has returned True. Raises OSError."""
        size = os.fstat(self._fd).st_size
        return decode_object(read_at(self._fd, size - self._length, self._length), "the answer")

    def take_back(self) -> bool:
        """Withdraws the request; returns False if the holder of the lock has taken it already."""
        return remove_quietly(self._path + _REQUEST)

    def close(self) -> None:
        """Closes the file."""
        with suppress(OSError):
            os.close(self._fd)


class Journal(Record):
    """The journal in `folder`, which is created with the first request; damaged requests are moved to `quarantine`."""

    _folder: str
    _quarantine: str

    def place(self, request: Json) -> Mail:
        """Adds a request. Raises StoreError."""
        data = encode_line(request) + b"\n"
        for attempt in range(_ATTEMPTS):
            # Names sort by age, by a clock that is never set back; the holder takes the oldest first.
            name = os.path.join(self._folder, f"{time.monotonic_ns():020d}-{os.getpid()}")
            try:
                make_folder(self._folder)
                return Mail(place_file(name + _REQUEST, data), name, len(data))
            except FileNotFoundError:  # another process removed the temporary file as a leftover
                if attempt == _ATTEMPTS - 1:
                    raise StoreError(f"cannot write to {self._folder}", "run the command again") from None
            except OSError as error:
                raise StoreError(f"cannot write to {self._folder}: {error.strerror}", "nothing was changed") from None
        raise AssertionError

    def take(self, fingerprint: str) -> list[tuple[str, Json]]:
        """Takes all requests, oldest first, and returns them with their names. A request whose change the space with this
        `fingerprint` has already, because of a crash before its answer, is answered instead."""
        try:
            names = sorted(os.listdir(self._folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        for name in names:
            if name.endswith(TEMP_MARK):
                remove_quietly(os.path.join(self._folder, name))
        if _FOLD in names:
            # A crash between the write and the answers left this file. Of another fingerprint, the write never happened.
            fold = os.path.join(self._folder, _FOLD)
            with suppress(OSError, MemcliError):
                record = decode_object(read_regular(fold, _MAX_BYTES) or b"", "the fold")
                if fingerprint and record.get("fingerprint") == fingerprint:
                    self.answer(record["answers"])
            remove_quietly(fold)
        found = []
        for name in names:
            if not name.endswith((_REQUEST, _TAKEN)):
                continue
            stem = name.removesuffix(_REQUEST).removesuffix(_TAKEN)
            path = os.path.join(self._folder, stem + _TAKEN)
            try:
                if name.endswith(_REQUEST):
                    replace(os.path.join(self._folder, name), path)
                data = read_regular(path, _MAX_BYTES)
            except OSError:
                continue  # its writer withdrew it
            if data is None:
                continue  # it was answered and removed above
            lines = data.split(b"\n")
            if len(lines) > 2:  # a crash between the answer and the removal of the file
                remove_quietly(path)
                continue
            try:
                found.append((stem, decode_object(lines[0], "a request")))
            except MemcliError:
                move_file(path, self._quarantine)
        return found

    def promise(self, fingerprint: str, answers: Mapping[str, Json]) -> None:
        """Records, before the space is written, the answers that are valid once it has this fingerprint. Raises OSError."""
        record = encode_line({"fingerprint": fingerprint, "answers": dict(answers)})
        os.close(place_file(os.path.join(self._folder, _FOLD), record))

    def answer(self, answers: Mapping[str, Json]) -> None:
        """Appends its answer to each taken request, by name, and removes the request."""
        for name, answer in answers.items():
            path = os.path.join(self._folder, name + _TAKEN)
            with suppress(OSError):
                if os.path.lexists(path):
                    append_line(path, encode_line(answer))
            remove_quietly(path)
        if answers:
            remove_quietly(os.path.join(self._folder, _FOLD))
