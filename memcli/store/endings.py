"""Which sessions are being ended: a file for each in `sessions/<space>.ending` of the private state, until all that it
yields is stored; and what the ends of each have made, as digests in `sessions/<space>.kept`. Imported sessions that were
deleted leave an empty file in `sessions/<space>.deleted`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from memcli.beneath import unlink
from memcli.codec.canonical import encode
from memcli.model.names import check_space, is_session_id
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_json


class FileEndings:
    """The marks of the store at `layout`. See `ports/sessions.py`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def mark_ending(self, space: str, name: str) -> None:
        _mark(self._marks(space), name)

    def unmark_ending(self, space: str, name: str) -> None:
        with suppress(FileNotFoundError):
            unlink(os.path.join(self._marks(space), name))

    def ending(self, space: str) -> list[str]:
        return _marked(self._marks(space))

    def kept(self, space: str, name: str) -> Mapping[str, int]:
        told = read_json(self._kept(space, name))
        return (
            {mark: version for mark, version in told.items() if isinstance(version, int)}
            if isinstance(told, dict)
            else {}
        )

    def note_kept(self, space: str, name: str, kept: Mapping[str, int]) -> None:
        path = self._kept(space, name)
        make_folder(os.path.dirname(path))
        write_file(path, encode(dict(kept)), 0o600)

    def deleted(self, space: str) -> list[str]:
        return _marked(self._deleted(space))

    def note_deleted(self, space: str, name: str) -> None:
        _mark(self._deleted(space), name)

    def _is_deleted(self, space: str, name: str) -> bool:
        return os.path.exists(os.path.join(self._deleted(space), name))

    def _deleted(self, space: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.deleted")

    def _forget_end(self, space: str, name: str) -> None:
        """Removes what is noted of the ends of a session that is deleted."""
        self.unmark_ending(space, name)
        with suppress(FileNotFoundError):
            unlink(self._kept(space, name))

    def _kept(self, space: str, name: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.kept", f"{name}.json")

    def _marks(self, space: str) -> str:
        return os.path.join(self._layout.private("sessions"), f"{check_space(space)}.ending")


def _marked(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if is_session_id(name))
    except OSError:
        return []


def _mark(folder: str, name: str) -> None:
    make_folder(folder)
    write_file(os.path.join(folder, name), [b""], 0o600)
