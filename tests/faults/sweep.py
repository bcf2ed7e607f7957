"""Every command that changes a store, struck at every call that touches it.

    python -m tests.faults.sweep                 # from inside, kills and errors: seconds to minutes
    python -m tests.faults.sweep --strace        # every system call, by strace
    python -m tests.faults.sweep --faults kill --case remember --case gc
    python -m tests.faults.sweep --short         # as CI does: ten kills where the files differ and as many errors, from the first to the last call

Prints a line for each command and exits with 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import inject, trace
from tests.faults.commands import CASES, Case, cases
from tests.faults.judge import Golden, golden, judge
from tests.faults.scene import Ended, Scene, fast_folder, warm_up

SHORT = ("init", "remember, new", "remember, same path", "edit", "forget --purge", "gc", "import --mode merge")

_INPUTS = ("docs", "notes")  # what is read in: a file that cannot be read is left out, and counted


@dataclass
class Row:
    """What came of one command."""

    name: str
    points: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    missed: int = 0
    seconds: float = 0.0


def sweep(case: Case, kinds: tuple[str, ...], *, outside: bool, every: int, most: int, folder: str | None) -> Row:
    """Strikes one case at each `every`-th of its points with each of `kinds` in turn; `most` bounds kills and errors each."""
    started = time.monotonic()
    row = Row(case.name)
    with tempfile.TemporaryDirectory(prefix="memcli-faults-", dir=folder or fast_folder()) as base:
        scene = Scene(Path(os.path.realpath(base)))
        try:
            states = golden(scene, case)
            runs = _outside(scene, case, states, kinds, every, row)
            if not outside:
                runs = _inside(scene, case, states, kinds, every, most, row)
            for where, kind, ended, hit in runs:
                row.runs["kill" if kind in inject.KILLS else "error"] += 1
                row.missed += not hit
                for problem in judge(scene, case, states, ended):
                    row.broken[problem.split(":")[0]] += 1
                    row.problems.append(f"{case.name} | {kind} at {where} | exit {ended.code} | {problem}")
        except ValueError as error:
            row.broken["next"] += 1
            row.problems.append(f"the line cannot be run: {error}")
    row.seconds = time.monotonic() - started
    return row


Run = tuple[str, str, Ended, bool]


def _inside(
    scene: Scene, case: Case, states: Golden, kinds: tuple[str, ...], every: int, most: int, row: Row
) -> Iterator[Run]:  # fmt: skip
    listed = scene.base / "calls"
    scene.reset(states.template)

    def count() -> None:
        log = os.open(listed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        write = os.write
        inject.Watched(
            str(scene.work), told=lambda c: write(log, f"{c.name}\t{c.path}\t{c.data:d}\t{c.changes:d}\n".encode())
        ).install()  # fmt: skip

    scene.run(case.arguments, case.stdin, count)
    lines = [line.split("\t") for line in listed.read_text().splitlines()]
    calls = [inject.Call(name, path, data == "1", changes == "1") for name, path, data, changes in lines]
    turn = CASES.index(case)  # so that cases which make the same calls meet other faults at them
    places = set(inject.distinct(calls) if every > 1 else range(len(calls)))
    row.points = sum(not call.path.startswith(_INPUTS) for call in calls)
    found = [fault for fault in inject.faults(calls, kinds) if not calls[fault.at].path.startswith(_INPUTS)]
    kills = [fault for fault in found if fault.kind == "kill" and fault.at in places]
    errors = [f for f in found if f.kind != "kill" and _is_chosen(f.at + turn, f.kind, kinds, every)]
    for fault in (*_spread(kills, most, turn), *_spread(errors, most, turn)):
        scene.reset(states.template)
        ended = scene.run(case.arguments, case.stdin, inject.Watched(str(scene.work), fault).install)
        call = calls[fault.at]
        yield f"{call.name} {call.path} ({fault.at + 1})", fault.kind, ended, True


def _outside(
    scene: Scene, case: Case, states: Golden, kinds: tuple[str, ...], every: int, row: Row
) -> Iterator[Run]:  # fmt: skip
    for _ in range(2):  # the first run may compile modules, which would shift the numbers of the calls
        scene.reset(states.template)
        found = [point for point in trace.points(scene, case) if not point.path.startswith(_INPUTS)]
    row.points = len(found)
    for at, point in enumerate(found):
        for kind in kinds:
            if _is_chosen(at, kind, kinds, every):
                scene.reset(states.template)
                ended, hit = trace.struck(scene, case, point, kind)
                yield f"{point.name} {point.path} ({point.number})", kind, ended, hit


def _is_chosen(at: int, kind: str, kinds: tuple[str, ...], every: int) -> bool:
    """With `every` above 1, each point meets some of the kinds, and each kind some of the points."""
    return kind == "kill" or (at + kinds.index(kind)) % every == 0


def _spread(found: list[inject.Fault], most: int, turn: int) -> list[inject.Fault]:
    """At most so many of them, from the first to the last; other ones at another turn."""
    if len(found) <= most:
        return found
    step = len(found) / most
    return [found[int((n + turn % 5 / 5) * step)] for n in range(most)]


def table(rows: list[Row], known: int) -> str:
    """The table that the command prints: a line a command, and how many lines of the table were left out."""
    lines = [
        f"{r.name}: {r.points} points, {r.runs['kill']} kills, {r.runs['error']} errors, {r.missed} missed, "
        f"{r.seconds:.0f} s; broken: {dict(r.broken) or 'nothing'}"
        for r in rows
    ]
    left = [f"{known - len(rows)} of {known} lines of the table were left out"] if known != len(rows) else []
    return "\n".join([*lines, *left])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--strace", action="store_true", help="every system call, by strace")
    parser.add_argument("--faults", help="kill, half, short and names of errno, with commas between them")
    parser.add_argument("--case", action="append", default=[], help="commands that begin so; may be repeated")
    parser.add_argument(
        "--every", type=int, default=1, help="errors at every N-th point only, and kills where the files differ"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--short", action="store_true", help="some commands, and each error at some points")
    parser.add_argument("--dir", help="where to work [a folder in memory]")
    given = parser.parse_args()
    if given.strace and not trace.is_there():
        print("strace is not here, or may not trace", file=sys.stderr)
        return 2
    default = ("kill", *trace.ERRNOS) if given.strace else ("kill", "half", "short", *inject.ERRNOS)
    kinds = tuple(given.faults.split(",")) if given.faults else default
    chosen = cases(*(SHORT if given.short and not given.case else given.case))
    every = 2 * len(kinds) if given.short else given.every
    most = 10 if given.short else sys.maxsize
    tasks = [(case, kinds, given.strace, every, most, given.dir) for case in chosen]
    with multiprocessing.get_context("spawn").Pool(given.jobs, warm_up) as pool:
        rows = []
        for row in pool.imap(_task, tasks):
            rows.append(row)
            for problem in row.problems[:12]:
                print(problem, flush=True)
            if len(row.problems) > 12:
                print(f"{row.name}: {len(row.problems) - 12} more")
    print(table(rows, len(chosen) if given.case or given.short else len(CASES)))
    return int(any(row.problems for row in rows))


def _task(task: tuple[Case, tuple[str, ...], bool, int, int, str | None]) -> Row:
    case, kinds, outside, every, most, folder = task
    return sweep(case, kinds, outside=outside, every=every, most=most, folder=folder)


if __name__ == "__main__":
    sys.exit(main())
