"""What upkeep keeps in `local/`: its ledger (`upkeep.json`), the lock of whoever is at it, and how often was recalled."""

from __future__ import annotations

from contextlib import AbstractContextManager

from memcli.codec.canonical import encode
from memcli.model.memory import Json
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.lock import held
from memcli.store.reading import read_json


class FileUpkeep:
    """The upkeep log of the store at `layout`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def turn(self, now: str) -> AbstractContextManager[None]:
        make_folder(self._layout.local(""))
        return held(self._layout.local("upkeep.lock"), "the upkeep of this store", now)

    def load(self) -> Json:
        return read_json(self._layout.local("upkeep.json"))

    def save(self, ledger: Json) -> None:
        make_folder(self._layout.local(""))
        write_file(self._layout.local("upkeep.json"), encode(ledger) + b"\n", 0o600)
