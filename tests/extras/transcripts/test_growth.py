"""Reading takes time in proportion to the text, and no more memory than a message needs, whatever the text."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path

import pytest

from memcli.extras.transcripts.content import (
    codex_request,
    described,
    is_command,
    is_own,
    says_failed,
    shortened,
    without_reminders,
)
from memcli.extras.transcripts.exports import read_cline
from memcli.extras.transcripts.files import elements
from tests.conftest import ROOT
from tests.extras.transcripts import writers
from tests.extras.transcripts.conftest import read_bytes
from tests.extras.transcripts.writers import Turn
from tests.growth import SHAPES, grows_too_fast

OWN_SHAPES: dict[str, Callable[[int], str]] = {
    "reminders": lambda size: "<system-reminder>" * (size // 17),
    "attributes": lambda size: "<hook_context a" * (size // 15),
    "inputs": lambda size: "<user_input>" + "</user_input> " * (size // 14) + "x",
    "elements": lambda size: "<a_b>" + "</a_b> " * (size // 7) + "x",
    "lists": lambda size: '[{"a":' * (size // 6),
    "objects": lambda size: '{"a":{}},' * (size // 9),
    "quoted": lambda size: '"\\' * (size // 2),
}
WORK: dict[str, Callable[[str], object]] = {
    "codex_request": codex_request,
    "is_command": is_command,
    "without_reminders": without_reminders,
    "read_cline": lambda text: [
        *read_cline({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}, Counter())
    ],
    "described": lambda text: is_own(described("Bash", text)),
    "shortened": lambda text: shortened(text, from_end=True),
    "says_failed": says_failed,
    "elements": lambda text: [*elements(io.BytesIO(b'[{"a":' + text.encode()), Counter())],
}


def test_no_text_takes_long() -> None:
    shapes = {**SHAPES, **OWN_SHAPES}
    slow = [(name, shape) for name, work in WORK.items() for shape in shapes if grows_too_fast(work, shapes[shape])]
    assert slow == []


def test_names_and_keys_are_short(tmp_path: Path) -> None:
    row = {"role": "user", "content": "a", "name": "n\n" * 9_000, "id": "i" * 9_000, "session_id": "s\n" * 9_000}
    found = read_bytes(tmp_path, json.dumps(row).encode())
    ((message,),) = found.messages
    for text in (message.speaker, message.key, found.transcripts[0].key):
        assert 0 < len(text) <= 200
        assert text.isprintable()


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
    command = [sys.executable, "-P", "-c", READ, str(path)]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
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
