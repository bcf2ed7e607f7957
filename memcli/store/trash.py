"""The trash: memories removed from spaces, in `trash` of the private state, one file a run, until their grace period ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import count

from memcli.clock import Clock
from memcli.codec.canonical import encode
from memcli.codec.run import decode_run, encode_run, run_bytes
from memcli.codec.space import memory_digest
from memcli.errors import CorruptError, MemcliError, StoreError, hint_of
from memcli.model.links import Run, Severed, is_run_name
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.record import replace
from memcli.store.atomic import listed, make_folder, read_regular, remove_file, write_file
from memcli.store.layout import Layout, check_no_link
from memcli.store.state import State

_MODE = 0o600
_FOLDER_MODE = 0o700


class FileTrash:
    """The trash of the store at `layout`; `command` is the name of the running command."""

    def __init__(self, layout: Layout, clock: Clock, command: str, warn: Callable[[str], None]) -> None:
        self._layout = layout
        self._folder = layout.private("trash")
        self._state = State(layout, warn)
        self._clock = clock
        self._command = command
        self._warn = warn

    def keep(self, removed: Space, severed: Sequence[Severed] = (), replacing: Sequence[Memory] = ()) -> str:
        """Stores a run: the memories of `removed`, which has the header of their space, the references to them that were cut,
        and the digests of the memories `replacing` them. Returns the name of the run, which is on disk. Raises StoreError.
        """
        replaced = {memory.id: memory_digest(memory) for memory in replacing}
        name, data = encode_run(self._clock(), self._command, removed, severed, replaced)
        check_no_link(self._folder)
        make_folder(self._folder, _FOLDER_MODE)
        names = (f"{name}-{n}" if n > 1 else name for n in count(1))  # the same may be removed twice in a second
        name = next(free for free in names if not os.path.lexists(self._path(free)))
        # Before the space is rewritten: a crash in between leaves a copy of the memories, not a loss.
        write_file(self._path(name), data, _MODE)
        return name

    def runs(self, skip: Callable[[str], None] | None = None) -> list[Run]:
        """Every run, newest first. A run that is damaged or cannot be read is left out and reported to `skip`, by default to
        `warn`. Raises StoreError."""
        found: list[Run] = []
        for name in self._names():
            try:
                found += self._load(name)
            except MemcliError as error:
                (skip or self._warn)(f"{error.message} (skipped)")
        return found

    def _names(self) -> list[str]:
        check_no_link(self._folder)
        found = (name.removesuffix(".json") for name in listed(self._folder) if name.endswith(".json"))
        return sorted(filter(is_run_name, found), key=self._age, reverse=True)

    def holds(self, space: str, name: str) -> bool:
        """Whether a run of the space contains the memory of this id. Runs that cannot be read are ignored."""
        wanted = b'"id": ' + encode(name)  # searched first, since to decode every run takes long
        try:
            names = [entry for entry in os.listdir(self._folder) if entry.endswith(".json")]
        except OSError:
            return False
        for entry in names:
            with suppress(OSError):
                if wanted in (read_regular(os.path.join(self._folder, entry), -1) or b""):
                    return any(run.space.name == space and run.space.contains(name) for run in self.runs())
        return False

    def put(self, run: Run) -> None:
        """Stores a run of another store, or replaces the run of its name. Raises StoreError."""
        check_no_link(self._folder)
        make_folder(self._folder, _FOLDER_MODE)
        write_file(self._path(run.name), run_bytes(run), _MODE)

    def drop(self, run: Run, ids: Collection[str], *, erase: bool = False) -> None:  # noqa: ARG002 - a file has no other bytes
        """Removes the memories of these ids from a run for good, and the run itself once it is empty. Raises StoreError."""
        left = tuple(memory for memory in run.space.objects if memory.id not in ids)
        if left:
            write_file(self._path(run.name), run_bytes(replace(run, space=replace(run.space, objects=left))), _MODE)
        elif os.path.lexists(self._path(run.name)):
            remove_file(self._path(run.name))

    def collected(self, space: str) -> str:
        """When `gc` last ran in the space; "" if that is unknown."""
        found = self._state.rows("SELECT at FROM collection WHERE space = ?", space)
        return found[0][0] if found else ""

    def note_collection(self, space: str, at: str) -> None:
        """Records that `gc` ran in the space at this time. Raises StoreError, LockedError."""
        with self._state.change() as connection:
            connection.execute("INSERT OR REPLACE INTO collection VALUES (?, ?)", (space, at))

    def erase(self, space: str, hashes: Mapping[str, str]) -> list[Memory]:
        """Removes the memories that `find` returns from every run of the space for good, and returns them. Raises StoreError."""
        found = self.find(space, hashes)
        for run, memories in found:
            self.drop(run, {memory.id for memory in memories})
        return [memory for _, memories in found for memory in memories]

    def find(self, space: str, hashes: Mapping[str, str]) -> list[tuple[Run, list[Memory]]]:
        """The runs of the space that contain memories with one of these ids, or a text with one of these hashes, each with
        these memories; damaged runs are skipped. Raises StoreError for a run that cannot be read."""
        found: list[tuple[Run, list[Memory]]] = []
        for name in self._names():
            try:
                runs = self._load(
                    name
                )  # a StoreError is raised: a run that cannot be read may contain what is to be erased
            except CorruptError as error:
                self._warn(f"{error.message} (skipped)")
                continue
            for run in runs:
                memories = held_by(run, hashes)
                if run.space.name == space and memories:
                    found.append((run, memories))
        return found

    def _load(self, name: str) -> list[Run]:
        """The run of this name in a list, which is empty if the run is gone. Raises CorruptError, StoreError."""
        where = os.path.join("local", "trash", f"{name}.json")
        try:
            data = read_regular(self._path(name), -1)
        except OSError as error:
            hint = hint_of(error, "check its permissions")
            raise StoreError(f"cannot read {where}: {error.strerror}", hint) from None
        return [] if data is None else [decode_run(name, data, where)]

    def _age(self, name: str) -> tuple[str, int, str]:
        """The key by which runs are sorted: their second, then when their file was written."""
        moment = name.partition("-")[0]
        try:
            return moment, os.stat(self._path(name)).st_mtime_ns, name
        except OSError:
            return moment, 0, name

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.json")


def held_by(run: Run, hashes: Mapping[str, str]) -> list[Memory]:
    """The memories of a run that have one of these ids, or a text with one of these hashes."""
    texts = set(hashes.values()) - {""}
    return [memory for memory in run.space.objects if memory.id in hashes or memory.hash in texts]
