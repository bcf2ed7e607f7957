"""What the start of a command costs, alone and with a helper: `python bench/start.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile

from objects import questions
from processes import PASS, helper, surroundings
from report import section, table
from stores import size_name, store, work_folder

_SIZE = 10_000
_MEMCLI = (sys.executable, "-m", "memcli")
_HOOK = (*_MEMCLI, "hook", "run")
_EMBED = "from memcli.embed.onnx import OnnxEmbedder; OnnxEmbedder().embed("
_ONNX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bare_onnx.py")
_DIFF = "diff --git a/queue.py b/queue.py\n--- a/queue.py\n+++ b/queue.py\n@@ -0,0 +1 @@\n"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures what the start of a command costs.")
    parser.add_argument("--runs", default=15, type=int, help="fresh processes for each median [15]")
    parser.add_argument("--size", default=_SIZE, type=int, help="memories in the store [10000]")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    options = parser.parse_args()
    with work_folder(options.work) as work:
        root = store(work, options.size)
        rows = _measured(root, options.runs)
        answered = _by_helper(root, options.runs, ANSWERED, MEMCLI_EMBEDDER="off")
        answered += _by_helper(store(work, options.size, has_vectors=True), options.runs, ANSWERED_BY_MEANING)
    size = size_name(options.size)
    section(f"Start, {size}", table(("", "modules", "others", "CPU", "over `python -c pass`"), rows))
    heads = ("", "wall of the client over `python -c pass`", "CPU of the helper over it", "helper MB")
    section(f"Answered by a helper, {size}", table(heads, answered))


def _commands(root: str, n: int) -> dict[str, tuple[Sequence[str], str]]:
    """The command lines of the nth run by name, each with its standard input."""
    asked = questions(n + 1)[n]
    session = {"session_id": f"start-{os.getpid()}-{n}", "cwd": root}
    edit = {"file_path": "src/queue.py", "old_string": "a", "new_string": asked}
    return {
        "`python -c pass`": (PASS, ""),
        "`--version`": ((*_MEMCLI, "--version"), ""),
        "`get`": ((*_MEMCLI, "get", "obj:77"), ""),
        "`list --limit 20`": ((*_MEMCLI, "list", "--limit", "20"), ""),
        "`recall` by words": ((*_MEMCLI, "recall", asked, "--no-global"), ""),
        "`remember`": ((*_MEMCLI, "remember", f"We settled on {asked} {n}.", "--path", "bench/start"), ""),
        "`guard --diff -`": ((*_MEMCLI, "guard", "--diff", "-"), f"{_DIFF}+{asked}\n"),
        "prompt hook by words": (
            (*_HOOK, "prompt", "--agent", "claude"),
            json.dumps({**session, "prompt": asked, "hook_event_name": "UserPromptSubmit"}),
        ),
        "edit hook": (
            (*_HOOK, "pre-edit", "--agent", "claude"),
            json.dumps({**session, "tool_name": "Edit", "tool_input": edit}),
        ),
        "tab key": ((*_MEMCLI, "__complete", "kinds"), ""),
        "one text embedded": ((sys.executable, "-c", f"{_EMBED}[{asked!r}])"), ""),
        "(import onnxruntime + session + one run)": ((sys.executable, _ONNX), ""),
    }


def _measured(root: str, runs: int) -> list[tuple[str, ...]]:
    """A row for each command: modules of memcli, other modules, the median of its CPU, and that over the interpreter's."""
    took: dict[str, list[float]] = {name: [] for name in _commands(root, 0)}
    for n in range(runs + 1):
        for name, (args, given) in _commands(root, n).items():
            spent = _cpu(args, given, root)
            if n:  # the first round warms up
                took[name].append(spent)
    median = {name: statistics.median(times) for name, times in took.items()}
    base = median["`python -c pass`"]
    rows: list[tuple[str, ...]] = []
    for name, (args, given) in _commands(root, runs + 1).items():
        own, others = ("", "") if args == PASS else map(str, _modules(args, given, root))
        rows.append((name, own, others, f"{1000 * median[name]:.0f} ms", f"{median[name] / base:.2f} ×"))
    return rows


ANSWERED = ("`get`", "`list --limit 20`", "`recall` by words", "`guard --diff -`", "prompt hook by words", "edit hook")
ANSWERED_BY_MEANING = ("`recall` by words", "prompt hook by words")
"""The commands that a helper answers; with a model the same questions are asked by meaning."""
_TICKS = os.sysconf("SC_CLK_TCK")


def _by_helper(root: str, runs: int, names: Sequence[str], **own: str) -> list[tuple[str, ...]]:
    """A row for each command: the wall of a client that a helper answers, and the helper's CPU, over the wall and the CPU of
    the interpreter's start."""
    rows: list[tuple[str, ...]] = []
    for args, given in map(_commands(root, 0).__getitem__, names):
        _cpu(args, given, root)  # the first one makes files in the store, which a helper leaves to its client
    with helper(root, **own) as (process, environ):
        for name in names:
            walls: list[float] = []
            bare: list[float] = []
            spent = 0.0
            for n in range(runs + 1):
                args, given = _commands(root, n)[name]
                before = _spent(process)
                took = _wall(args, given, root, environ)
                used, least = _spent(process) - before, _wall(PASS, "", root, environ)
                if n:  # the first round warms up
                    walls, bare, spent = [*walls, took], [*bare, least], spent + used
            base = statistics.median(bare)
            title = name if own else name.replace("by words", "by meaning")
            memory = f"{_resident(process):.0f}"
            rows.append((title, f"{statistics.median(walls) / base:.2f} ×", f"{spent / runs / base:.2f} ×", memory))
    return rows


def _wall(args: Sequence[str], given: str, cwd: str, environ: dict[str, str]) -> float:
    """The seconds that the command takes."""
    began = time.perf_counter()
    done = subprocess.run(args, env=environ, input=given.encode(), cwd=cwd, capture_output=True, check=False)
    took = time.perf_counter() - began
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(args)} failed with {done.returncode}: {done.stderr.decode()}")
    return took


def _spent(process: int) -> float:
    """The seconds of a processor that a process has used, user and system."""
    with open(f"/proc/{process}/stat", "rb") as file:
        user, system = file.read().rpartition(b")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS


def _resident(process: int) -> float:
    """The resident memory of a process in megabytes."""
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _cpu(args: Sequence[str], given: str, cwd: str) -> float:
    """Seconds of a processor, user and system, that the command takes."""
    with TemporaryFile() as stdin, open(os.devnull, "wb") as nowhere:
        stdin.write(given.encode())
        stdin.seek(0)
        environ = surroundings(MEMCLI_EMBEDDER="off")
        process = subprocess.Popen(args, env=environ, stdin=stdin, stdout=nowhere, stderr=nowhere, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(args)} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def _modules(args: Sequence[str], given: str, cwd: str) -> tuple[int, int]:
    """How many modules of memcli the command imports, and how many others that the interpreter has not imported anyway."""
    environ = {**surroundings(MEMCLI_EMBEDDER="off"), "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(args, env=environ, input=given.encode(), cwd=cwd, capture_output=True, check=False)
    bare = subprocess.run(PASS, env=environ, capture_output=True, check=True)
    found, known = (_imported(one.stderr.decode("utf-8", "replace")) for one in (done, bare))
    own = {name for name in found if name.partition(".")[0] == "memcli"}
    return len(own), len(found - known - own)


def _imported(listing: str) -> set[str]:
    lines = (line for line in listing.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
