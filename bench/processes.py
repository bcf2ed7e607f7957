"""Commands as fresh processes: how long they take and how much memory, all in the same quiet surroundings."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from tempfile import TemporaryDirectory

PASS = (sys.executable, "-c", "pass")
"""The start of the interpreter: what every ratio is over."""


def memcli() -> str:
    """The console script that belongs to this interpreter."""
    found = shutil.which("memcli", path=os.path.dirname(sys.executable))
    if found is None:
        raise SystemExit("install memcli into this interpreter's environment: pip install -e .")
    return found


def surroundings(**own: str) -> dict[str, str]:
    """The environment of the processes: no settings of the user, bytecode kept, a clock that stands still."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MEMCLI_") and k != "PYTHONDONTWRITEBYTECODE"}
    quiet = {"MEMCLI_FREEZE_CLOCK": "2100-01-01T00:00:00Z", "MEMCLI_GLOBAL": os.path.join(os.devnull, "none")}
    return {**kept, **quiet, **own}


def run(args: Sequence[str], **own: str) -> bytes:
    """Runs a command to its end; what it printed. A failure ends the benchmark."""
    return subprocess.run(args, env=surroundings(**own), check=True, stdout=subprocess.PIPE).stdout


def at_once(writers: Sequence[BaseProcess], gate: Barrier) -> float:
    """Starts the writers, which wait at the gate, and how many seconds all take from there to their ends."""
    for writer in writers:
        writer.start()
    gate.wait()
    started = time.perf_counter()
    for writer in writers:
        writer.join()
    return time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Case:
    """Something to time. `args` gives the command of the nth run, and `stdin` its input; `before` runs ahead, untimed."""

    name: str
    args: Callable[[int], Sequence[str]]
    settings: Mapping[str, str]
    before: Callable[[int], None] = lambda _: None
    stdin: Callable[[int], bytes] = lambda _: b""


def constant(*args: str) -> Callable[[int], Sequence[str]]:
    """The same command in every run."""
    return lambda _: args


def seconds(cases: Sequence[Case], runs: int) -> dict[str, float]:
    """The median time of each case over fresh processes, in turns, so that a busy moment strikes all alike."""
    taken: dict[str, list[float]] = {case.name: [] for case in cases}
    for n in range(runs + 1):
        for case in cases:
            case.before(n)
            elapsed = _timed(case.args(n), surroundings(**case.settings), case.stdin(n))
            if n:  # the first round warms up
                taken[case.name].append(elapsed)
    return {name: statistics.median(times) for name, times in taken.items()}


def peak(args: Sequence[str], **own: str) -> int:
    """The most memory, in bytes, that a process held at once. What this process itself holds is the least it tells."""
    return spent(args, **own)[1]


def spent(args: Sequence[str], *codes: int, cwd: str | None = None, **own: str) -> tuple[float, int]:
    """How many seconds of a processor a process and its children took, and the most bytes that one of them held at once.
    Beside 0 it may exit with `codes`."""
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(
            args, env=surroundings(**own), stdout=nowhere, stderr=nowhere if codes else None, cwd=cwd
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, *codes):
        raise SystemExit(f"{args[0]} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _timed(args: Sequence[str], environment: Mapping[str, str], stdin: bytes) -> float:
    start = time.perf_counter()
    subprocess.run(args, env=environment, input=stdin, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


@contextmanager
def helper(root: str, **own: str) -> Iterator[tuple[int, dict[str, str]]]:
    """A running helper of the store, and the environment of its clients."""
    from memcli import client
    from memcli.store.layout import FOLDER

    place = os.path.join(root, FOLDER)
    with TemporaryDirectory(prefix="m") as runtime:  # the path of a socket has at most 107 bytes
        environ = {**surroundings(**own), "XDG_RUNTIME_DIR": runtime, client.VARIABLE: client.REQUIRE}
        started = subprocess.Popen((sys.executable, "-P", "-m", "memcli.extras.helper", place), env=environ)
        try:
            while not os.path.lexists(os.path.join(runtime, "memcli", f"{client.socket_name(place)}.store")):
                time.sleep(0.1)
            subprocess.run(
                (sys.executable, "-m", "memcli", "list", "--limit", "1"),
                env=environ,
                cwd=root,
                stdout=subprocess.DEVNULL,
                check=True,
            )
            yield started.pid, environ
        finally:
            started.kill()
            started.wait()
