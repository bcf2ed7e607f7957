"""How much memory the commands take: `python bench/memory.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from objects import questions
from processes import PASS, memcli, peak
from report import section, table
from stores import parse_sizes, size_name, store, work_folder


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures the peak memory of commands.")
    parser.add_argument("--sizes", default="1k,10k,100k", type=parse_sizes, help="memories in a store [1k,10k,100k]")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    options = parser.parse_args()
    with work_folder(options.work) as work:
        rows = [(name, f"{size / 1e6:.0f}", target) for name, size, target in _measured(work, options.sizes)]
    section("Memory", table(("", "peak MB", "must / aim MB"), rows))


def _measured(work: str, sizes: list[int]) -> Iterator[tuple[str, int, str]]:
    asked = questions(1)[0]
    yield "`python -c pass`: the least that this measure tells", peak(PASS), ""
    for size in sizes:
        recall = (memcli(), "recall", asked, "--json", "--no-global", "--root", store(work, size))
        peak(recall, MEMCLI_EMBEDDER="off")
        yield f"`recall`, no embedding, {size_name(size)}", peak(recall, MEMCLI_EMBEDDER="off"), _target(size)
    for size in sizes:
        root = store(work, size, has_vectors=True)
        # Not asked before, in this run of the benchmark or an earlier one.
        recall = (memcli(), "recall", f"{asked} {os.getpid()}", "--json", "--no-global", "--root", root)
        yield f"`recall` with embedding, {size_name(size)}", peak(recall), _target(size)
    for size in sizes:
        root = store(work, size)
        args = (memcli(), "remember", "We keep the peak memory low.", "--path", "bench/peak", "--root", root)
        yield f"`remember`, {size_name(size)}", peak(args), ""


def _target(size: int) -> str:
    return "300 / 60" if size == 100_000 else ""


if __name__ == "__main__":
    main()
