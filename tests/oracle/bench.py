"""A work tree to run commands in: in this process, or in a fork that is killed at one of its calls."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import join

from tests.faults.inject import Fault, Watched
from tests.faults.scene import Ended, Scene, environment

KILLED = -9


class Bench:
    """A work tree at `base`/work, and in `log` the command lines so far, ready for a shell."""

    def __init__(self, base: Path) -> None:
        self.scene = Scene(Path(os.path.realpath(base)))
        self.scene.work.mkdir()
        (self.scene.work / ".git").mkdir()
        self.work = self.scene.work
        self.log: list[str] = []

    @contextmanager
    def entered(self) -> Iterator[Bench]:
        """Within, the work tree is the current folder and the environment is that of `faults/scene.py`."""
        before, folder = dict(os.environ), os.getcwd()
        os.environ.clear()
        os.environ.update(environment(self.scene.base / "home"))
        os.chdir(self.work)
        try:
            yield self
        finally:
            os.environ.clear()
            os.environ.update(before)
            os.chdir(folder)

    def run(self, now: str, arguments: Sequence[str], stdin: str = "") -> Ended:
        """Runs `memcli ARGUMENTS` at the time `now`, and notes the line."""
        self._note(now, arguments, stdin)
        return self.ask(now, arguments, stdin)

    def ask(self, now: str, arguments: Sequence[str], stdin: str = "") -> Ended:
        """Runs `memcli ARGUMENTS` without a note."""
        from memcli.cli.main import main

        os.environ["MEMCLI_FREEZE_CLOCK"] = now
        code = 0
        with _captured(stdin) as told:
            try:
                code = main(arguments)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        return Ended(code, *told)

    def kill(self, now: str, arguments: Sequence[str], fault: Fault, stdin: str = "") -> Ended:
        """Runs `memcli ARGUMENTS` in a fork that `fault` strikes, if it comes so far."""
        self._note(now, arguments, stdin, f"  # {fault.kind} at call {fault.at}")
        self.scene.environ["MEMCLI_FREEZE_CLOCK"] = now
        return self.scene.run(arguments, stdin, Watched(str(self.work), fault).install)

    def copy(self, source: str, target: str) -> None:
        """Copies a file of the work tree, and notes it."""
        self.log.append(join(["mkdir", "-p", os.path.dirname(target)]) + " && " + join(["cp", source, target]))
        (self.work / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.work / source, self.work / target)

    def write(self, name: str, text: str) -> None:
        """Writes a file of the work tree, and notes it."""
        self.log.append(join(["mkdir", "-p", os.path.dirname(name)]) + " && printf %s " + join([text]) + " > " + name)
        (self.work / name).parent.mkdir(parents=True, exist_ok=True)
        (self.work / name).write_text(text)

    def remove(self, name: str) -> None:
        """Removes a file or a folder of the work tree, and notes it."""
        self.log.append(join(["rm", "-rf", name]))
        path = self.work / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def move(self, source: str, target: str) -> None:
        """Moves a file of the work tree, and notes it."""
        self.log.append(join(["mkdir", "-p", os.path.dirname(target)]) + " && " + join(["mv", source, target]))
        (self.work / target).parent.mkdir(parents=True, exist_ok=True)
        (self.work / source).rename(self.work / target)

    def _note(self, now: str, arguments: Sequence[str], stdin: str, more: str = "") -> None:
        piped = f"printf %s {join([stdin])} | " if stdin else ""
        self.log.append(f"{piped}MEMCLI_FREEZE_CLOCK={now} memcli {join(arguments)}{more}")


@contextmanager
def _captured(stdin: str) -> Iterator[list[str]]:
    """Within, what goes to the two streams is kept; after it, they are in the list that this gives."""
    told: list[str] = []
    streams = sys.stdin, sys.stdout, sys.stderr
    for stream in streams[1:]:
        stream.flush()
    kept = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        try:
            yield told
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdin, sys.stdout, sys.stderr = streams
            for number, fd in enumerate(kept, start=1):
                os.dup2(fd, number)
                os.close(fd)
            for file in (out, err):
                file.seek(0)
                told.append(file.read().decode(errors="replace"))
