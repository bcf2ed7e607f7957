"""Where a simulation runs: git and memcli as processes of their own, and the lines so far, ready for a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import join, quote

from tests.faults.inject import Fault, Watched
from tests.faults.scene import Ended, drop_rights, environment, run_forked

_SHOWN = ("HOME", "MEMCLI_FREEZE_CLOCK")
_MOVES = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "MEMCLI_FREEZE_CLOCK")


class Bench:
    """The folder `base` with all clones in it; `log` has what was run."""

    def __init__(self, base: Path) -> None:
        self.base = Path(os.path.realpath(base))
        self.log: list[str] = []
        self.now = ""

    def environ(self, home: Path) -> Mapping[str, str]:
        """What a process of the user with this home sees."""
        home.mkdir(exist_ok=True)
        return {
            **environment(home),
            **dict.fromkeys(_MOVES, self.now),
            "MEMCLI_BACKGROUND": "off",
            "MEMCLI_HOOK_FOREGROUND": "1",
            "GIT_EDITOR": "true",
        }

    def git(self, folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs `git ARGUMENTS` in a folder, and notes the line."""
        self._note(folder, home, ["git", *arguments])
        return self.ask_git(folder, home, *arguments)

    def ask_git(self, folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs `git ARGUMENTS` in a folder without a note."""
        return subprocess.run(
            ["git", *arguments],
            cwd=folder, env=self.environ(home), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def memcli(self, folder: Path, home: Path, arguments: Sequence[str], fault: Fault | None = None) -> Ended:
        """Runs `memcli ARGUMENTS` in a folder, killed by the fault if there is one, and notes the line."""
        self._note(folder, home, ["memcli", *arguments], f"  # killed at call {fault.at}" if fault else "")
        return self.ask(folder, home, arguments, fault)

    def ask(self, folder: Path, home: Path, arguments: Sequence[str], fault: Fault | None = None) -> Ended:
        """Runs `memcli ARGUMENTS` in a folder without a note. Permissions bind it even where root runs the tests."""

        def before() -> None:
            drop_rights()
            if fault is not None:
                Watched(str(self.base), fault).install()

        return run_forked(folder, self.environ(home), arguments, before=before)

    def beside(self, folder: Path, home: Path, arguments: Sequence[str], act: Callable[[], object]) -> Ended:
        """Runs `memcli ARGUMENTS` in a folder, and `act` at the same time."""
        self._note(folder, home, ["memcli", *arguments], " &")
        line = [sys.executable, "-P", "-m", "memcli", *arguments]
        with subprocess.Popen(
            line, cwd=folder, env=self.environ(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        ) as process:  # fmt: skip
            act()
            out, err = process.communicate()
        self.log.append("wait")
        return Ended(process.returncode, out, err)

    def note(self, line: str) -> None:
        """Notes what was done by other means, as a shell would do it."""
        self.log.append(line.replace(str(self.base), "$BASE"))

    def _note(self, folder: Path, home: Path, words: Sequence[str], more: str = "") -> None:
        environ = self.environ(home)
        told = " ".join(f"{name}={quote(environ[name])}" for name in _SHOWN)
        self.note(f"(cd {quote(str(folder))} && {told} {join(words)}){more}")
