"""Rows of a report on speed: a figure, the target for it, and what it comes from."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report: what was measured, the figure, the target, and what the figure comes from."""

    name: str
    figure: str
    target: str = ""
    detail: str = ""


def over(took: float, base: float, target: str = "") -> tuple[str, str, str]:
    """A time as a multiple of another one."""
    return f"{took / base:.2f} ×", target, f"{ms(took)} / {ms(base)}"


def ms(value: float) -> str:
    """Seconds in milliseconds."""
    return f"{1000 * value:.0f} ms"


def elapsed(work: Callable[[], object]) -> float:
    """How many seconds `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
