"""What upkeep keeps in the private state: its ledger (`upkeep.json`), the lock of whoever is at it, and how often was recalled."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from memcli.codec.canonical import encode
from memcli.model.memory import Json
from memcli.store.atomic import append_line, make_folder, remove_quietly, write_file
from memcli.store.layout import Layout
from memcli.store.lock import held
from memcli.store.reading import read_json

_COUNT, _TRIED = "upkeep.count", "upkeep.tried"
_MOST_COUNTED = 5_000


class FileUpkeep:
    """The upkeep log of the store at `layout`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def turn(self, now: str) -> AbstractContextManager[None]:
        make_folder(self._layout.private(""))
        return held(self._layout.private("upkeep.lock"), "the upkeep of this store", now)

    def load(self) -> Json:
        return read_json(self._layout.private("upkeep.json"))

    def count(self) -> int:
        path = self._layout.private(_COUNT)
        try:
            append_line(path, b"")  # a byte for each recall: what many processes append at once is all counted
            size = os.path.getsize(path)
        except OSError:
            return 0
        if size >= _MOST_COUNTED:
            remove_quietly(path)
        return size

    def tried(self) -> str:
        tried = read_json(self._layout.private(_TRIED))
        return tried if isinstance(tried, str) else ""

    def try_at(self, now: str) -> None:
        make_folder(self._layout.private(""))
        write_file(self._layout.private(_TRIED), encode(now) + b"\n", 0o600)

    def save(self, ledger: Json) -> None:
        make_folder(self._layout.private(""))
        write_file(self._layout.private("upkeep.json"), encode(ledger) + b"\n", 0o600)
