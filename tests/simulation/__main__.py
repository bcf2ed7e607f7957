"""The long form: many seeds, until one has problems.

python -m tests.simulation --seeds 20 --steps 100 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.faults.scene import fast_folder, warm_up
from tests.simulation.run import Report, Simulation


def simulate(seed: int, numbers: list[int]) -> Report:
    """Runs the steps of these numbers of a seed."""
    with tempfile.TemporaryDirectory(prefix="memcli-simulation-", dir=fast_folder()) as base:
        return Simulation(Path(base), seed).run(numbers)


def shrunk(seed: int, found: Report, most: int = 40) -> Report:
    """The same problem with fewer steps."""
    last = found.step.partition(":")[0]
    numbers, best = list(range(1, int(last or found.steps) + 1)), found
    size = len(numbers) // 2
    while size and most > 0:
        for start in range(0, len(numbers), size):
            fewer = numbers[:start] + numbers[start + size :]
            most -= 1
            report = simulate(seed, fewer) if fewer else found
            if fewer and report.problems and kind_of(report) == kind_of(found):
                numbers, best = fewer, report
                break
        else:
            size //= 2
    return best


def kind_of(report: Report) -> list[str]:
    """What kind of problem came first, in which words."""
    words = report.problems[0].partition(": ")[2].split() if report.problems else []
    return [word for word in words if word.isalpha()][:3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the first; the others count on from it")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args()
    warm_up()
    started, total, done = time.monotonic(), Counter[str](), Counter[str]()
    for seed in range(given.seed, given.seed + given.seeds):
        report = simulate(seed, list(range(1, given.steps + 1)))
        total.update(
            {"steps": report.steps, "checks": report.checks, "kills": report.killed, "problems": bool(report.problems)}
        )
        done.update(report.done)
        print(f"seed {seed}: {report.steps} steps", file=sys.stderr, flush=True)
        if report.problems:
            if not given.no_shrink:
                report = shrunk(seed, report)
            print(f"\nseed {seed}, step {report.step}")
            print("\n".join(report.log))
            print("\n".join(f"PROBLEM {problem}" for problem in report.problems[:6]), flush=True)
            if not given.keep_going:
                break
    print(f"{given.seeds} seeds, {dict(total)}, {time.monotonic() - started:.0f} s; {dict(done)}")
    return int(total["problems"] > 0)


if __name__ == "__main__":
    sys.exit(main())
