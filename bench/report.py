"""What a benchmark prints: tables as Markdown, rows of figures with their targets, and how good a ranking is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    head = [f"| {' | '.join(columns)} |", "|" + "|".join(["---", *["---:"] * (len(columns) - 1)]) + "|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def section(title: str, body: str, note: str = "") -> None:
    """Prints a table under its title."""
    print(f"\n### {title}\n\n{body}\n" + (f"\n{note}\n" if note else ""), flush=True)


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"


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


SHOWN = ("R@1", "R@5", "R@10", "R@50", "MRR", "nDCG@10")
DEPTH = 50


def score(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """The metrics of one question; `ranked` are ids, best first, of which a second mention does not count."""
    hits = [name in relevant for name in dict.fromkeys(ranked)][:DEPTH]
    found: dict[str, float] = {f"R@{k}": sum(hits[:k]) / len(relevant) for k in (1, 5, 10, 50)}
    found["MRR"] = next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0)
    best = sum(_gain(place) for place in range(min(10, len(relevant))))
    found["nDCG@10"] = sum(_gain(place) for place, hit in enumerate(hits[:10]) if hit) / best
    return found


def mean(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over all questions."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in SHOWN}


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)
