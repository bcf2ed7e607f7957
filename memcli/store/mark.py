"""A mark: a small file in `local/` that says when something was last so."""

from __future__ import annotations

from contextlib import suppress

from memcli.clock import days_between, normalize_time
from memcli.errors import MemcliError
from memcli.store.atomic import replace_file
from memcli.store.reading import read_regular

_SECONDS = 86_400


class Mark:
    """The mark at `path`. What cannot be read or written is no mark."""

    def __init__(self, path: str) -> None:
        self._path = path

    def is_younger(self, seconds: float, now: str) -> bool:
        """Whether it was set less than so many seconds before `now`."""
        with suppress(MemcliError, OSError):
            before = normalize_time((read_regular(self._path, 32) or b"").decode("ascii", "replace"))
            is_past = not days_between(now, before)  # else the clock was set back
            return is_past and days_between(before, now) * _SECONDS < seconds
        return False

    def set(self, now: str) -> None:
        """Sets it."""
        with suppress(MemcliError, OSError):
            replace_file(self._path, now.encode())
