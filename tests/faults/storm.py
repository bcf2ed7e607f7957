"""Many writers at once, with `gc` and `export` beside them, in peace or while writers are killed.

    python -m tests.faults.storm                                    # 16 writers, 500 memories each, 2 gc, 1 exporter
    python -m tests.faults.storm --kill-every 100 --seconds 60      # one writer killed every 100 ms, for a minute
    python -m tests.faults.storm --processes 4 --count 25           # every memory by a `memcli` process of its own

Every writer notes each acknowledged id in a file of its own. At the end each noted id must be in the space, the space
must be canonical, and every export that was made must be whole. Exits with 1 when it is not so.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memcli.codec.bundle import decode_bundle
from memcli.codec.space import decode_space, encode_space
from memcli.errors import LockedError, StoreError
from tests.faults.commands import MAY_DELETE
from tests.faults.scene import Scene, fast_folder, warm_up

_GONE_AT = "2020-01-01T00:00:00Z"
_ATTEMPTS = 20


@dataclass
class Report:
    """What a storm did, and what was wrong with the store afterwards."""

    seconds: float = 0.0
    acknowledged: int = 0
    kept: int = 0
    stored: int = 0
    kills: int = 0
    collected: int = 0
    exports: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The lines that the command prints."""
        lines = [
            f"acknowledged {self.acknowledged}, kept {self.kept}, in the space {self.stored}",
            f"{self.seconds:.1f} s, {self.acknowledged / self.seconds:.0f} acknowledged a second",
            f"beside them: {self.collected} runs of gc, {self.exports} exports",
            f"{self.kills} kills",
        ]
        lines += [f"tried again {n} times: {message}" for message, n in sorted(self.refusals.items())]
        return "\n".join([*lines, *self.problems[:20], "FAILED" if self.problems else "nothing was lost"])


@dataclass
class Storm:
    """Processes of one storm on one store."""

    scene: Scene
    count: int
    children: dict[int, int] = field(default_factory=dict)
    """Writers that run: the process, and the number of the writer."""
    started: int = 0

    @property
    def notes(self) -> Path:
        return self.scene.base / "notes"

    def writer(self) -> None:
        """Starts one more writer."""
        number = self.started
        self.started += 1
        self.children[_forked(lambda: _write(self, number, self.count))] = number


def storm(scene: Scene, *, writers: int, count: int, collectors: int, exporters: int, kill_every: float = 0,
          seconds: float = 0, processes: int = 0, seed: int = 1) -> Report:  # fmt: skip
    """Runs a storm. `kill_every` in seconds; with `seconds`, writers never end by themselves."""
    scene.reset()
    for step in (("init",), ("space", "create", "main"), MAY_DELETE):
        assert scene.run(step).code == 0
    run = Storm(scene, sys.maxsize if seconds else count)
    run.notes.mkdir()
    report = Report()
    begun = time.monotonic()
    beside = [_forked(lambda n=n: _collect(scene, n)) for n in range(collectors)]
    beside += [_forked(lambda n=n: _export(scene, n)) for n in range(exporters)]
    for _ in range(writers):
        run.writer()
    commands = [_forked(lambda n=n: _run_commands(run, n, count)) for n in range(processes)]
    report.kills = _kill(run, kill_every, begun + seconds, seed) if kill_every else 0
    if seconds and not kill_every:
        time.sleep(seconds)
    for child in run.children:
        if seconds:
            os.kill(child, signal.SIGKILL)
        _wait(child, report, "a writer", killed=bool(seconds))
    for child in commands:
        _wait(child, report, "a process that runs commands")
    report.seconds = time.monotonic() - begun
    for child in beside:
        os.kill(child, signal.SIGTERM)
        _wait(child, report, "gc or export")
    _examine(run, report)
    return report


def _write(run: Storm, number: int, count: int) -> None:
    from memcli.app.remember import prepare, remember
    from memcli.wiring.workspace import open_workspace

    workspace = open_workspace({"root": str(run.scene.store), "freeze_clock": None}, _environ(run.scene))
    log = os.open(run.notes / f"{number}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for n in range(count):
        fields = {"raw": f"Writer {number} says {n}.", "path": f"w{number}/n{n}", "id": f"mem_{number}_{n}"}
        for attempt in range(_ATTEMPTS):
            try:
                name = remember(workspace, [prepare(workspace, fields)]).outcomes[0].id
                os.write(log, f"{name}\n".encode())
                break
            except (LockedError, StoreError) as error:  # as a user would, it tries again
                os.write(log, f"! {error.message}\n".encode())
                if attempt == _ATTEMPTS - 1:
                    raise


def _run_commands(run: Storm, number: int, count: int) -> None:
    log = os.open(run.notes / f"p{number}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for n in range(count):
        name = f"mem_p{number}_{n}"
        said = f"Process {number} says {n}."
        line = ["-P", "-m", "memcli", "remember", said, "--id", name, "--path", f"p{number}/n{n}"]
        subprocess.run(
            [sys.executable, *line], cwd=run.scene.work, env=_environ(run.scene), check=True, stdout=subprocess.DEVNULL
        )
        os.write(log, f"{name}\n".encode())


def _collect(scene: Scene, number: int) -> None:
    """Puts something in that has long expired, and collects it, until it is told to end."""
    for n in _until_told(scene, f"collected{number}"):
        old = ("remember", f"Old {number} {n}.", "--path", f"old/{number}-{n}", "--freeze-clock", _GONE_AT)
        _run_inside(old)
        _run_inside(("gc", "-q", "--trust-clock"))


def _export(scene: Scene, number: int) -> None:
    """Exports and checks what came out, until it is told to end."""
    out = scene.base / f"export{number}.json"
    for _ in _until_told(scene, f"exports{number}"):
        _run_inside(("export", "--out", str(out), "-q"))
        data = out.read_bytes()
        decode_bundle(data, "the export")


def _until_told(scene: Scene, counter: str) -> Iterator[int]:
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    os.chdir(scene.work)
    os.environ.clear()
    os.environ.update(_environ(scene))
    n = 0
    while not told:
        yield n
        n += 1
    (scene.base / counter).write_text(str(n))


def _run_inside(arguments: tuple[str, ...]) -> None:
    """Runs a command in this process. Raises RuntimeError unless it succeeds, or finds the space locked."""
    from memcli.cli.main import main

    with open(os.devnull, "w") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            code = main(arguments)
        finally:
            sys.stdout = kept
    if code not in (0, LockedError.exit_code):
        raise RuntimeError(f"{' '.join(arguments)} exits with {code}")


def _kill(run: Storm, every: float, until: float, seed: int) -> int:
    """Kills a writer every so often and starts another in its place; how many."""
    kills = 0
    next_kill = time.monotonic() + every
    while time.monotonic() < until:
        time.sleep(max(0.0, next_kill - time.monotonic()))
        next_kill += every
        running = sorted(run.children)
        child = running[_choice(seed + kills) % len(running)]
        os.kill(child, signal.SIGKILL)
        kills += 1
        os.waitpid(child, 0)
        del run.children[child]
        run.writer()
    return kills


def _choice(seed: int) -> int:
    """A number that hangs on nothing but `seed`."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8], "big")


def _examine(run: Storm, report: Report) -> None:
    file = run.scene.store / "spaces" / "main.json"
    ended = run.scene.run(("remember", "After the storm.", "--path", "after/storm"))
    if ended.code:
        report.problems.append(f"the next command exits with {ended.code}: {ended.err.strip()}")
    data = file.read_bytes()
    space = decode_space(data, "main")
    if encode_space(space) != data:
        report.problems.append("the space is not canonical")
    stored = {memory.id for memory in space.objects}
    noted: list[str] = []
    for log in sorted(run.notes.iterdir()):
        for line in log.read_text().splitlines():
            name, _, rest = line.partition(" ")
            if name == "!":
                report.refusals[rest] += 1
            else:
                noted.append(name)
    lost = [name for name in noted if name not in stored]
    report.problems += [f"lost: {name}" for name in lost]
    left = [n for n in run.scene.listing() if ".tmp-" in n or "/journal/" in n]
    report.problems += [f"left over: {name}" for name in left]
    report.acknowledged, report.kept = len(noted), len(noted) - len(lost)
    report.stored = len(space.objects) - 1
    report.collected = _sum(run.scene, "collected*")
    report.exports = _sum(run.scene, "exports*")


def _sum(scene: Scene, names: str) -> int:
    return sum(int(path.read_text()) for path in scene.base.glob(names))


def _environ(scene: Scene) -> dict[str, str]:
    return {name: value for name, value in scene.environ.items() if name != "MEMCLI_FREEZE_CLOCK"}


def _forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _wait(child: int, report: Report, what: str, killed: bool = False) -> None:
    with suppress(ChildProcessError):
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code and not (killed and code == -signal.SIGKILL):
            report.problems.append(f"{what} ended with {code}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--writers", type=int, default=16, help="processes that write through the library")
    parser.add_argument("--count", type=int, default=500, help="memories of each")
    parser.add_argument("--processes", type=int, default=0, help="loops that run a `memcli remember` each time")
    parser.add_argument("--collectors", type=int, default=2)
    parser.add_argument("--exporters", type=int, default=1)
    parser.add_argument("--kill-every", type=float, default=0, metavar="MS", help="kill a writer so often")
    parser.add_argument("--seconds", type=float, default=0, help="write for so long, instead of --count")
    parser.add_argument("--seed", type=int, default=1, help="decides whom to kill")
    parser.add_argument("--dir", help="where to work [a folder in memory]")
    given = parser.parse_args()
    if given.kill_every and not given.seconds:
        parser.error("--kill-every needs --seconds")
    warm_up()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="memcli-storm-", dir=given.dir or fast_folder()) as base:
        report = storm(
            Scene(Path(os.path.realpath(base))), writers=given.writers, count=given.count, collectors=given.collectors,
            exporters=given.exporters, kill_every=given.kill_every / 1000, seconds=given.seconds,
            processes=given.processes, seed=given.seed,
        )  # fmt: skip
    print(report.text())
    return int(bool(report.problems))


if __name__ == "__main__":
    sys.exit(main())
