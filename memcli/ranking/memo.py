"""What was built of a space, kept for the next question to the same view of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from memcli.model.recall import RowSet

if TYPE_CHECKING:
    from memcli.ports.views import Rankable

T = TypeVar("T")


class Memo(Generic[T]):
    """The last thing built: it serves while the view and the rows visible in it are the same."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref[Rankable], RowSet, T] | None = None

    def get(self, view: Rankable, visible: RowSet, build: Callable[[], T]) -> T:
        """What `build` gives for these rows of this view."""
        if self._last is not None:
            known, rows, built = self._last
            if known() is view and rows == visible:
                return built
        made = build()
        self._last = (weakref.ref(view), visible, made)
        return made
