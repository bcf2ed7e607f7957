"""What was found out about models, kept in a file so that it need not be found out by every process."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from memcli.model.memory import Json

_FILE = "embedders.json"
_MOST = 1 << 20


class Facts:
    """Values by key in `folder`; in memory alone when it is None or cannot be written."""

    def __init__(self, folder: str | None) -> None:
        self._path = os.path.join(folder, _FILE) if folder else None
        self._own: dict[str, Json] = {}

    def get(self, key: str) -> Json:
        """What was put for the key; None for nothing."""
        if key not in self._own:
            self._own = {**self._read(), **self._own}
        return self._own.get(key)

    def put(self, key: str, value: Json) -> None:
        """Keeps the value; what other processes have put stays."""
        self._own = {**self._read(), **self._own, key: value}
        if self._path is None:
            return
        with suppress(OSError):  # a cache that cannot be written is done without
            beside = f"{self._path}.{os.getpid()}.tmp"
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with open(fd, "w", encoding="utf-8") as file:
                json.dump(self._own, file, sort_keys=True)
            os.replace(beside, self._path)

    def _read(self) -> dict[str, Json]:
        if self._path is None:
            return {}
        try:
            with open(self._path, "rb") as file:
                found = json.loads(file.read(_MOST))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
