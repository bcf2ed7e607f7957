"""How long it takes to read large transcripts, and how much memory: `python bench/transcripts.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle

from processes import surroundings
from report import section, table

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.extras.transcripts import writers
from tests.extras.transcripts.writers import Turn

_READ = """
import sys
from collections import Counter
from memcli.extras.transcripts.formats import conversations
skipped = Counter()
read = 0
for transcript in conversations(sys.argv[1], skipped):
    read += sum(1 for _ in transcript.messages())
    skipped.update(transcript.skipped)
print(read, skipped.total())
"""
_LOADS = r"""
import json, sys
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line.strip(b"[], \n") or b"0")
"""
_TEXT = "The cart keeps the price in cents, because rounding in floats lost a cent for one order in a thousand. "
_CODE = "\n```python\ndef total(lines: list[Line]) -> int:\n    return sum(line.cents for line in lines)\n```"
_CHAT = 200
"""The turns of a conversation in an export."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how transcripts are read.")
    parser.add_argument("--megabytes", default=500, type=int, help="the size of a file [500]")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="memcli-transcripts-") as folder:
        for name in (*writers.LINES, *writers.EXPORTS):
            path = os.path.join(folder, name)
            _write(path, name, options.megabytes * 1_000_000)
            rows.append(_row(name, path))
            os.remove(path)
    section(
        "Transcripts",
        table(("", "MB", "messages", "counted", "CPU s", "over `json.loads` a line", "peak MB, at most 200"), rows),
    )


def _row(name: str, path: str) -> tuple[str, ...]:
    counts, took, peak = _measured(_READ, path)
    _, least, _ = _measured(_LOADS, path)
    return (
        name,
        f"{os.path.getsize(path) / 1e6:.0f}",
        *counts,
        f"{took:.0f}",
        f"{took / least:.1f}",
        f"{peak / 1e6:.0f}",
    )


def _measured(program: str, path: str) -> tuple[list[str], float, int]:
    """What a program prints, the seconds of the processor that it takes, and the most bytes of memory."""
    with subprocess.Popen((sys.executable, "-c", program, path), env=surroundings(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        printed = process.stdout.read().decode().split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{path}: failed with {process.returncode}")
    return printed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _write(path: str, name: str, size: int) -> None:
    """A file of about `size` bytes; that of an export has a conversation on each line."""
    with open(path, "wb") as file:
        if name in writers.LINES:
            write, noise = writers.LINES[name]
            for number, line in enumerate(write(_turns())):
                file.write(line)
                if number % 40 == 0:
                    file.writelines(noise(number))
                if file.tell() > size:
                    return
        number, turns = 0, _turns()
        file.write(b"[\n")
        while file.tell() < size:
            one = writers.EXPORTS[name]([next(turns) for _ in range(_CHAT)], f"g{number}")
            file.write((b",\n" if number else b"") + writers.line(one).rstrip())
            number += 1
        file.write(b"\n]\n")


def _turns() -> Iterator[Turn]:
    for number, role in enumerate(cycle(("user", "assistant", "tool", "tool", "assistant"))):
        if role == "tool":
            yield Turn(role, f"pytest tests/test_{number}.py", "1 failed" if number % 7 == 0 else "")
        else:
            yield Turn(role, f"{number}: {_TEXT * (1 + number % 5)}{_CODE if number % 3 == 0 else ''}")


if __name__ == "__main__":
    main()
