"""Runs of steps that are drawn from a seed: what came of one, the same problem with fewer steps, and many seeds."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - drawn from a seed

from tests.faults.inject import Fault


@dataclass
class Report:
    """What came of a run. `problems` are those of the first step that had any, `writes` those that commands acknowledged."""

    seed: int
    steps: int = 0
    checks: int = 0
    writes: int = 0
    killed: int = 0
    problems: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    step: str = ""
    done: dict[str, int] = field(default_factory=dict)


Run = Callable[[int, list[int]], Report]
"""Runs the steps of these numbers of a seed."""


def draw_fault(rng: Random, calls: int) -> Fault:
    """A kill at one of the first calls of a command."""
    return Fault(rng.randrange(calls), rng.choice(["kill", "half"]))


def parser_of(title: str, count: str) -> ArgumentParser:
    """The command line of many seeds; `--COUNT` says how many."""
    parser = ArgumentParser(description=title)
    parser.add_argument(f"--{count}", dest="count", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the first; the others count on from it")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    return parser


def run_many(given: Namespace, run: Run) -> int:
    """Runs the seeds of a command line, and prints what came of them; the exit code."""
    started, total, done = time.monotonic(), Counter[str](), Counter[str]()
    for seed in range(given.seed, given.seed + given.count):
        report = run(seed, list(range(1, given.steps + 1)))
        total.update(
            seeds=1, steps=report.steps, checks=report.checks, writes=report.writes, kills=report.killed,
            problems=bool(report.problems),
        )  # fmt: skip
        done.update(report.done)
        print(f"seed {seed}: {report.steps} steps", file=sys.stderr, flush=True)
        if report.problems:
            if not given.no_shrink:
                report = _shrunk(report, run)
            print(f"\nseed {seed}, step {report.step}")
            print("\n".join(report.log))
            print("\n".join(f"PROBLEM {problem}" for problem in report.problems[:6]), flush=True)
            if not given.keep_going:
                break
    print(f"{dict(total)}, {time.monotonic() - started:.0f} s; {dict(done)}")
    return int(total["problems"] > 0)


def _shrunk(found: Report, run: Run, most: int = 40) -> Report:
    """The same problem with fewer steps."""
    last = found.step.partition(":")[0]
    numbers, best = list(range(1, int(last or found.steps) + 1)), found
    size = len(numbers) // 2
    while size and most > 0:
        for start in range(0, len(numbers), size):
            fewer = numbers[:start] + numbers[start + size :]
            most -= 1
            report = run(found.seed, fewer) if fewer else found
            if fewer and report.problems and _kind_of(report) == _kind_of(found):
                numbers, best = fewer, report
                break
        else:
            size //= 2
    return best


def _kind_of(report: Report) -> list[str]:
    """What kind of problem came first, in which words."""
    return [word for word in report.problems[0].split() if word.isalpha()][:3]
