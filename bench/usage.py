"""What the usage log adds to a recall: appending to it, its rotation included, and reading it when it is full.

python bench/usage.py
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable

from memcli.model.usage import Use
from memcli.store.layout import Layout, make_root
from memcli.store.state import State
from memcli.store.usage import LocalUsage

APPENDS = 5_000
SHOWN = 10


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, ".memory")
        make_root(root)
        usage = LocalUsage(State(Layout(root)))
        ids = tuple(f"mem_{n:012}" for n in range(SHOWN))
        use = Use("2026-01-31T09:30:00Z", "recall", "main", ids, places=tuple(range(SHOWN)))
        usage.note([use], "which database?")
        line = b"x" * os.path.getsize(Layout(root).local("usage"))
        plain = sorted(_timed(lambda: _append(os.path.join(folder, "plain"), line)) for _ in range(APPENDS))
        noted = sorted(_timed(lambda: usage.note([use], "which database?")) for _ in range(APPENDS))
        print("| | median | 99 of 100 | mean | over a plain append |\n|---|---:|---:|---:|---:|")
        for name, times in (("a plain append", plain), ("`note`", noted)):
            print(f"| {name} | {_ms(times[APPENDS // 2])} | {_ms(times[APPENDS * 99 // 100])} "
                  f"| {_ms(sum(times) / APPENDS)} | {sum(times) / sum(plain):.1f} |")  # fmt: skip
        fresh = LocalUsage(State(Layout(root)))
        print(f"\n{len(fresh.read())} uses in the log; reading them takes {_ms(_timed(LocalUsage(State(Layout(root))).read))}, "
              f"counting them {_ms(_timed(lambda: LocalUsage(State(Layout(root))).counts('main')))}")  # fmt: skip


def _append(path: str, line: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3f} ms"


if __name__ == "__main__":
    main()
