"""Commands in a large store that should read what they need and no more: their time and their memory."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import statistics
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

from objects import questions
from processes import PASS, Case, constant, memcli, peak, run, seconds, spent, surroundings
from report import Row, elapsed, ms, over
from stores import size_name, space_file, store

_WORDS_ONLY = {"MEMCLI_EMBEDDER": "off"}
_MOST = {"remember": "100 MB", "check store": "400 MB"}
"""The memory that a command may hold."""
_READ = "20 ×"


def timed(work: str, size: int, runs: int) -> Iterator[Row]:
    """Whole processes over the start of the interpreter, and the most memory that they hold."""
    root = store(work, size)
    commands = _commands(root, size)
    asked, again = questions(2 * runs + 2)[: runs + 1], questions(2 * runs + 2)[runs + 1 :]
    remember = _remember(root)

    def write(n: int) -> None:
        run([*remember(runs + 1 + n), "--quiet"], **_WORDS_ONLY)

    cases = [
        Case("pass", constant(*PASS), {}),
        *(Case(name, constant(*args), _WORDS_ONLY) for name, args in commands.items()),
        Case("remember", remember, _WORDS_ONLY),
        Case("recall", _recall(root, asked), _WORDS_ONLY, lambda _: _index(root)),
        Case("recall after", _recall(root, again), _WORDS_ONLY, write),  # last: it leaves the index up to date
    ]
    took = seconds(cases, runs)
    for name in commands:
        target = "" if name == "check store" else _READ
        yield Row(f"`{name}`, {size_name(size)}, over `python -c pass`", *over(took[name], took["pass"], target))
    copied = statistics.median(elapsed(lambda: _copy(root, work)) for _ in range(runs))
    allowed = 2 * copied + 10 * took["pass"]
    name = f"`remember`, {size_name(size)}, over twice a copy with fsync and 10 × `python -c pass`"
    figure, target, detail = over(took["remember"], allowed, "1 ×")
    yield Row(name, figure, target, f"{detail}; a copy {ms(copied)}")
    name = f"`recall` after a write, {size_name(size)}, over the one before it"
    yield Row(name, *over(took["recall after"], took["recall"], "1.3 ×"))


def held(work: str, size: int) -> Iterator[Row]:
    """The most memory that each of the commands holds."""
    root = store(work, size)
    commands = {
        **_commands(root, size),
        "remember": _remember(root)(-1),
        "recall after a write": _recall(root, questions(1))(0),
    }
    yield Row("`python -c pass`: the least memory that this measure tells", _megabytes(PASS))
    for name, args in commands.items():
        yield Row(f"`{name}`, {size_name(size)}, peak memory", _megabytes(args), _MOST.get(name, ""))


def browsed(work: str, size: int, runs: int) -> Iterator[Row]:
    """`browse`: the start of its output, and the most memory that it holds, on a terminal, in a pipe and on a page."""
    root = store(work, size)
    args = (memcli(), "browse", "--root", root)
    _index(root)
    ways = {
        "on a terminal": ("1 s, 150 MB", partial(_on_terminal, args)),
        "in a pipe": ("1 s", partial(_in_pipe, args)),
        "--web, its first page": ("1 s", partial(_on_page, (*args, "--web", "--port", "0"))),
    }
    for way, (target, start) in ways.items():
        took, most = (statistics.median(found) for found in zip(*(start() for _ in range(runs)), strict=True))
        yield Row(f"`browse` {way}, {size_name(size)}", f"{took:.2f} s, {most / 1e6:.0f} MB", target)


def _on_terminal(args: Sequence[str]) -> tuple[float, int]:
    """The seconds until a command draws, and the most bytes that it holds until its screen is quiet; then it is quit."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = surroundings(TERM="xterm-256color", **_WORDS_ONLY)
    started = time.perf_counter()
    process = subprocess.Popen(args, env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True)
    os.close(end)
    os.read(terminal, 1)
    took = time.perf_counter() - started
    with suppress(OSError):  # the process has ended
        while True:
            if not select.select([terminal], [], [], 1)[0]:
                os.write(terminal, b"q")
            os.read(terminal, 1 << 16)
    os.close(terminal)
    return took, _held(process)


def _in_pipe(args: Sequence[str]) -> tuple[float, int]:
    started = time.perf_counter()
    process = subprocess.Popen(args, env=surroundings(**_WORDS_ONLY), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    took = time.perf_counter() - started
    process.stdout.read()
    return took, _held(process)


def _on_page(args: Sequence[str]) -> tuple[float, int]:
    started = time.perf_counter()
    process = subprocess.Popen(args, env=surroundings(**_WORDS_ONLY), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    address = process.stderr.readline().split()[2]
    with build_opener(HTTPCookieProcessor()).open(address) as page:
        page.read()
    took = time.perf_counter() - started
    process.terminate()
    return took, _held(process)


def _held(process: subprocess.Popen[Any]) -> int:
    """The most bytes that a process held, at its end."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return usage.ru_maxrss * 1024


def _commands(root: str, size: int) -> dict[str, Sequence[str]]:
    """Commands that only read, by name."""
    at = ("--root", root)
    # A memcli that cannot stop at a depth is measured with the whole tree.
    depth = ("--depth", "2")
    return {
        "get": (memcli(), "get", f"obj:{size // 2}", *at),
        " ".join(("list --tree", *depth)): (memcli(), "list", "--tree", *depth, *at),
        "list --limit 50": (memcli(), "list", "--limit", "50", *at),
        "check store": (memcli(), "check", "store", *at),
    }


def _recall(root: str, asked: Sequence[str]) -> Callable[[int], Sequence[str]]:
    return lambda n: (memcli(), "recall", asked[n], "--json", "--no-global", "--root", root)


def _remember(root: str) -> Callable[[int], Sequence[str]]:
    """A command that gives the same memory a new text each time, so that the store does not grow from run to run."""
    text = f"The store stays fast when it is large, as process {os.getpid()} found in run"
    return lambda n: (memcli(), "remember", f"{text} {n}.", "--path", "bench/large", "--root", root)


def _index(root: str) -> None:
    run(_recall(root, ["anything"])(0), **_WORDS_ONLY)


def _copy(root: str, work: str) -> None:
    """Copies the file of the space, down to the disk."""
    path = os.path.join(work, "copy.json")
    shutil.copyfile(space_file(root), path)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    os.unlink(path)


def _megabytes(args: Sequence[str]) -> str:
    return f"{peak(args, **_WORDS_ONLY) / 1e6:.0f} MB"


_TOLD = "The key of the old gateway was quorvexil7294zanthe, and nobody is to know it."
_WORD = "quorvexil7294zanthe"
_PATCH = 59_000_000


def costs(work: str, size: int) -> Iterator[Row]:  # noqa: PLR0915 - one command after the other
    """Seconds of a processor, and the most memory of a process, of commands that change, check or compare a large store.

    They work on a copy in a repository of its own, in this order: each finds what the one before it left.
    """
    root = os.path.join(work, f"{size}-repository")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(store(work, size), root)
    names = ("recall", "forget", "edit", "diff", "check code", "gc")
    command = {name: (memcli(), *name.split(), "--root", root) for name in names}

    def row(name: str, args: Sequence[str], *codes: int, target: str = "") -> Row:
        took, held = spent(args, *codes, cwd=root, **_WORDS_ONLY)
        return Row(f"`{name}`, {size_name(size)}", f"{took:.2f} s, {held / 1e6:.0f} MB", target)

    def git(*args: str) -> None:
        named = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0")
        subprocess.run(
            ("git", *named, *args), cwd=root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def change(*numbers: int) -> None:
        for n in numbers:
            run([*command["edit"], f"obj:{n}", "--text", f"The text of memory {n} is another one now."], **_WORDS_ONLY)

    def settle(text: str) -> None:
        """Writes the space and brings its index up to date, as they are after any other command."""
        run([memcli(), "remember", text, "--path", "bench/settled", "--no-check", "--root", root], **_WORDS_ONLY)
        run([*command["recall"], "anything", "--no-global"], **_WORDS_ONLY)

    git("init", "-q", "-b", "main")
    run([memcli(), "init", "--git", "--root", root])
    settle("One.")
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    git("checkout", "-q", "-b", "other")
    change(10, 50_000 * size // 100_000, size - 10)
    git("commit", "-q", "-a", "-m", "theirs")
    git("checkout", "-q", "main")
    change(20, 50_100 * size // 100_000, size - 20)
    git("commit", "-q", "-a", "-m", "ours")
    files = []
    for revision in ("main~1", "main", "other"):
        files.append(os.path.join(work, f"merge-{len(files)}.json"))
        with open(files[-1], "wb") as file:
            subprocess.run(("git", "show", f"{revision}:.memory/spaces/main.json"), cwd=root, check=True, stdout=file)
    yield row("merge-driver", (memcli(), "merge-driver", *files), target="600 MB")
    yield row(
        "git merge", ("git", "-c", "user.name=b", "-c", "user.email=b@example.org", "merge", "-q", "--no-edit", "other")
    )
    yield row("gc, nothing to do, after a merge", command["gc"])
    settle("Two.")
    yield row("gc, nothing to do", command["gc"], target="100 MB")
    yield row("check code", command["check code"], target="100 MB")
    change(30, 40, size - 30)
    yield row("diff", command["diff"])
    yield row("export, of more than it may hold", (memcli(), "export", "--root", root), 2)
    patch = os.path.join(work, "guard.diff")
    _write_patch(patch)
    yield row("guard --diff, of 59 MB", (memcli(), "guard", "--diff", patch, "--root", root), target="200 MB")
    run([memcli(), "remember", _TOLD, "--path", "bench/secret", "--no-check", "--root", root], **_WORDS_ONLY)
    run([*command["recall"], "anything", "--no-global"], **_WORDS_ONLY)
    yield row("forget", (*command["forget"], f"obj:{size // 3}"))
    yield row("forget --purge", (*command["forget"], f"obj:{size // 4}", "--purge", "--yes"), target="2 x forget")
    asked = questions(3)
    run([*command["recall"], asked[0], "--no-global"], **_WORDS_ONLY)
    yield row("recall, before", (*command["recall"], asked[1], "--no-global"))
    yield row(
        "forget --purge --now", (*command["forget"], "bench/secret", "--purge", "--now", "--yes"), target="2 x forget"
    )
    found = subprocess.run(("grep", "-rlaF", "-e", _WORD, "-e", _WORD[:12], root), stdout=subprocess.PIPE, check=False)
    left = found.stdout.decode().split()
    yield Row(
        "files with the purged word", str(len(left)), "0", ", ".join(os.path.relpath(name, root) for name in left)
    )
    yield row("recall, after", (*command["recall"], asked[2], "--no-global"), target="1.3 x before")
    yield row(
        "store maintain --dry-run", (memcli(), "store", "maintain", "--dry-run", "--root", root), target="20 s, 400 MB"
    )


def _write_patch(path: str) -> None:
    """A diff of one long file."""
    count = _PATCH // 60
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"diff --git a/big.txt b/big.txt\n--- a/big.txt\n+++ b/big.txt\n@@ -0,0 +1,{count} @@\n")
        file.writelines(f"+line {n:8d} of a file that somebody made with a program\n" for n in range(count))
