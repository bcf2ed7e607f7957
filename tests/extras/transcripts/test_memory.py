"""How much memory it takes to read a file that is larger than what may be held."""

from __future__ import annotations

import subprocess
import sys
from itertools import count, islice
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.extras.transcripts import writers
from tests.extras.transcripts.writers import Turn

SIZE = 60_000_000
MOST = 100_000_000
READ = """
import sys
from memcli.extras.transcripts.formats import conversations
print(sum(1 for transcript in conversations(sys.argv[1]) for _ in transcript.messages()))
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("source", [*writers.LINES, *writers.EXPORTS, "opencode"])
def test_a_large_file_is_not_held_in_memory(tmp_path: Path, source: str) -> None:
    path = tmp_path / "large"
    expected = _write(path, source)
    done = subprocess.run(
        [sys.executable, "-P", "-c", READ, str(path)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    messages, peak = map(int, done.stdout.split())
    path.unlink()
    assert messages == expected
    assert peak < MOST


def _write(path: Path, source: str) -> int:
    """Writes a file of SIZE bytes; the number of its messages."""
    text = "The cart keeps the price in cents. " * 200
    talk = (Turn(("user", "assistant")[number % 2], f"{number} {text}") for number in count())
    if source == "opencode":
        messages = SIZE // len(text)
        writers.opencode(str(path), {"ses_1": islice(talk, messages)})
        return messages
    messages = 0
    with path.open("wb") as file:
        if source in writers.EXPORTS:
            file.write(b"[\n")
            while file.tell() < SIZE:
                one = writers.EXPORTS[source]([next(talk) for _ in range(100)], f"k{messages}")
                file.write((b",\n" if messages else b"") + writers.line(one))
                messages += 100
            file.write(b"]\n")
            return messages
        for turn in talk:
            for line in writers.LINES[source][0]([turn]):
                file.write(
                    line.replace(b"u0", b"u%d" % messages)
                    .replace(b"msg0", b"msg%d" % messages)
                    .replace(b": null", b': "u%d"' % (messages - 1))
                )
            messages += 1
            if file.tell() > SIZE:
                return messages
    raise AssertionError
