"""Commands in a large store that should read what they need and no more: their time and their memory."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence

from objects import questions
from processes import PASS, Case, constant, memcli, peak, run, seconds
from rows import Row, elapsed, ms, over
from stores import size_name, space_file, store

_WORDS_ONLY = {"MEMCLI_EMBEDDER": "off"}
_MOST = {"remember": "100 MB", "fsck": "400 MB"}
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
        target = "" if name == "fsck" else _READ
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


def _commands(root: str, size: int) -> dict[str, Sequence[str]]:
    """Commands that only read, by name."""
    at = ("--root", root)
    # A memcli that cannot stop at a depth is measured with the whole tree.
    depth = ("--depth", "2") if b"--depth" in run((memcli(), "tree", "--help")) else ()
    return {
        "get": (memcli(), "get", f"obj:{size // 2}", *at),
        " ".join(("tree", *depth)): (memcli(), "tree", *depth, *at),
        "list --limit 50": (memcli(), "list", "--limit", "50", *at),
        "fsck": (memcli(), "fsck", *at),
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
