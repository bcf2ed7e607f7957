"""Questions that nothing answered, in `gaps.json` of the private state. They are text, so a policy must ask for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from memcli.codec.canonical import encode
from memcli.errors import MemcliError, StoreError
from memcli.model.gaps import Gap, in_order, with_gap
from memcli.record import as_dict
from memcli.store.atomic import make_folder, remove_quietly, replace_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_json

_WAIT_SECONDS = 1.0
_TEXTS = ("topic", "space", "first_at", "last_at")


class FileGaps:
    """The gaps of the store at `layout`. A question is noted only if `is_recording`."""

    def __init__(self, layout: Layout, is_recording: Callable[[], bool] = lambda: True) -> None:
        self._path = layout.private("gaps.json")
        self._lock = layout.private("gaps.lock")
        self._is_recording = is_recording

    def note(self, gap: Gap) -> None:
        if self._is_recording():
            with suppress(OSError, MemcliError):
                self._change(lambda gaps: with_gap(gaps, gap))

    def read(self) -> list[Gap]:
        data = read_json(self._path)
        return in_order(gap for entry in (data if isinstance(data, list) else []) if (gap := _from_json(entry)))

    def drop(self, gaps: Collection[Gap]) -> None:
        keys = {gap.key for gap in gaps}
        if keys:
            try:
                self._change(lambda known: [gap for gap in known if gap.key not in keys])
            except OSError as error:
                raise StoreError(f"cannot write {self._path}: {error.strerror}", "check its permissions") from None

    def _change(self, change: Callable[[Sequence[Gap]], Sequence[Gap]]) -> None:
        make_folder(os.path.dirname(self._path))
        with locked(self._lock, "the list of gaps", _WAIT_SECONDS):
            gaps = change(self.read())
            if gaps:
                replace_file(self._path, encode([as_dict(gap) for gap in gaps]) + b"\n")
            elif os.path.lexists(self._path) and not remove_quietly(self._path):
                raise StoreError(f"cannot remove {self._path}", "check its permissions")


def _from_json(entry: object) -> Gap | None:
    """The gap of an entry; None for one that is damaged."""
    if not isinstance(entry, dict) or type(entry.get("count")) is not int:
        return None
    texts = [entry.get(name) for name in _TEXTS]
    if not all(isinstance(text, str) for text in texts):
        return None
    return Gap(**{name: entry[name] for name in (*_TEXTS, "count")})
