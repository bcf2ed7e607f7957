"""One day of a coding agent in a project that memcli is connected to, and what of it reached the model.

    tests/clients/run                     # codex, gemini and opencode at the versions that are named here
    tests/clients/run --newest codex      # the newest one
    tests/clients/run copilot claude      # what is not free to be had is run where it is installed

Prints a line for each check, and exits with 1 when one failed that the program could have passed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.model import Model, Step
from tests.clients.programs import PROGRAMS, Program

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memcli-clients"
_RUN_SECONDS = 240
_TRIES = 16
MEMORIES = (
    ("We store orders in PostgreSQL 16, because SQLite locked under load.", "--kind", "decision", "--path", "db/engine"),
    ("To release, run make ship and then tag the commit.", "--kind", "procedure", "--path", "ops/release"),
    ("Never call time.sleep in a handler.", "--kind", "negative", "--trigger", r"time\.sleep", "--enforce"),
    ("Never push with force: it took away a day of work.", "--kind", "negative", "--trigger", "git push --force"),
    ("Amounts are integers in cents.", "--kind", "constraint", "--anchor", "src/payments.py"),
    ("The project is called Harbor.", "--kind", "fact", "--pin"),
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """What was looked for, whether it was there, and what stands in its place."""

    name: str
    is_met: bool
    seen: str = ""


class Day:
    """A project with a store, a program with a home of its own, and a model on loopback."""

    def __init__(self, program: Program, binaries: Path, base: Path) -> None:
        self.program, self.base = program, base
        self.project = base / "harbor"
        self.home = base / "home"
        self.model = Model()
        self.seconds: list[float] = []
        self.project.mkdir()
        self.home.mkdir()
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MEMCLI_", "XDG_"))
        }
        path = os.pathsep.join((str(binaries), str(Path(sys.executable).parent), environ.get("PATH", "")))
        nowhere = "http://127.0.0.1:9"  # what is not on loopback cannot be reached
        self.environ = {
            **environ, "HOME": str(self.home), "PWD": str(self.project), "PATH": path, "NO_PROXY": "127.0.0.1,localhost", "CI": "",
            "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "no_proxy": "127.0.0.1,localhost", "NO_COLOR": "1",
            **program.prepare(self.home, self.project, self.model.url),
        }  # fmt: skip
        self._fill()

    def _fill(self) -> None:
        source = self.project / "src/payments.py"
        source.parent.mkdir()
        source.write_text("import time\n\n\ndef charge(order):\n    return gateway.post(order)\n")
        for line in (
            ("git", "init", "-q"), ("git", "config", "user.name", "Ada"), ("git", "config", "user.email", "ada@example.org"),
            ("git", "add", "."), ("git", "commit", "-qm", "Charge orders"), ("memcli", "init"),
            *(("memcli", "remember", *memory) for memory in MEMORIES),
            ("memcli", "recall", "which database?"), ("memcli", "agent", "install", self.program.name),
            *((word.format(url=self.model.url) for word in line) for line in self.program.setup),
        ):  # fmt: skip
            self.tool(*line)

    def tool(self, *line: str) -> str:
        """What a command prints in the project."""
        done = subprocess.run(line, cwd=self.project, env=self.environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(line)}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, prompt: str, *plan: Step) -> list[str]:
        """Runs the program with a prompt; the texts of the requests that reached the model."""
        self.model.plan, self.model.requests = plan, []
        begun = time.monotonic()
        done = subprocess.run(
            [*self.program.line, prompt],
            cwd=self.project, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=_RUN_SECONDS,
        )  # fmt: skip
        self.seconds.append(time.monotonic() - begun)
        (self.base / f"run{len(self.seconds)}.txt").write_text(done.stdout + done.stderr)
        (self.base / f"run{len(self.seconds)}.json").write_text(json.dumps(self.model.requests))
        if not self.model.requests:
            raise RuntimeError(f"{self.program.name} asked the model nothing: {(done.stdout + done.stderr)[-800:]}")
        return self.model.requests

    def checks(self) -> Iterator[Check]:
        """Lives the day."""
        recall = self.program.recall_step("how do we release?")
        first, *after = self.ask("Which database do we use?", recall, recall, Step("PostgreSQL, as decided."))
        yield Check("start", "Harbor" in first)
        yield Check("prompt", "SQLite locked under load" in first)
        yield Check("first recall", len(after) > 0 and "make ship" in after[0], _last(after[:1]))
        has_second = len(after) > 1 and after[1].count("make ship") > after[0].count("make ship")
        yield Check("second recall", has_second, _last(after[1:2]))

        source = self.project / "src/payments.py"
        edits, push = self.program.edit_steps(source), self.program.shell_step("git push --force")
        look = self.program.shell_step("git log --oneline")
        first, *after = self.ask("Thanks, go on.", *edits, look, push, Step("All is done now."))
        yield Check("silent prompt", "SQLite locked" not in first and "make ship" not in first)
        found = after[: len(edits)][-1] if after else ""
        yield Check("edit: trigger", "Never call time.sleep" in found, _last(after[: len(edits)]))
        yield Check("edit: constraint", "integers in cents" in found)
        yield Check("shell: reading", len(after) > len(edits) and "Never push with force" not in after[len(edits)])
        yield Check("shell: trigger", "Never push with force" in "".join(after[len(edits) + 1 :]), _last(after))

        listed = self._sessions()
        yield Check("stored", len(listed) == 2, str(len(listed)))
        shown = [self.tool("memcli", "session", "show", one["id"]) for one in listed]
        whole = "\n".join(shown)
        yield Check("stored: prompts", "Which database do we use?" in whole and "Thanks, go on." in whole, whole[-300:])
        yield Check("stored: answers", "PostgreSQL, as decided." in whole and "All is done now." in whole)
        yield Check("ended", bool(listed) and all(one["state"] == "ended" for one in listed), str(listed)[:300])
        self.tool("memcli", "agent", "uninstall", self.program.name)
        left = self.tool("git", "status", "--short", "--untracked-files=all").splitlines()
        own = [line for line in left if ".memory/" not in line and "payments" not in line]
        yield Check("uninstalled", not own, str(left))

    def _sessions(self) -> list[dict[str, Any]]:
        """The conversations in the store; what ends a session goes on for a moment behind the program."""
        for _ in range(_TRIES):
            listed: list[dict[str, Any]] = json.loads(self.tool("memcli", "session", "list", "--json"))
            if len(listed) == 2 and all(one["state"] == "ended" for one in listed):
                break
            time.sleep(0.5)
        return listed

    def close(self) -> None:
        """Ends the model, and what the program left running."""
        self.model.close()
        mark = f"HOME={self.home}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)


def _last(requests: Sequence[str]) -> str:
    return requests[-1][-300:] if requests else "no such request"


def installed(program: Program, *, newest: bool) -> Path | None:
    """The folder with the program's command: of the cache, where it may be had, else of this machine; None without one."""
    if not program.is_free:
        found = shutil.which(program.line[0])
        return Path(found).parent if found else None
    folder = CACHE / program.name / ("newest" if newest else program.version)
    if newest or not (folder / "node_modules/.bin" / program.line[0]).exists():
        package = f"{program.package}@{'latest' if newest else program.version}"
        line = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package)
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(line, check=True)
    return folder / "node_modules/.bin"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help="[all that are free to be had]")
    parser.add_argument("--newest", action="store_true", help="the newest versions instead of those named here")
    parser.add_argument("--keep", action="store_true", help="leave the folder of each day, and say where it is")
    given = parser.parse_args()
    failed = 0
    for program in PROGRAMS:
        if program.name not in (given.names or [p.name for p in PROGRAMS if p.is_free]):
            continue
        binaries = installed(program, newest=given.newest)
        if binaries is None:
            print(f"{program.name}: not installed on this machine")
            continue
        base = Path(tempfile.mkdtemp(prefix=f"memcli-{program.name}-"))
        day = Day(program, binaries, base)
        version = day.tool(program.line[0], "--version").strip().split("\n")[-1]
        print(f"{program.name} {version}")
        for check in day.checks():
            reason = program.loses.get(check.name, "")
            failed += not check.is_met and not reason
            state = "yes" if check.is_met else f"cannot: {reason}" if reason else f"NO   {check.seen!r}"
            print(f"  {check.name:<18} {state}", flush=True)
        print(f"  {'seconds':<18} {' '.join(f'{s:.1f}' for s in day.seconds)}")
        day.close()
        if given.keep:
            print(f"  {base}")
        else:
            shutil.rmtree(base, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
