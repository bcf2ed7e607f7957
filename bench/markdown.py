"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    head = [f"| {' | '.join(columns)} |", "|" + "|".join(["---", *["---:"] * (len(columns) - 1)]) + "|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def section(title: str, body: str, note: str = "") -> None:
    """Prints a table under its title."""
    print(f"\n### {title}\n\n{body}\n" + (f"\n{note}\n" if note else ""), flush=True)


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"
