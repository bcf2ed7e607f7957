"""What the hooks add to a commit, in the foreground: `python bench/hooks.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

from processes import helper, memcli, run, surroundings
from report import section, table

_BEHIND_SECONDS = 0.8
"""How long the background is left alone, so that the next commit does not pay for the one before."""
_WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")
_EDITOR = "sed -i '1s/^/Change/'"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures what the hooks of memcli add to a commit.")
    parser.add_argument("--runs", default=20, type=int, help="commits with hooks, and as many without [20]")
    parser.add_argument("--memories", default=50, type=int, help="constraints that the change may touch [50]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memcli-hooks-") as root:
        _fill(root, options.memories)
        rows = [_row(root, name, args, options.runs) for name, args in _COMMITS]
        with helper(root) as (_, environ):
            rows.append(_row(root, "the same, while a helper runs", (), options.runs, **environ))
    section("Hooks", table(("", "without, ms", "with, ms", "added, median, ms", "target, ms"), rows))


_COMMITS: Sequence[tuple[str, Sequence[str]]] = (
    ("`git commit -m`", ("-m", "Change")),
    ("`git commit`, with an editor: recalls what was decided", ()),
)


def _fill(root: str, memories: int) -> None:
    run(("git", "init", "-q", "-b", "main", root))
    _write(root, ".gitignore", ".memory/\n")
    run((memcli(), "init", "--quiet", "--root", root))
    for n in range(memories):
        text = f"Fetch never retries a POST of kind {n}, because it is not idempotent."
        run((memcli(), "remember", text, "-k", "constraint", "-p", f"net/fetch/{n}", "--quiet", "--root", root))


def _row(root: str, name: str, arguments: Sequence[str], runs: int, **own: str) -> tuple[str, ...]:
    took: dict[str, list[float]] = {"uninstall": [], "install": []}
    for n in range(runs + 1):
        for state, times in took.items():
            run(("env", "-C", root, memcli(), "hook", state, "--quiet"))
            _write(root, f"f{n % 7}.py", f"def fetch{n}{state}(): retry post {n}\n")
            run(("git", "-C", root, "add", "-A"))
            time.sleep(_BEHIND_SECONDS)
            times.append(_commit(root, arguments, **own))
            time.sleep(_BEHIND_SECONDS)
    without, with_hooks = (times[1:] for times in took.values())  # the first round warms up
    added = statistics.median(b - a for a, b in zip(without, with_hooks, strict=True))
    medians = (f"{statistics.median(times) * 1e3:.1f}" for times in (without, with_hooks))
    return (name, *medians, f"{added * 1e3:.1f}", "60")


def _commit(root: str, arguments: Sequence[str], **own: str) -> float:
    """Seconds until git has ended and whoever reads what it prints has come to the end."""
    began = time.perf_counter()
    subprocess.run(
        ("git", *_WHO, "-C", root, "commit", "-q", *arguments),
        env=surroundings(**own, GIT_EDITOR=_EDITOR), check=True, capture_output=True,
    )  # fmt: skip
    return time.perf_counter() - began


def _write(root: str, name: str, text: str) -> None:
    with open(os.path.join(root, name), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
