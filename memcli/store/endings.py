"""Which sessions are being ended: a file for each in `local/sessions/<space>.ending`, until all that it yields is kept."""

from __future__ import annotations

import os
from contextlib import suppress

from memcli.model.names import check_space, is_session_id
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout


class FileEndings:
    """The marks of the store at `layout`. See `ports/sessions.py`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def mark_ending(self, space: str, name: str) -> None:
        folder = self._marks(space)
        make_folder(folder)
        write_file(os.path.join(folder, name), [b""], 0o600)

    def unmark_ending(self, space: str, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self._marks(space), name))

    def ending(self, space: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._marks(space)) if is_session_id(name))
        except OSError:
            return []

    def _marks(self, space: str) -> str:
        return os.path.join(self._layout.local("sessions"), f"{check_space(space)}.ending")
