"""The long form: many days, until one has problems.

python -m tests.oracle --days 50 --steps 200 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.faults.scene import fast_folder, warm_up
from tests.oracle.day import Day, Options, Report


def one_day(seed: int, options: Options, numbers: list[int] | None = None) -> Report:
    """Runs a day, with no grace when the seed is odd, or only those of its steps that are given."""
    grace = options.grace if options.grace is not None else (0 if seed % 2 else None)
    with tempfile.TemporaryDirectory(prefix="memcli-oracle-", dir=fast_folder()) as base:
        day = Day(Path(base), seed, replace(options, grace=grace))
        return day.run(numbers or list(range(1, options.steps + 1)))


def shrunk(seed: int, options: Options, found: Report, most: int = 40) -> Report:
    """The same problem with fewer steps."""
    numbers = list(range(1, int(found.step.partition(":")[0]) + 1)) if found.step else []
    size, best = len(numbers) // 2, found
    while size and most > 0:
        for start in range(0, len(numbers), size):
            fewer = numbers[:start] + numbers[start + size :]
            most -= 1
            report = one_day(seed, options, fewer) if fewer else found
            if fewer and kind_of(report) == kind_of(found):
                numbers, best = fewer, report
                break
        else:
            size //= 2
    return best


def kind_of(report: Report) -> str:
    """What kind of problem came first."""
    words = report.problems[0].split() if report.problems else []
    return " ".join(words[:2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first day; the others count on from it")
    parser.add_argument("--no-erasure", action="store_true", help="do not look for words that were erased")
    parser.add_argument("--keep-going", action="store_true")
    given = parser.parse_args()
    warm_up()
    options = Options(given.steps, erasure=not given.no_erasure)
    started, total, bad = time.monotonic(), Counter[str](), 0
    done: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.days):
        report = one_day(seed, options)
        total.update(
            {"steps": report.steps, "checks": report.checks, "kills": report.killed, "problems": bool(report.problems)}
        )
        done.update(report.done)
        if report.problems:
            bad += 1
            report = shrunk(seed, options, report)
            print(f"\nseed {seed}, step {report.step}")
            print("\n".join(report.log))
            print("\n".join(f"PROBLEM {problem}" for problem in report.problems[:6]), flush=True)
            if not given.keep_going:
                break
    print(f"{given.days} days, {dict(total)}, {time.monotonic() - started:.0f} s; {dict(done)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
