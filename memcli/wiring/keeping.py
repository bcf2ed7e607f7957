"""How what is expensive to load is kept by a process that opens many workspaces, and by one that opens one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")


class Keep(Protocol):
    """Gives what was made before for a key, or makes it."""

    def __call__(self, key: tuple[Any, ...], make: Callable[[], _T], /) -> _T: ...


def make(_key: tuple[Any, ...], make: Callable[[], _T], /) -> _T:
    """Makes it: nothing is kept."""
    return make()
