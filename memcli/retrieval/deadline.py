"""Work that may take so long and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
_abandoned: list[threading.Thread] = []


def is_work_left() -> bool:
    """Whether work that missed its deadline still goes on. A process that ends had better not wait for it."""
    return any(thread.is_alive() for thread in _abandoned)


def run_within(seconds: float, work: Callable[[], _T]) -> _T | None:
    """What `work` returns, or None when it takes longer: then it goes on unheard and ends with the process.

    Raises what `work` raises in time.
    """
    results: list[_T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - handed on to the caller, if it still listens
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        _abandoned.append(thread)
    if errors:
        raise errors[0]
    return results[0] if results else None
