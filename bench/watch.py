"""How well `memcli watch` keeps up: `python bench/watch.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 - edits at random are what is measured, and a seed makes them again
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from markdown import section, table

_QUIET_SECONDS = 5.0
_PATIENCE_SECONDS = 180.0
_ENVIRON = {**os.environ, "PYTHONUNBUFFERED": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
_WORDS = ("retry", "token", "deploy", "cache", "index", "queue", "lock", "schema", "limit", "worker")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how well the watch keeps up.")
    parser.add_argument("--bursts", default=10, type=int, help="bursts of files [10]")
    parser.add_argument("--files", default=10_000, type=int, help="files in a burst [10000]")
    parser.add_argument("--saves", default=20, type=int, help="single saves to take the median of [20]")
    parser.add_argument("--idle", default=20.0, type=float, help="seconds to measure the idle watch for [20]")
    parser.add_argument("--minutes", default=5.0, type=float, help="minutes of random edits with kills [5]")
    parser.add_argument("--kill-every", default=5.0, type=float, help="seconds between kills, on average [5]")
    parser.add_argument("--seed", default=1, type=int, help="of the random edits [1]")
    options = parser.parse_args()
    rows = []
    if options.bursts:
        rows.append(bursts(options.bursts, options.files))
    if options.saves:
        rows.append(saves(options.saves))
    if options.idle:
        rows.append(idle(options.idle))
    if options.minutes:
        rows.append(edits(options.minutes * 60, options.kill_every, options.seed))
    section("Watch", table(["", "figure", "target", "detail"], rows))


def bursts(count: int, files: int) -> tuple[str, ...]:
    """Files written at once, over and over: how often the store is as a full scan would make it."""
    equal, seconds = 0, []
    for _ in range(count):
        with work_tree() as tree, watching(tree):
            folders = [os.path.join(tree, f"d{number}", f"e{number % 11}") for number in range(37)]
            began = time.monotonic()
            for folder in folders:
                os.makedirs(folder)
            for number in range(files):
                place = os.path.join(folders[number % 37], f"f{number}.md")
                write(place, f"# Note {number}\n\nService {number} retries.\n")
            written = time.monotonic()
            seconds.append(settle(tree) - written)
            equal += not differences(tree)
            note(f"burst: written in {written - began:.1f} s, stored {seconds[-1]:.1f} s later")
    slowest = f"stored after {statistics.median(seconds):.1f} s, at most {max(seconds):.1f} s"
    return f"{files} files at once, as a full scan", f"{equal} of {count}", f"{count} of {count}", slowest


def saves(count: int) -> tuple[str, ...]:
    """Milliseconds from one save until the store has it, in a store of a thousand memories."""
    took = []
    with work_tree() as tree:
        for number in range(1_000):
            write(os.path.join(tree, f"{number}.md"), f"# Note {number}\n\nService {number} retries.\n")
        memcli(tree, "ingest", ".")
        with watching(tree):
            settle(tree)
            space = space_file(tree)
            for number in range(count):
                marker = f"marker {number} {time.monotonic_ns()}"
                before = os.stat(space).st_mtime_ns
                began = time.monotonic()
                write(os.path.join(tree, f"{number}.md"), marker)
                until(lambda before=before: os.stat(space).st_mtime_ns != before, pause=0.002)
                took.append((time.monotonic() - began) * 1000)
                with open(space, encoding="utf-8") as file:
                    assert marker in file.read()
                time.sleep(1.3 + number % 7 / 10)
    name = f"one save among 1,000 memories, median of {count}"
    return name, f"{statistics.median(took):.0f} ms", "150 ms", f"{min(took):.0f} to {max(took):.0f} ms"


def idle(seconds: float) -> tuple[str, ...]:
    """The share of one core that a watch takes when nothing happens."""
    with work_tree() as tree:
        for number in range(1_000):
            write(os.path.join(tree, f"{number}.md"), f"# Note {number}\n\nService {number} retries.\n")
        with watching(tree) as process:
            settle(tree)
            before = cpu_seconds(process().pid)
            time.sleep(seconds)
            share = (cpu_seconds(process().pid) - before) / seconds
    return "CPU when idle", f"{share:.2%}", "0.50%", f"over {seconds:.0f} s"


def edits(seconds: float, kill_every: float, seed: int) -> tuple[str, ...]:
    """Random edits for so long, with kills of the watch, after which the store is as a full scan would make it."""
    dice = random.Random(seed)  # noqa: S311
    kills, done = 0, 0
    with work_tree() as tree, watching(tree) as process:
        write(os.path.join(tree, "seed.md"), "# Seed\n\nText.\n")
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "seed")
        ends = time.monotonic() + seconds
        kill_at = time.monotonic() + dice.uniform(0.2, 2) * kill_every
        while time.monotonic() < ends:
            with suppress(OSError, subprocess.CalledProcessError):
                dice.choice(_EDITS)(tree, dice)
            done += 1
            time.sleep(dice.choice([0, 0, 0, 0.01, 0.05, 0.3]))
            if time.monotonic() >= kill_at:
                process(restart=True)
                kills += 1
                kill_at = time.monotonic() + dice.uniform(0.2, 2) * kill_every
        settle(tree)
        found = differences(tree)
    for line in found[:20]:
        note(line)
    told = f"{done} edits, {kills} kills, {len(found)} differences"
    return f"{seconds / 60:g} min of random edits with kills", "equal" if not found else "DIFFERENT", "equal", told


def _write(tree: str, dice: random.Random) -> None:
    write(_place(tree, dice), _text(dice))


def _write_several(tree: str, dice: random.Random) -> None:
    for _ in range(dice.randint(2, 200)):
        _write(tree, dice)


def _save_by_rename(tree: str, dice: random.Random) -> None:
    file = _place(tree, dice)
    write(f"{file}.tmp", _text(dice))
    os.replace(f"{file}.tmp", file)


def _save_by_backup(tree: str, dice: random.Random) -> None:
    file = _some(tree, dice)
    os.rename(file, f"{file}~")
    write(file, _text(dice))
    os.unlink(f"{file}~")


def _remove(tree: str, dice: random.Random) -> None:
    os.unlink(_some(tree, dice))


def _move(tree: str, dice: random.Random) -> None:
    os.rename(_some(tree, dice), _place(tree, dice))


def _move_folder(tree: str, dice: random.Random) -> None:
    os.rename(os.path.dirname(_some(tree, dice)), os.path.join(tree, f"m{dice.randrange(6)}", f"n{dice.randrange(99)}"))


def _remove_folder(tree: str, dice: random.Random) -> None:
    folder = os.path.dirname(_some(tree, dice))
    if folder != tree:
        shutil.rmtree(folder)


def _spoil(tree: str, dice: random.Random) -> None:
    with open(_some(tree, dice), "wb") as file:
        file.write(dice.choice([b"", b"\0\1\2", b"\xff\xfe", b" \n", b"x" * (1 << 21)]))


def _odd(tree: str, dice: random.Random) -> None:
    place = os.path.join(tree, f"odd{dice.randrange(9)}")
    with suppress(OSError):
        os.unlink(place)
    dice.choice([os.mkfifo, lambda at: os.symlink("seed.md", at), lambda at: os.symlink(".", at)])(place)
    write(os.fsdecode(os.fsencode(tree) + b"/caf\xe9%d.md" % dice.randrange(3)), _text(dice))


def _rules(tree: str, dice: random.Random) -> None:
    rules = dice.choice(["", "*3.md\n", "s1/\n", "*\n!*.md\n!*/\n"])
    write(os.path.join(tree, dice.choice(["", "s2/"]) + ".gitignore"), rules)


def _commit(tree: str, dice: random.Random) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", f"Change {dice.randrange(10**6)}")


def _checkout(tree: str, dice: random.Random) -> None:
    _commit(tree, dice)
    git(tree, "checkout", "-q", "-f", dice.choice(["HEAD~1", "HEAD~3", "HEAD~9", "main"]))


def _stash(tree: str, dice: random.Random) -> None:
    git(tree, "stash", "-q", "-u")
    time.sleep(dice.choice([0, 0.5]))
    git(tree, "stash", "pop", "-q")


_EDITS: list[Callable[[str, random.Random], None]] = [
    *[_write] * 6, _write_several, *[_save_by_rename] * 4, *[_save_by_backup] * 3, *[_remove] * 4, *[_move] * 4,
    _move_folder, _remove_folder, _spoil, _spoil, _odd, _rules, _commit, _checkout, _stash,
]  # fmt: skip


def _place(tree: str, dice: random.Random) -> str:
    folder = os.path.join(tree, *(f"s{dice.randrange(4)}" for _ in range(dice.randrange(4))))
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"f{dice.randrange(30)}{dice.choice(['.md', '.md', '.py', '.txt'])}")


def _some(tree: str, dice: random.Random) -> str:
    """A file that is there. Raises FileNotFoundError when there is none."""
    found = []
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name not in (".git", ".memory"))
        found += [os.path.join(folder, name) for name in sorted(files) if name.startswith("f")]
    if not found:
        raise FileNotFoundError(tree)
    return dice.choice(found)


def _text(dice: random.Random) -> str:
    return f"# {dice.choice(_WORDS)}\n\nWe {' '.join(dice.choices(_WORDS, k=dice.randint(1, 60)))} now.\n"


@contextmanager
def work_tree() -> Iterator[str]:
    """A repository with a store that git does not see, and nothing else in it."""
    with tempfile.TemporaryDirectory(prefix="memcli-watch-", ignore_cleanup_errors=True) as folder:
        tree = os.path.join(os.path.realpath(folder), "tree")
        os.mkdir(tree)
        git(tree, "init", "-q", "-b", "main")
        write(os.path.join(tree, ".git", "info", "exclude"), ".memory/\n")
        memcli(tree, "init")
        memcli(tree, "watch", "--once")
        yield tree


@contextmanager
def watching(tree: str) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Runs a watch; gives a function that returns it, or with `restart` kills it first and starts another."""
    log = open(os.path.join(os.path.dirname(tree), "watch.out"), "ab")  # noqa: SIM115 - closed below

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "memcli", "watch"], cwd=tree, env=_ENVIRON, stdout=log, stderr=log
        )

    current = start()

    def process(restart: bool = False) -> subprocess.Popen[bytes]:
        nonlocal current
        if restart:
            current.kill()
            current.wait()
            current = start()
        return current

    try:
        started = os.path.join(tree, ".memory", "local", "watch.lock")
        until(lambda: os.path.exists(started) and os.path.getsize(started) > 0)
        time.sleep(1.5)
        yield process
        assert current.poll() is None, "the watch has ended"
    finally:
        current.send_signal(signal.SIGTERM)
        began = time.monotonic()
        current.wait(60)
        if (took := time.monotonic() - began) > 1:
            note(f"the watch took {took:.1f} s to end")
        log.close()


def settle(tree: str) -> float:
    """Waits until the space has not changed for five seconds; when it changed last, on the monotonic clock."""
    last, since = None, time.monotonic()
    while time.monotonic() - since < _QUIET_SECONDS:
        try:
            facts = os.stat(space_file(tree))
            now = (facts.st_mtime_ns, facts.st_ino)
        except OSError:
            now = None
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.05)
    return since


def differences(tree: str) -> list[str]:
    """How the active memories of files differ from those of a fresh ingest into an empty store."""
    with tempfile.TemporaryDirectory(prefix="memcli-fresh-") as folder:
        memcli(tree, "init", "--root", folder)
        memcli(tree, "ingest", ".", "--root", folder)
        fresh, kept = memories(os.path.join(folder, ".memory")), memories(os.path.join(tree, ".memory"))
    return [f"missing or other: {path}" for path, text in fresh.items() if kept.get(path) != text] + [
        f"not in the tree: {path}" for path in kept if path not in fresh
    ]


def memories(store: str) -> dict[str, object]:
    """The texts of the active memories of files, and the hashes of their anchors, by path."""
    try:
        with open(os.path.join(store, "spaces", "main.json"), encoding="utf-8") as file:
            objects = json.load(file)["objects"]
    except FileNotFoundError:
        return {}
    return {
        m["path"]: (m["raw"], [(anchor["file"], anchor["hash"]) for anchor in m.get("anchors", [])])
        for m in objects
        if m.get("active", True) and m["kind"] != "diff" and "commit" not in m.get("provenance", {})
    }


def space_file(tree: str) -> str:
    return os.path.join(tree, ".memory", "spaces", "main.json")


def memcli(tree: str, *arguments: str) -> None:
    """Runs a command to its end."""
    subprocess.run(
        [sys.executable, "-m", "memcli", *arguments], cwd=tree, env=_ENVIRON, check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def git(tree: str, *arguments: str) -> None:
    subprocess.run(["git", *_WHO, *arguments], cwd=tree, env=_ENVIRON, check=True, capture_output=True)


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def cpu_seconds(pid: int) -> float:
    """What a process has taken of the processor so far."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        values = file.read().rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def until(condition: Callable[[], bool], pause: float = 0.05) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(pause)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
