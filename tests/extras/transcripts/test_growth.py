"""Reading takes time in proportion to the text, whatever the text."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

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
from tests.extras.transcripts.conftest import read_bytes
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
