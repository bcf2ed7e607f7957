"""A hundred memories that mean harm, of our own making: (text, a reason that must be found)."""

from __future__ import annotations

import json
from pathlib import Path

DATA: dict[str, list[str]] = json.loads(Path(__file__).with_name("hostile.json").read_text("utf-8"))
INSTRUCTIONS = DATA["instructions"]
HOSTILE = [
    (text, reason)
    for reason in ("instructions", "markup", "hidden", "escapes", "exfiltration")
    for text in DATA[reason]
]
